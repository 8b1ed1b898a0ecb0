//! The file of learned results: a header line, followed by rows that one or more engines append.
//!
//! Each append is one write under a lock, so rows from several engines do not mix. If a crash or a
//! power failure leaves an incomplete row, that row is truncated before the next append. Damaged
//! rows are skipped. If a file becomes too large, it is replaced with one that has fewer rows.

use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};

use super::memory::Memory;
use super::row::{ROW_BYTES, Row};
use crate::support::files::{Fault, JournalError, Kind, read_plain, write_whole};
use crate::support::platform::{known_id, set_len, unlock};

/// The first line of the file, with the version of the row format.
pub(crate) const HEADLINE: &[u8] = b"tabia learning 1\n";

/// The maximum size of a file in bytes. It allows 400,000 rows, from about 4,000 games. Chosen by
/// hand: converting this many rows to a book at the start of each game takes one or two seconds.
const MAX_BYTES: u64 = 16 << 20;

static KIND: Kind = Kind { magic: "tabia learning 1", name: "the learning file" };

pub(super) fn error(path: &Path, fault: impl Into<Fault>) -> JournalError {
    KIND.error(path, fault)
}

pub(crate) fn is_learning(head: &[u8]) -> bool {
    head.starts_with(HEADLINE)
}

/// Parses the contents of a learning file. Returns the valid rows and the number of damaged ones.
pub(super) fn rows_of(bytes: &[u8]) -> (Vec<Row>, usize) {
    let rest = bytes.get(HEADLINE.len()..).unwrap_or_default();
    let all = rest.as_chunks::<ROW_BYTES>().0;
    let rows: Vec<Row> = all.iter().filter_map(Row::from_bytes).collect();
    let damaged = all.len() - rows.len();
    (rows, damaged)
}

/// Identifies one state of a learning file: the volume, the file number, and the length in bytes.
/// The length changes when rows are appended.
pub(crate) type Stamp = (u64, u64, u64);

pub(crate) fn stamp(path: &Path) -> Option<Stamp> {
    let metadata = path.metadata().ok()?;
    let id = known_id(path, &metadata)?;
    Some((id.volume, id.number, metadata.len()))
}

/// A learning file. It is open only while it has writes that may not be synced yet.
#[derive(Debug)]
pub(crate) struct LearnFile {
    path: PathBuf,
    max_bytes: u64,
    /// The open file, if it contains writes that may not be synced yet.
    unsynced: Option<File>,
}

impl LearnFile {
    /// Opens or creates a learning file. Fails if the file exists but is not a learning file.
    pub(crate) fn open(path: &Path) -> Result<Self, JournalError> {
        Self::bounded(path, MAX_BYTES)
    }

    pub(super) fn bounded(path: &Path, max_bytes: u64) -> Result<Self, JournalError> {
        let mut file = LearnFile { path: path.to_owned(), max_bytes, unsynced: None };
        file.append(&[])?;
        Ok(file)
    }

    /// Appends all rows. If an error occurs, the rows written so far are removed again, if
    /// possible.
    pub(crate) fn append(&mut self, rows: &[Row]) -> Result<(), JournalError> {
        self.append_rows(rows).map_err(|fault| error(&self.path, fault))
    }

    fn append_rows(&mut self, rows: &[Row]) -> Result<(), Fault> {
        let bytes: Vec<u8> = rows.iter().flat_map(|row| row.to_bytes()).collect();
        let (mut file, mut length) = self.locked()?;
        if length + bytes.len() as u64 > self.max_bytes {
            self.compact(&mut file)?;
            drop(file);
            (file, length) = self.locked()?;
        }
        if let Err(error) = file.write_all(&bytes) {
            // Remove the rows just written. If this fails too, the next writer removes only an
            // incomplete last row.
            let _ = set_len(&file, length);
            return Err(error.into());
        }
        let unlocked = unlock(&file);
        if !rows.is_empty() {
            self.unsynced = Some(file);
        }
        Ok(unlocked?)
    }

