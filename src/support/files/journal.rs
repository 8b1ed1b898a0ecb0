//! Journals: files that store finished work record by record, so that a command can resume.
//!
//! The first line names the kind of file, the version of its format and its owner: the input and
//! settings that the records belong to. An incomplete record, which a crash or a power cut leaves
//! at the end, is cut off when the journal is opened.
//!
//! A checkpoint has such a first line too, but is replaced as a whole and ends with a checksum.

use std::fs::File;
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Seek, SeekFrom, Write};
use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use thiserror::Error;
use xxhash_rust::xxh3::xxh3_64;

use super::{
    ANOTHER_PROGRAM, OutputError, describe, open_locked, read_plain, sync_name, write_whole,
};

/// The most work that a power cut can lose, unless each record is synced.
const SYNC_EVERY: Duration = Duration::from_secs(1);

/// The maximum length of a first line in bytes.
const MAX_HEADLINE: u64 = 1 << 24;
/// The characters of another version's first line that its error shows.
const VERSION_CHARS: usize = 40;

/// A kind of file from which work resumes.
#[derive(Debug)]
pub(crate) struct Kind {
    /// The first bytes of a file: kind and version, up to the owner.
    pub(crate) magic: &'static str,
    /// The first bytes of other versions, which are rejected by name.
    pub(crate) stem: &'static str,
    /// Whether the owner is a JSON string, the only member of an object.
    pub(crate) is_json: bool,
    /// The name of such a file, with its article.
    pub(crate) name: &'static str,
    /// The work that it belongs to, with its article.
    pub(crate) work: &'static str,
    /// A second run that would write the same file.
    pub(crate) rival: &'static str,
    /// Whether each record is synced at once.
    pub(crate) syncs_each: bool,
}

/// The error for a file from which work cannot resume.
#[derive(Debug, Error)]
#[error("cannot use {} {}: {fault}", kind.name, path.display())]
pub struct JournalError {
    kind: &'static Kind,
    path: PathBuf,
    pub(crate) fault: Fault,
}

/// The cause of a [`JournalError`].
#[derive(Debug, Error)]
pub(crate) enum Fault {
    /// It cannot be read or written, or another run uses it.
    #[error("{}", describe(.0))]
    Io(#[from] io::Error),
    /// It is something else.
    #[error("another file is in the way; move it elsewhere, or name another file")]
    Foreign,
    /// It has the format of another version, which its first line names.
    #[error("its format is `{0}`; finish it with the version of Tabia that wrote it, or remove it")]
    Version(String),
    /// It belongs to other settings or another input.
    #[error(
        "it belongs to {work} with other settings: {difference}; repeat the first command, or \
         move the file elsewhere"
    )]
    Other { work: &'static str, difference: String },
    /// It is complete but invalid.
    #[error("it is damaged: {0}; repair or remove it")]
    Damaged(String),
    /// It exists, but was not to be resumed from.
    #[error("it belongs to an interrupted run; add --resume to continue it, or remove it")]
    Exists,
    /// It does not exist, but was to be resumed from.
    #[error("it does not exist; there is nothing to resume")]
    Missing,
    /// It is no longer needed, but cannot be removed.
    #[error("its work is complete, but it cannot be removed: {}; remove it", describe(.0))]
    Left(io::Error),
}

/// Describes the first difference of two owners, which have one setting a line or separate them by
/// semicolons; `None` if they are equal.
pub(crate) fn difference(before: &str, now: &str) -> Option<String> {
    let [mut before, mut now] = [before, now].map(|owner| owner.split(['\n', ';']));
    loop {
        let pair = [before.next(), now.next()];
        let [was, is] = pair.map(|setting| setting.map_or("nothing", str::trim));
        match pair {
            [None, None] => return None,
            [before, now] if before == now => (),
            _ => return Some(format!("it was \"{was}\", and is \"{is}\" now")),
        }
    }
}

impl Kind {
    /// The usual values, for kinds without others.
    pub(crate) const BASE: Kind = Kind {
        magic: "tabia ",
        stem: "tabia ",
        is_json: false,
        name: "the checkpoint",
        work: "a run",
        rival: ANOTHER_PROGRAM,
        syncs_each: false,
    };

