//! Files that appear whole or not at all.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::BookError;

/// A file that is written under another name (`BOOK.part`) and takes the place of the old one only
/// when it is complete. What a killed program leaves is overwritten by the next one; a lock keeps
/// two from writing the same.
#[derive(Debug)]
pub struct NewFile {
    file: File,
    target: PathBuf,
    part: PathBuf,
    kept: bool,
}

impl NewFile {
    /// Begins to write `target`.
    ///
    /// # Errors
    /// If the folder cannot be written to, or another program writes the same book.
    pub fn create(target: &Path) -> Result<Self, BookError> {
        let name = target.display().to_string();
        let refuse =
            |reason: &str| BookError::Unwritable { name: name.clone(), reason: reason.to_owned() };
        let Some(file_name) = target.file_name() else {
            return Err(refuse("it is no file name"));
        };
        if target.is_dir() {
            return Err(refuse("it is a directory"));
        }
        let mut part_name = file_name.to_owned();
        part_name.push(".part");
        let part = target.with_file_name(part_name);
        let writing = |error: &io::Error| match error.kind() {
            io::ErrorKind::NotFound => refuse("its folder does not exist"),
            _ => BookError::writing(&name, error),
        };
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&part)
            .map_err(|error| writing(&error))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(refuse("another program is writing it")),
            Err(TryLockError::Error(error)) => return Err(writing(&error)),
        }
        file.set_len(0).map_err(|error| writing(&error))?;
        Ok(NewFile { file, target: target.to_owned(), part, kept: false })
    }

    /// Puts the file in its place.
    ///
    /// # Errors
    /// If it cannot be renamed.
    pub fn keep(mut self) -> Result<(), BookError> {
        std::fs::rename(&self.part, &self.target)
            .map_err(|error| BookError::writing(&self.target.display().to_string(), &error))?;
        self.kept = true;
        Ok(())
    }
}

/// What is not kept leaves nothing behind.
impl Drop for NewFile {
    fn drop(&mut self) {
        if !self.kept {
            // Nothing is lost if this fails: the next build overwrites the file.
            let _ = std::fs::remove_file(&self.part);
        }
    }
}

impl Read for NewFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.file.read(buffer)
    }
}

impl Write for NewFile {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        self.file.write(buffer)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Seek for NewFile {
    fn seek(&mut self, position: SeekFrom) -> io::Result<u64> {
        self.file.seek(position)
    }
}