    pub(crate) fn sync(&mut self) -> Result<(), JournalError> {
        let synced = self.unsynced.take().map_or(Ok(()), |file| file.sync_data());
        synced.map_err(|cause| error(&self.path, cause))
    }

    /// Compacts the file regardless of its size.
    #[cfg(fuzzing)]
    pub(crate) fn compact_all(&self) -> Result<(), JournalError> {
        let compact = |(mut file, _)| Ok(self.compact(&mut file)?);
        self.locked().and_then(compact).map_err(|fault| error(&self.path, fault))
    }

    /// Returns true if some appended rows may not be synced yet.
    pub(crate) fn is_unsynced(&self) -> bool {
        self.unsynced.is_some()
    }

    /// Opens and locks the file, and removes an incomplete row at its end. Returns the file and its
    /// length in bytes.
    fn locked(&self) -> Result<(File, u64), Fault> {
        let file = KIND.open(&self.path, "").map_err(|error| error.fault)?;
        let length = file.metadata()?.len();
        let torn = length.saturating_sub(HEADLINE.len() as u64) % ROW_BYTES as u64;
        if torn > 0 {
            set_len(&file, length - torn)?;
        }
        Ok((file, length - torn))
    }

    /// Replaces the locked file with a compacted one of at most half the maximum size.
    fn compact(&self, file: &mut File) -> io::Result<()> {
        let mut bytes = Vec::new();
        file.rewind()?;
        file.read_to_end(&mut bytes)?;
        let memory = Memory::of(rows_of(&bytes).0.into_iter());
        let most = (self.max_bytes / 2).saturating_sub(HEADLINE.len() as u64) as usize / ROW_BYTES;
        let rows = memory.compacted(most);
        let mut bytes = HEADLINE.to_vec();
        rows.iter().for_each(|row| bytes.extend_from_slice(&row.to_bytes()));
        log::info!("{}: {} rows of {} bytes stay", self.path.display(), rows.len(), ROW_BYTES);
        Ok(write_whole(&self.path, &bytes)?)
    }
}

impl Drop for LearnFile {
    fn drop(&mut self) {
        if let Err(error) = self.sync() {
            log::warn!("{error}");
        }
    }
}