    pub(crate) fn error(&'static self, path: &Path, fault: impl Into<Fault>) -> JournalError {
        JournalError { kind: self, path: path.to_owned(), fault: fault.into() }
    }

    fn headline(&self, owner: &str) -> String {
        match self.is_json {
            true => format!("{}{}}}\n", self.magic, serde_json::Value::from(owner)),
            false => format!("{}{owner}\n", self.magic),
        }
    }

    /// The owner in the rest of a first line.
    fn owner(&self, rest: &str) -> Option<String> {
        match self.is_json {
            true => serde_json::from_str(rest.strip_suffix('}')?).ok(),
            false => Some(rest.to_owned()),
        }
    }

    /// Reads the first line; returns whether it is complete.
    ///
    /// # Errors
    /// If the file is of another kind or version, or has another owner.
    pub(crate) fn check(&self, input: &mut impl BufRead, owner: &str) -> Result<bool, Fault> {
        let mut line = Vec::new();
        input.take(MAX_HEADLINE).read_until(b'\n', &mut line)?;
        let line = String::from_utf8_lossy(&line);
        let Some(whole) = line.strip_suffix('\n') else {
            let is_begun = line.starts_with(self.magic) || self.magic.starts_with(&*line);
            let is_torn = is_begun && (line.len() as u64) < MAX_HEADLINE;
            return if is_torn { Ok(false) } else { Err(Fault::Foreign) };
        };
        match whole.strip_prefix(self.magic).and_then(|rest| self.owner(rest)) {
            Some(found) => difference(&found, owner)
                .map_or(Ok(true), |difference| Err(Fault::Other { work: self.work, difference })),
            None if whole.starts_with(self.stem) => {
                Err(Fault::Version(whole.chars().take(VERSION_CHARS).collect()))
            }
            None => Err(Fault::Foreign),
        }
    }

    /// Writes a checkpoint in place of the previous one.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(crate) fn save(&self, path: &Path, owner: &str, content: &[u8]) -> Result<(), OutputError> {
        let mut bytes = [self.headline(owner).as_bytes(), content].concat();
        bytes.extend(xxh3_64(&bytes).to_le_bytes());
        write_whole(path, &bytes)
    }

    /// Reads the content of a checkpoint.
    ///
    /// # Errors
    /// If it does not exist, cannot be read, is damaged, or something else or of another owner.
    pub(crate) fn load(&'static self, path: &Path, owner: &str) -> Result<Vec<u8>, JournalError> {
        self.load_content(path, owner).map_err(|fault| self.error(path, fault))
    }

    fn load_content(&self, path: &Path, owner: &str) -> Result<Vec<u8>, Fault> {
        let bytes = read_plain(path).map_err(|error| match error.kind() {
            ErrorKind::NotFound => Fault::Missing,
            _ => Fault::Io(error),
        })?;
        let (whole, sum) = bytes.split_last_chunk().unwrap_or((&bytes, &[0; 8]));
        let is_whole = xxh3_64(whole) == u64::from_le_bytes(*sum);
        let mut rest = &bytes[..];
        match self.check(&mut rest, owner) {
            Ok(true) if is_whole => Ok(rest[..rest.len().saturating_sub(sum.len())].to_vec()),
            Err(fault @ (Fault::Foreign | Fault::Version(_))) => Err(fault),
            Err(fault) if is_whole => Err(fault),
            _ => Err(Fault::Damaged("its checksum is wrong".to_owned())),
        }
    }
}

/// A unit of finished work.
pub(crate) trait Record: Sized {
    /// Appends the bytes of the record.
    ///
    /// # Errors
    /// If it has no valid form.
    fn write(&self, bytes: &mut Vec<u8>) -> io::Result<()>;

    /// Reads a record; `None` if it is torn.
    ///
    /// # Errors
    /// `UnexpectedEof` if it is torn, `InvalidData` if it is damaged otherwise, or if the file
    /// cannot be read.
    fn read(input: &mut impl BufRead) -> io::Result<Option<Self>>;
}

/// An open journal, locked for this process.
#[derive(Debug)]
pub(crate) struct Journal<R> {
    file: File,
    path: PathBuf,
    kind: &'static Kind,
    /// Whether it had no first line.
    is_new: bool,
    /// Its length in bytes.
    end: u64,
    synced: Instant,
    records: PhantomData<fn(R)>,
}

