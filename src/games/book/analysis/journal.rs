//! Results of an analysis that are not yet in the book: a file that survives crashes and power
//! cuts, so that the same command can resume.
//!
//! The first line contains a checksum of the book's entries. Then come rows as in
//! [`crate::games::book::lookup::values`], each with its CRC-32 (little-endian); an incomplete row
//! at the end is cut off.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use thiserror::Error;

use crate::games::book::format::header::VALUE_BYTES as ROW_BYTES;
use crate::games::book::lookup::Book;
use crate::games::book::lookup::values::BookValue;
use crate::support::files::{describe, open_locked};

const MAGIC: &str = "tabia analysis 1, of the book ";
const SUM_BYTES: usize = 4;

/// The most work that a power cut can lose.
const SYNC_EVERY: Duration = Duration::from_secs(1);

#[derive(Debug, Error)]
pub(crate) enum JournalError {
    #[error("cannot keep what is found in {path}: {why}")]
    Io {
        path: PathBuf,
        /// The cause.
        why: String,
    },
    #[error("{0} is in the way: it holds no analysis of this book; move it elsewhere")]
    Foreign(PathBuf),
    /// Another process writes it.
    #[error("{0} is being written: another analysis of this book is running")]
    Busy(PathBuf),
    /// The file could not be removed.
    #[error("the book has all of {path}, but this cannot be removed: {why}; remove it")]
    Left {
        path: PathBuf,
        /// The cause.
        why: String,
    },
}

#[derive(Debug)]
pub(crate) struct Journal {
    file: File,
    path: PathBuf,
    synced: Instant,
}

impl Journal {
    /// Opens or creates the journal at `path` for an analysis of `book`; also returns its values.
    ///
    /// # Errors
    /// If it cannot be read and written, belongs to something else, or is in use.
    pub(crate) fn open(path: &Path, book: &Book) -> Result<(Self, Vec<BookValue>), JournalError> {
        let to_error =
            |error: io::Error| JournalError::Io { path: path.to_owned(), why: describe(&error) };
        let mut file = open_locked(path, true).map_err(|error| match error.kind() {
            io::ErrorKind::ResourceBusy => JournalError::Busy(path.to_owned()),
            _ => to_error(error),
        })?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(to_error)?;
        let headline = format!("{MAGIC}{:08x}\n", book.entries_checksum());
        let head = headline.as_bytes();
        if !bytes.starts_with(&head[..head.len().min(bytes.len())]) {
            return Err(JournalError::Foreign(path.to_owned()));
        }
        let (values, whole) = rows(bytes.get(head.len()..).unwrap_or_default());
        let mended = if bytes.len() < head.len() {
            file.set_len(0).and_then(|()| file.write_all(head))
        } else {
            file.set_len((head.len() + whole) as u64)
        };
        mended.map_err(to_error)?;
        Ok((Journal { file, path: path.to_owned(), synced: Instant::now() }, values))
    }

    /// Appends a value.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(crate) fn append(&mut self, value: &BookValue) -> Result<(), JournalError> {
        let row = value.to_bytes();
        let bytes = [&row[..], &crc32fast::hash(&row).to_le_bytes()].concat();
        let mut written = self.file.write_all(&bytes);
        if self.synced.elapsed() >= SYNC_EVERY {
            written = written.and_then(|()| self.file.sync_data());
            self.synced = Instant::now();
        }
        written.map_err(|error| self.to_error(&error))
    }

    /// Removes the file, once all its values are in the book.
    ///
    /// # Errors
    /// If it cannot be removed.
    pub(crate) fn remove(self) -> Result<(), JournalError> {
        std::fs::remove_file(&self.path)
            .map_err(|error| JournalError::Left { why: describe(&error), path: self.path })
    }

    fn to_error(&self, error: &io::Error) -> JournalError {
        JournalError::Io { path: self.path.clone(), why: describe(error) }
    }
}

/// The complete rows at the beginning of some bytes, and their length in bytes.
fn rows(bytes: &[u8]) -> (Vec<BookValue>, usize) {
    const BYTES: usize = ROW_BYTES + SUM_BYTES;
    let whole = bytes.as_chunks::<BYTES>().0.iter().map_while(|bytes| {
        let (row, sum) = bytes.split_first_chunk::<ROW_BYTES>()?;
        (crc32fast::hash(row).to_le_bytes() == *sum).then(|| BookValue::from_bytes(row))
    });
    let values: Vec<BookValue> = whole.collect();
    let length = values.len() * BYTES;
    (values, length)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::position::Position;

    fn value(key: u64) -> BookValue {
        let own = Position::start().legal_moves().iter().next().map(|mv| (mv, 12));
        BookValue {
            key,
            score: 0,
            best: None,
            outside: None,
            own,
            depth: 0,
            own_depth: 9,
            nodes: 5_000,
        }
    }

    #[test]
    fn appended_rows_are_read_except_a_truncated_last_row() {
        let dir = tempfile::tempdir().expect("a folder");
        let (path, book) = (dir.path().join("x.analysis"), Book::embedded());
        let (mut journal, held) = Journal::open(&path, &book).expect("new");
        assert_eq!(held, []);
        assert!(matches!(Journal::open(&path, &book), Err(JournalError::Busy(_))));
        (1..=3).for_each(|key| journal.append(&value(key)).expect("written"));
        drop(journal);
        let whole = std::fs::read(&path).expect("the file");
        for cut in 0..whole.len() {
            std::fs::write(&path, &whole[..cut]).expect("written");
            let (mut journal, held) = Journal::open(&path, &book).expect("torn");
            let rows = whole.len() - 3 * (ROW_BYTES + SUM_BYTES);
            let expected = cut.saturating_sub(rows) / (ROW_BYTES + SUM_BYTES);
            assert_eq!(held, (1..=expected as u64).map(value).collect::<Vec<_>>(), "{cut} bytes");
            journal.append(&value(7)).expect("written");
            drop(journal);
            let (_, held) = Journal::open(&path, &book).expect("mended");
            assert_eq!((held.len(), held.last()), (expected + 1, Some(&value(7))), "{cut} bytes");
        }
    }

    #[test]
    fn foreign_files_are_rejected_and_unchanged() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("x.analysis");
        for text in ["a letter", "tabia analysis 1, of the book ffffffffff\n"] {
            std::fs::write(&path, text).expect("written");
            let error = Journal::open(&path, &Book::embedded()).expect_err("foreign");
            assert!(matches!(error, JournalError::Foreign(_)), "{error}");
            assert_eq!(std::fs::read_to_string(&path).expect("there"), text);
        }
    }
}