pub(super) fn read(path: &Path) -> Result<Vec<u8>, JournalError> {
    let bytes = read_plain(path).map_err(|cause| error(path, cause))?;
    match KIND.check(&mut &bytes[..], "") {
        Ok(true) => Ok(bytes),
        Ok(false) => Err(error(path, io::Error::from(io::ErrorKind::UnexpectedEof))),
        Err(fault) => Err(error(path, fault)),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::time::Duration;

    use super::super::row::{Fact, Found};
    use super::*;
    use crate::chess::position::Position;
    use crate::chess::score::Depth;

    fn row(number: u64, depth: Depth) -> Row {
        let start = Position::start();
        let mv = start.legal_moves().iter().next().expect("a move");
        let found = Found { score: 12, depth, nodes: 5_000, time: Duration::from_secs(1) };
        Row { key: number, ..Row::found(&start, mv, found) }
    }

    fn held(path: &Path) -> Vec<Row> {
        rows_of(&read(path).expect("a learning file")).0
    }

    #[test]
    fn appended_rows_are_read_except_a_truncated_last_row() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("learnt");
        let mut file = LearnFile::open(&path).expect("new");
        assert_eq!(held(&path), []);
        (1..=3).for_each(|number| file.append(&[row(number, 9)]).expect("written"));
        assert!(file.is_unsynced());
        file.sync().expect("synced");
        let whole = fs::read(&path).expect("the file");
        for cut in 0..whole.len() {
            fs::write(&path, &whole[..cut]).expect("written");
            let rows = cut.saturating_sub(HEADLINE.len()) / ROW_BYTES;
            let mut expected: Vec<Row> = (1..=rows as u64).map(|number| row(number, 9)).collect();
            if cut >= HEADLINE.len() {
                assert_eq!(held(&path), expected, "{cut} bytes can be read");
            }
            file.append(&[row(7, 9)]).expect("mended");
            expected.push(row(7, 9));
            assert_eq!(held(&path), expected, "{cut} bytes");
        }
    }

    #[test]
    fn damaged_row_does_not_affect_others() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("learnt");
        let rows: Vec<Row> = (1..=3).map(|number| row(number, 9)).collect();
        LearnFile::open(&path).and_then(|mut file| file.append(&rows)).expect("written");
        let mut bytes = fs::read(&path).expect("the file");
        bytes[HEADLINE.len() + ROW_BYTES + 5] ^= 1;
        assert_eq!(rows_of(&bytes), (vec![rows[0], rows[2]], 1));
    }

    #[test]
    fn foreign_files_are_rejected_and_unchanged() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("letter");
        for text in ["a letter", "tabia learning 2\n and more", "tabia learnt"] {
            fs::write(&path, text).expect("written");
            let error = LearnFile::open(&path).expect_err("foreign");
            assert!(matches!(error.fault, Fault::Foreign(_)), "{error}");
            assert_eq!(fs::read_to_string(&path).expect("there"), text);
        }
        let error = LearnFile::open(dir.path()).expect_err("a folder");
        assert!(matches!(error.fault, Fault::Io(_)), "{error}");
        let error = LearnFile::open(&dir.path().join("no/such/folder")).expect_err("nowhere");
        assert!(error.to_string().contains("does not exist"), "{error}");
    }

    #[test]
    fn compaction_of_a_large_file_keeps_the_deepest_rows() {
        const MAX: u64 = 100 * ROW_BYTES as u64;
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("learnt");
        let mut one = LearnFile::bounded(&path, MAX).expect("new");
        let mut other = LearnFile::bounded(&path, MAX).expect("shared");
        for round in 0..60 {
            let depth = if round == 20 { 30 } else { 10 + round % 9 };
            (1..=20).for_each(|number| one.append(&[row(number, depth)]).expect("written"));
            other.append(&[row(100 + round as u64, 9)]).expect("the current file");
            let length = fs::metadata(&path).expect("there").len();
            assert!(length <= MAX, "{length} bytes");
        }
        let rows = held(&path);
        for number in 1..=20 {
            let of_key = rows.iter().filter(|row| row.key == number);
            let depth = |row: &Row| match row.fact {
                Fact::Found(found) => found.depth,
                Fact::Played { .. } => 0,
            };
            assert_eq!(of_key.map(depth).max(), Some(30), "{number}");
        }
        let last: Vec<u64> = rows.iter().map(|row| row.key).filter(|&key| key >= 150).collect();
        assert_eq!(last, (150..160).collect::<Vec<_>>(), "the oldest go first");
    }

    #[test]
    fn concurrent_writers_lose_no_rows() {
        const WRITERS: u64 = 4;
        const ROWS: u64 = 200;
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("learnt");
        std::thread::scope(|scope| {
            for writer in 0..WRITERS {
                let path = &path;
                scope.spawn(move || {
                    let mut file = LearnFile::open(path).expect("shared");
                    for number in (0..ROWS).step_by(2) {
                        let rows = [0, 1].map(|next| row(writer << 32 | (number + next), 9));
                        file.append(&rows).expect("written");
                    }
                });
            }
        });
        let mut keys: Vec<u64> = held(&path).iter().map(|row| row.key).collect();
        keys.sort_unstable();
        let all = (0..WRITERS).flat_map(|writer| (0..ROWS).map(move |row| writer << 32 | row));
        assert!(keys == all.collect::<Vec<_>>());
    }

    #[test]
    fn deleted_file_is_created_again() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("learnt");
        let mut file = LearnFile::open(&path).expect("new");
        file.append(&[row(1, 9)]).expect("written");
        let before = stamp(&path);
        fs::remove_file(&path).expect("there");
        assert_eq!(stamp(&path), None);
        file.append(&[row(2, 9)]).expect("written");
        assert_eq!(held(&path), [row(2, 9)]);
        assert_ne!(stamp(&path), None);
        assert!(before.is_some());
    }
}