impl<R: Record> Journal<R> {
    /// Opens or creates the journal of `owner`, and calls `visit` with each record and its place.
    ///
    /// # Errors
    /// If it cannot be read and written, another run uses it, it is something else or of another
    /// owner, or a record is damaged.
    pub(crate) fn open(
        path: &Path,
        kind: &'static Kind,
        owner: &str,
        visit: impl FnMut(R, u64),
    ) -> Result<Self, JournalError> {
        let file = open_locked(path, true, kind.rival).map_err(|error| kind.error(path, error))?;
        let mut journal = Journal {
            file,
            path: path.to_owned(),
            kind,
            is_new: false,
            end: 0,
            synced: Instant::now(),
            records: PhantomData,
        };
        journal.recover(owner, visit).map_err(|fault| kind.error(path, fault))?;
        Ok(journal)
    }

    fn recover(&mut self, owner: &str, mut visit: impl FnMut(R, u64)) -> Result<(), Fault> {
        let mut input = BufReader::new(&self.file);
        if !self.kind.check(&mut input, owner)? {
            self.is_new = true;
            self.file.set_len(0)?;
            self.write(self.kind.headline(owner).as_bytes())?;
            return Ok(sync_name(&self.path)?);
        }
        for record in 1.. {
            self.end = input.stream_position()?;
            match R::read(&mut input) {
                Ok(Some(record)) => visit(record, self.end),
                Ok(None) => break,
                Err(error) if error.kind() == ErrorKind::UnexpectedEof => break,
                Err(error) if error.kind() == ErrorKind::InvalidData => {
                    return Err(Fault::Damaged(format!("record {record}: {error}")));
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(self.file.set_len(self.end)?)
    }

    /// Whether it did not exist, or was torn in its first line.
    pub(crate) fn is_new(&self) -> bool {
        self.is_new
    }

    /// The place of the next record.
    pub(crate) fn end(&self) -> u64 {
        self.end
    }

    /// Appends a record.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(crate) fn append(&mut self, record: &R) -> Result<(), JournalError> {
        let mut bytes = Vec::new();
        let written = record.write(&mut bytes).and_then(|()| self.write(&bytes));
        written.map_err(|error| self.kind.error(&self.path, error))
    }

    /// Writes some bytes, or on failure none.
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        if let Err(error) = self.file.write_all(bytes) {
            // If it cannot be cut off now, the next run does it.
            let _ = self.file.set_len(self.end);
            return Err(error);
        }
        self.end += bytes.len() as u64;
        if self.kind.syncs_each || self.synced.elapsed() >= SYNC_EVERY {
            self.file.sync_data()?;
            self.synced = Instant::now();
        }
        Ok(())
    }

    /// Reads the record at a place.
    ///
    /// # Errors
    /// If it cannot be read, or is damaged by now.
    pub(crate) fn read_at(&mut self, place: u64) -> io::Result<R> {
        self.file.seek(SeekFrom::Start(place))?;
        R::read(&mut BufReader::new(&self.file))?.ok_or(ErrorKind::InvalidData.into())
    }

    /// Removes the file, once all its work is elsewhere.
    ///
    /// # Errors
    /// If it cannot be removed.
    pub(crate) fn remove(self) -> Result<(), JournalError> {
        std::fs::remove_file(&self.path)
            .map_err(|error| self.kind.error(&self.path, Fault::Left(error)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    static KIND: Kind = Kind {
        magic: "tabia test 2; ",
        stem: "tabia test ",
        name: "the test file",
        work: "a test",
        rival: "another test",
        syncs_each: true,
        ..Kind::BASE
    };

    impl Record for String {
        fn write(&self, bytes: &mut Vec<u8>) -> io::Result<()> {
            writeln!(bytes, "{self}")
        }

        fn read(input: &mut impl BufRead) -> io::Result<Option<Self>> {
            let mut line = String::new();
            input.read_line(&mut line)?;
            match line.strip_suffix('\n') {
                Some("bad") => Err(io::Error::new(ErrorKind::InvalidData, "it is bad")),
                whole => Ok(whole.map(str::to_owned)),
            }
        }
    }

    fn open(path: &Path, owner: &str) -> Result<(Journal<String>, Vec<String>), JournalError> {
        let mut records = Vec::new();
        let journal = Journal::open(path, &KIND, owner, |record, _| records.push(record))?;
        Ok((journal, records))
    }

    #[test]
    fn all_complete_records_survive_a_torn_end() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("x");
        let (mut journal, records) = open(&path, "a; b").expect("new");
        assert!(journal.is_new() && records.is_empty());
        let all = ["one", "two", "three"].map(str::to_owned);
        let places = all.each_ref().map(|record| {
            let place = journal.end();
            journal.append(record).expect("written");
            place
        });
        for (place, record) in places.into_iter().zip(&all).rev() {
            assert_eq!(journal.read_at(place).expect("there"), *record);
        }
        drop(journal);
        let whole = std::fs::read(&path).expect("there");
        for cut in 0..whole.len() {
            std::fs::write(&path, &whole[..cut]).expect("written");
            let (mut journal, records) = open(&path, "a; b").expect("torn");
            assert_eq!(journal.is_new(), cut < "tabia test 2; a; b\n".len(), "{cut} bytes");
            let lines = whole[..cut].iter().filter(|&&byte| byte == b'\n').count();
            assert_eq!(records, all[..lines.saturating_sub(1)], "{cut} bytes");
            journal.append(&"more".to_owned()).expect("written");
            drop(journal);
            let (journal, mended) = open(&path, "a; b").expect("mended");
            assert_eq!(mended, [&records[..], &["more".to_owned()]].concat(), "{cut} bytes");
            assert!(!journal.is_new());
        }
    }

    #[test]
    fn a_journal_has_one_writer_and_can_be_removed() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("x");
        let (journal, _) = open(&path, "a").expect("new");
        let busy = open(&path, "a").expect_err("in use").to_string();
        assert!(busy.starts_with("cannot use the test file ") && busy.contains("another test"));
        journal.remove().expect("removed");
        assert!(!path.exists());
        let nowhere = open(&dir.path().join("none/x"), "a").expect_err("no folder").to_string();
        assert!(nowhere.contains("none/x: it does not exist"), "{nowhere}");
    }

    #[test]
    fn other_files_are_refused_and_unchanged() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("x");
        let long = format!("tabia test 2; {}", "a".repeat(MAX_HEADLINE as usize));
        for (text, reason) in [
            ("a letter", "another file is in the way"),
            ("tabia testing\n", "another file is in the way"),
            (&long, "another file is in the way"),
            ("tabia test 1; a; b\n", "its format is `tabia test 1; a; b`"),
            (
                "tabia test 2; a; c\nx\n",
                "a test with other settings: it was \"c\", and is \"b\" now",
            ),
            ("tabia test 2; a\nx\n", "it was \"nothing\", and is \"b\" now"),
            ("tabia test 2; a; b\nx\nbad\ny\n", "it is damaged: record 2: it is bad; repair"),
        ] {
            std::fs::write(&path, text).expect("written");
            let error = open(&path, "a; b").expect_err("refused").to_string();
            assert!(error.contains(reason), "{error}");
            assert_eq!(std::fs::read_to_string(&path).expect("there"), text);
        }
    }
    #[test]
    fn a_checkpoint_is_read_only_as_a_whole_and_by_its_owner() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("x");
        let load = |owner: &str| KIND.load(&path, owner);
        let fault = |owner: &str| load(owner).expect_err("refused").fault;
        assert!(matches!(fault("a"), Fault::Missing));
        KIND.save(&path, "b", b"old").expect("written");
        KIND.save(&path, "a", b"content\n").expect("replaced");
        assert_eq!(load("a").expect("there"), b"content\n");
        assert!(matches!(fault("b"), Fault::Other { .. }));
        let whole = std::fs::read(&path).expect("there");
        for place in 0..whole.len() {
            std::fs::write(&path, &whole[..place]).expect("written");
            load("a").expect_err("torn");
            let mut damaged = whole.clone();
            damaged[place] ^= 1;
            std::fs::write(&path, &damaged).expect("written");
            let is_magic = place < KIND.magic.len() || damaged[place] == b'\n' ^ 1;
            assert!(is_magic || matches!(fault("a"), Fault::Damaged(_)), "{place}");
        }
        std::fs::write(&path, "tabia test 1; a\n").expect("written");
        assert!(matches!(fault("a"), Fault::Version(_)));
    }
}
