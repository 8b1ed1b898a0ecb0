//! A journal of annotated games, so that an interrupted command can be resumed.
//!
//! The first line describes what is annotated and how. Then follow the games in the order in which
//! they were finished: a line `game NUMBER BYTES CRC-32`, the bytes, a newline. An incomplete game
//! at the end is cut off.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use thiserror::Error;

use crate::support::files::{describe, open_locked};

const MAGIC: &str = "tabia annotations 2; ";

/// Sync interval: a power failure loses at most this much work.
const SYNC_EVERY: Duration = Duration::from_secs(1);

#[derive(Debug, Error)]
pub(crate) enum JournalError {
    #[error("cannot keep the games in {path}: {why}")]
    Io {
        /// The file.
        path: PathBuf,
        why: String,
    },
    /// The file is not a journal, or belongs to other games or settings.
    #[error("{path} is in the way: {why}; move it elsewhere, or give the same command again")]
    Foreign {
        /// The file.
        path: PathBuf,
        why: String,
    },
    /// The output is complete, but the journal could not be removed.
    #[error("the output has all of {path}, but this cannot be removed: {why}; remove it")]
    Left {
        /// The file.
        path: PathBuf,
        why: String,
    },
}

#[derive(Debug)]
pub(crate) struct Journal {
    file: File,
    path: PathBuf,
    places: BTreeMap<u64, (u64, usize)>,
    end: u64,
    synced: Instant,
}

impl Journal {
    /// Opens or creates the journal at `path`. `settings` is one line: what is annotated, and how.
    ///
    /// # Errors
    /// If it cannot be read and written, belongs to other games or settings, or is in use.
    pub(crate) fn open(path: &Path, settings: &str) -> Result<Self, JournalError> {
        let to_error =
            |error: io::Error| JournalError::Io { path: path.to_owned(), why: describe(&error) };
        let foreign =
            |why: &str| JournalError::Foreign { path: path.to_owned(), why: why.to_owned() };
        let mut file = open_locked(path, true).map_err(to_error)?;
        let headline = format!("{MAGIC}{settings}\n");
        let mut reader = BufReader::new(&file);
        let mut line = Vec::new();
        reader
            .by_ref()
            .take(headline.len() as u64)
            .read_until(b'\n', &mut line)
            .map_err(to_error)?;
        let mut places = BTreeMap::new();
        let mut end = headline.len() as u64;
        if line == headline.as_bytes() {
            read_places(&mut reader, &mut places, &mut end).map_err(to_error)?;
            file.set_len(end).map_err(to_error)?;
        } else if headline.as_bytes().starts_with(&line) {
            // The file is new, or its first line is incomplete.
            file.set_len(0).and_then(|()| file.write_all(headline.as_bytes())).map_err(to_error)?;
        } else if line.starts_with(MAGIC.as_bytes()) {
            return Err(foreign("it holds games annotated with other settings, or other games"));
        } else {
            return Err(foreign("it is something else"));
        }
        Ok(Journal { file, path: path.to_owned(), places, end, synced: Instant::now() })
    }

    pub(crate) fn holds(&self, number: u64) -> bool {
        self.places.contains_key(&number)
    }

    pub(crate) fn len(&self) -> usize {
        self.places.len()
    }

    /// Appends a game.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(crate) fn append(&mut self, number: u64, pgn: &str) -> Result<(), JournalError> {
        let bytes = pgn.as_bytes();
        let head = format!("game {number} {} {:08x}\n", bytes.len(), crc32fast::hash(bytes));
        let whole = [head.as_bytes(), bytes, b"\n"].concat();
        let mut written = self.file.write_all(&whole);
        if self.synced.elapsed() >= SYNC_EVERY {
            written = written.and_then(|()| self.file.sync_data());
            self.synced = Instant::now();
        }
        written.map_err(|error| self.to_error(&error))?;
        self.places.insert(number, (self.end + head.len() as u64, bytes.len()));
        self.end += whole.len() as u64;
        Ok(())
    }

    /// Writes all games in the order of their numbers.
    ///
    /// # Errors
    /// If a file cannot be read or written.
    pub(crate) fn write_all(&mut self, output: &mut impl Write) -> io::Result<()> {
        for &(start, length) in self.places.values() {
            self.file.seek(SeekFrom::Start(start))?;
            io::copy(&mut (&self.file).take(length as u64), output)?;
            output.write_all(b"\n")?;
        }
        Ok(())
    }

    /// Removes the file after the output is complete.
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

/// Finds the complete games after the first line; sets `end` to the end of the last.
fn read_places(
    reader: &mut impl BufRead,
    places: &mut BTreeMap<u64, (u64, usize)>,
    end: &mut u64,
) -> io::Result<()> {
    loop {
        let mut line = String::new();
        // A line that is not text is incomplete.
        if reader.read_line(&mut line).is_err() {
            return Ok(());
        }
        let Some((number, length, sum)) = parse_head(&line) else { return Ok(()) };
        let mut bytes = Vec::new();
        reader.by_ref().take(length as u64 + 1).read_to_end(&mut bytes)?;
        if bytes.len() != length + 1 || crc32fast::hash(&bytes[..length]) != sum {
            return Ok(());
        }
        places.insert(number, (*end + line.len() as u64, length));
        *end += (line.len() + length + 1) as u64;
    }
}

/// Parses number, length and checksum of a game.
fn parse_head(line: &str) -> Option<(u64, usize, u32)> {
    let mut words = line.strip_prefix("game ")?.strip_suffix('\n')?.split(' ');
    let (number, length) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
    Some((number, length, u32::from_str_radix(words.next()?, 16).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn appended_games_are_read_except_a_truncated_last_game() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("x.annotations");
        let mut journal = Journal::open(&path, "a way").expect("new");
        let text = |number: u64| format!("[Round \"{number}\"]\n\n1. e4 *\n");
        let mut add = |number| journal.append(number, &text(number)).expect("written");
        [2, 0, 1].into_iter().for_each(&mut add);
        drop(journal);
        let whole = std::fs::read(&path).expect("the file");
        for cut in 0..=whole.len() {
            std::fs::write(&path, &whole[..cut]).expect("written");
            let mut journal = Journal::open(&path, "a way").expect("torn");
            let held = journal.len();
            assert_eq!(held == 3, cut == whole.len(), "{cut}");
            assert!((0..3).filter(|&number| journal.holds(number)).count() == held);
            for number in [2, 0, 1] {
                if !journal.holds(number) {
                    journal.append(number, &text(number)).expect("written");
                }
            }
            let mut all = Vec::new();
            journal.write_all(&mut all).expect("written");
            let expected: String = (0..3).map(|number| text(number) + "\n").collect();
            assert_eq!(String::from_utf8(all).expect("text"), expected, "{cut}");
        }
    }

    #[test]
    fn foreign_files_are_rejected_and_unchanged() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("x.annotations");
        for text in ["a letter", "tabia annotations 2; another way\n"] {
            std::fs::write(&path, text).expect("written");
            let error = Journal::open(&path, "a way").expect_err("foreign");
            assert!(matches!(error, JournalError::Foreign { .. }), "{error}");
            assert_eq!(std::fs::read_to_string(&path).expect("there"), text);
        }
    }
}
