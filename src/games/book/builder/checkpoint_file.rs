//! Checkpoint files and their checksums. If a file is damaged, the resumed build fails or writes
//! the file again.

use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use crate::support::files::{describe, write_whole};

const BLOCK: usize = 1 << 20;

/// A file in the checkpoint folder and the XXH3 hash of its bytes.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct CheckpointFile {
    pub(super) name: String,
    pub(super) sum: u64,
}

impl CheckpointFile {
    pub(super) fn write(folder: &Path, name: String, bytes: &[u8]) -> io::Result<Self> {
        write_whole(&folder.join(&name), bytes)?;
        Ok(CheckpointFile { name, sum: xxh3_64(bytes) })
    }

    pub(super) fn read(&self, folder: &Path) -> io::Result<Vec<u8>> {
        let bytes =
            std::fs::read(folder.join(&self.name)).map_err(|error| self.unreadable(&error))?;
        if self.is_of(xxh3_64(&bytes)) { Ok(bytes) } else { Err(self.damaged()) }
    }

    /// Opens the file after verifying its checksum. The file may be too large to fit into memory.
    pub(super) fn open(&self, folder: &Path) -> io::Result<File> {
        let open = || {
            let mut file = File::open(folder.join(&self.name))?;
            let sum = sum_of(&mut file)?;
            file.rewind()?;
            Ok((file, sum))
        };
        let (file, sum) = open().map_err(|error| self.unreadable(&error))?;
        if self.is_of(sum) { Ok(file) } else { Err(self.damaged()) }
    }

    /// Whether `sum` is the checksum of this file. Fuzzing builds accept any checksum.
    fn is_of(&self, sum: u64) -> bool {
        sum == self.sum || cfg!(fuzzing)
    }

    fn unreadable(&self, error: &io::Error) -> io::Error {
        io::Error::other(format!("{} cannot be read: {}", self.name, describe(error)))
    }

    pub(super) fn damaged(&self) -> io::Error {
        io::Error::new(io::ErrorKind::InvalidData, format!("{} is damaged", self.name))
    }
}

fn sum_of(file: &mut File) -> io::Result<u64> {
    let (mut sum, mut block) = (Xxh3::new(), vec![0; BLOCK]);
    loop {
        match file.read(&mut block)? {
            0 => return Ok(sum.digest()),
            read => sum.update(&block[..read]),
        }
    }
}

pub(super) struct ChecksumWriter {
    file: File,
    sum: Xxh3,
}

impl ChecksumWriter {
    pub(super) fn new(file: File) -> Self {
        ChecksumWriter { file, sum: Xxh3::new() }
    }

    pub(super) fn into_parts(self) -> (File, u64) {
        (self.file, self.sum.digest())
    }
}

impl Write for ChecksumWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.sum.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}
