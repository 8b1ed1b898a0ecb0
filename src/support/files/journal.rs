//! Files that store finished work, so that an interrupted command can resume.
//!
//! The first line contains the kind of file, the version of its format, and the owner: a
//! description of the input and the settings with which the command was run.
//!
//! There are two types of files. In a journal, each further line is a record in JSON, preceded by
//! the CRC-32 of the JSON text. If a crash or a power failure leaves an incomplete last line, that
//! line is removed. Damaged lines are reported in the log and skipped. A checkpoint is always
//! replaced as a whole, and ends with the XXH3 hash of all preceding bytes.

use std::fs::File;
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Seek, SeekFrom, Write};
use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::Serialize;
use serde::de::DeserializeOwned;
use thiserror::Error;
use xxhash_rust::xxh3::xxh3_64;

use super::{FileError, describe, open_locked, open_plain, read_plain, sync_name, write_whole};
use crate::support::platform;

/// The minimum interval between syncs. A power failure loses about one interval's work.
const SYNC_EVERY: Duration = Duration::from_secs(1);
const MAX_HEADLINE: u64 = 1 << 24;
const SHOWN_CHARS: usize = 40;
const SUM_CHARS: usize = 9;

#[derive(Debug)]
pub(crate) struct Kind {
    /// The kind of file and the version of its format, which precede the owner in the first line.
    pub(crate) magic: &'static str,
    /// The name of this kind of file with an article, for error messages.
    pub(crate) name: &'static str,
}

/// An error that prevents a command from resuming from a file.
#[derive(Debug, Error)]
#[error("cannot use {name} {}: {fault}", path.display())]
pub struct JournalError {
    name: &'static str,
    path: PathBuf,
    pub(crate) fault: Fault,
}

#[derive(Debug, Error)]
pub(crate) enum Fault {
    /// The file cannot be read or written, or another process is using it.
    #[error("{}", describe(.0))]
    Io(#[from] io::Error),
    #[error(
        "it is of another kind or version, and begins with {0:?}; move it elsewhere, or finish it \
         with the program that wrote it"
    )]
    Foreign(String),
    #[error(
        "it was begun with other settings: {0}; repeat the first command, or move it elsewhere"
    )]
    Other(String),
    #[error("it is damaged: {0}; remove it")]
    Damaged(String),
}

impl Kind {
    pub(crate) fn error(&self, path: &Path, fault: impl Into<Fault>) -> JournalError {
        JournalError { name: self.name, path: path.to_owned(), fault: fault.into() }
    }

    fn headline(&self, owner: &str) -> String {
        format!("{}{}\n", self.magic, owner.replace('\n', "; "))
    }

    /// Reads the first line. Fails if it belongs to a file of a different kind or owner. Returns
    /// true if the line is complete.
    pub(crate) fn check(&self, input: &mut impl BufRead, owner: &str) -> Result<bool, Fault> {
        let mut line = Vec::new();
        input.by_ref().take(MAX_HEADLINE).read_until(b'\n', &mut line)?;
        let (line, headline) = (String::from_utf8_lossy(&line), self.headline(owner));
        match line.strip_prefix(self.magic) {
            _ if headline.starts_with(&*line) => Ok(*line == headline),
            Some(found) => Err(Fault::Other(difference(found, &headline[self.magic.len()..]))),
            None => Err(Fault::Foreign(line.trim_end().chars().take(SHOWN_CHARS).collect())),
        }
    }

    /// Opens a file for reading and appending, and creates it if necessary. Fails if the file has a
    /// different owner. The file is locked so that no other process can open it with this function.
    pub(crate) fn open(&self, path: &Path, owner: &str) -> Result<File, JournalError> {
        self.try_open(path, owner).map_err(|fault| self.error(path, fault))
    }

    /// Returns the owner of a file and the length of its first line, or `None` if that line is
    /// incomplete. Semicolons in the owner may stand for line breaks. This function works even
    /// while another process is writing the file.
    pub(crate) fn owner(&self, path: &Path) -> Result<Option<(String, u64)>, JournalError> {
        self.try_owner(path).map_err(|fault| self.error(path, fault))
    }

    fn try_owner(&self, path: &Path) -> Result<Option<(String, u64)>, Fault> {
        let mut line = Vec::new();
        let input = BufReader::new(open_plain(path)?);
        let length = input.take(MAX_HEADLINE).read_until(b'\n', &mut line)? as u64;
        let Some(line) = line.strip_suffix(b"\n") else { return Ok(None) };
        let line = String::from_utf8_lossy(line);
        match line.strip_prefix(self.magic) {
            Some(owner) => Ok(Some((owner.to_owned(), length))),
            None => Err(Fault::Foreign(line.chars().take(SHOWN_CHARS).collect())),
        }
    }

    /// Reads the records from offset `from` onwards. Does not change the file, because another
    /// process may be appending to it.
    ///
    /// Returns the offset of the first incomplete or damaged line, or the length of the file if
    /// there is none. Start the next call at this offset: on a network file system, a line can look
    /// damaged until all of its content has been transferred. The next call visits any records
    /// after a damaged line again. Returns `None` if the file is shorter than `from`, which means
    /// that it was replaced.
    pub(crate) fn follow<R: DeserializeOwned>(
        &self,
        path: &Path,
        from: u64,
        visit: impl FnMut(R),
    ) -> Result<Option<u64>, JournalError> {
        Self::try_follow(path, from, visit).map_err(|fault| self.error(path, fault))
    }

    fn try_follow<R: DeserializeOwned>(
        path: &Path,
        from: u64,
        mut visit: impl FnMut(R),
    ) -> Result<Option<u64>, Fault> {
        let mut file = open_plain(path)?;
        if file.metadata()?.len() < from {
            return Ok(None);
        }
        file.seek(SeekFrom::Start(from))?;
        let (mut input, mut line) = (BufReader::new(file), Vec::new());
        let (mut at, mut is_whole, mut damaged, mut offset) = (from, true, None, from);
        while input.read_until(b'\n', &mut line)? > 0 && line.ends_with(b"\n") {
            let record = parse(&line);
            is_whole &= record.is_some();
            // A damaged line at the end may still be incomplete.
            if let Some(damaged) = damaged.take_if(|_| record.is_some()) {
                warn_of_damage(path, line_number(path, damaged)?);
            }
            if record.is_none() {
                damaged = Some(offset);
            }
            offset += line.len() as u64;
            at += if is_whole { line.len() as u64 } else { 0 };
            record.into_iter().for_each(&mut visit);
            line.clear();
        }
        Ok(Some(at))
    }

    fn try_open(&self, path: &Path, owner: &str) -> Result<File, Fault> {
        let mut file = open_locked(path, true)?;
        if !self.check(&mut BufReader::new(&file), owner)? {
            platform::set_len(&file, 0)?;
            file.write_all(self.headline(owner).as_bytes())?;
            // Sync the file's name now, because later syncs only cover the content.
            sync_name(path)?;
        }
        Ok(file)
    }

    pub(crate) fn save(&self, path: &Path, owner: &str, content: &[u8]) -> Result<(), FileError> {
        let mut bytes = [self.headline(owner).as_bytes(), content].concat();
        bytes.extend(xxh3_64(&bytes).to_le_bytes());
        write_whole(path, &bytes)
    }

    pub(crate) fn load(&self, path: &Path, owner: &str) -> Result<Vec<u8>, JournalError> {
        self.try_load(path, owner).map_err(|fault| self.error(path, fault))
    }

    fn try_load(&self, path: &Path, owner: &str) -> Result<Vec<u8>, Fault> {
        let bytes = read_plain(path)?;
        let mut rest = &bytes[..];
        self.check(&mut rest, owner)?;
        let whole = &bytes[..bytes.len().saturating_sub(size_of::<u64>())];
        match rest.split_last_chunk() {
            Some((content, sum)) if xxh3_64(whole).to_le_bytes() == *sum => Ok(content.to_vec()),
            _ => Err(Fault::Damaged("its checksum is wrong".to_owned())),
        }
    }
}

fn difference(before: &str, now: &str) -> String {
    let [was, is] = first_difference(before, now);
    format!("it was \"{was}\", and is \"{is}\" now")
}

/// Compares the settings of two owners, which are separated by semicolons. Returns the first one
/// that differs, as it appears in each.
pub(crate) fn first_difference<'a>(one: &'a str, other: &'a str) -> [&'a str; 2] {
    let [mut one, mut other] = [one, other].map(|owner| owner.split(';').map(str::trim));
    loop {
        match (one.next(), other.next()) {
            (Some(one), Some(other)) if one == other => (),
            (one, other) => return [one, other].map(|part| part.unwrap_or("nothing")),
        }
    }
}

#[derive(Debug)]
pub(crate) struct Journal<R> {
    file: File,
    path: PathBuf,
    kind: &'static Kind,
    end: u64,
    /// The offsets of damaged lines.
    damaged: Vec<u64>,
    synced: Instant,
    records: PhantomData<fn(R)>,
}

impl<R: Serialize + DeserializeOwned> Journal<R> {
    /// Opens or creates a journal, and calls `visit` with each record and its offset. Fails if the
    /// file has a different owner.
    pub(crate) fn open(
        path: &Path,
        kind: &'static Kind,
        owner: &str,
        mut visit: impl FnMut(R, u64),
    ) -> Result<Self, JournalError> {
        let (file, end) = (kind.open(path, owner)?, kind.headline(owner).len() as u64);
        let (path, synced, records) = (path.to_owned(), Instant::now(), PhantomData);
        let damaged = Vec::new();
        let mut journal = Journal { file, path, kind, end, damaged, synced, records };
        let recovered = journal.recover(&mut visit);
        recovered.map_err(|error| journal.error(error)).map(|()| journal)
    }

    fn recover(&mut self, visit: &mut impl FnMut(R, u64)) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(self.end))?;
        let (mut input, mut line) = (BufReader::new(&self.file), Vec::new());
        let mut number = 1;
        while input.read_until(b'\n', &mut line)? > 0 && line.ends_with(b"\n") {
            number += 1;
            match parse(&line) {
                Some(record) => visit(record, self.end),
                None => {
                    warn_of_damage(&self.path, number);
                    self.damaged.push(self.end);
                }
            }
            self.end += line.len() as u64;
            line.clear();
        }
        platform::set_len(&self.file, self.end)
    }

    /// Returns the offsets of damaged lines, which were skipped.
    pub(crate) fn damaged(&self) -> &[u64] {
        &self.damaged
    }

    fn error(&self, error: io::Error) -> JournalError {
        self.kind.error(&self.path, error)
    }

    pub(crate) fn append(&mut self, record: &R) -> Result<u64, JournalError> {
        let json = serde_json::to_vec(record).map_err(io::Error::from);
        json.and_then(|json| self.write(&json)).map_err(|error| self.error(error))
    }

    fn write(&mut self, json: &[u8]) -> io::Result<u64> {
        let (line, place) = ([sum_of(json).as_bytes(), json, b"\n"].concat(), self.end);
        if let Err(error) = self.file.write_all(&line) {
            // If truncating the file also fails, the next run removes the incomplete line.
            let _ = platform::set_len(&self.file, self.end);
            return Err(error);
        }
        self.end += line.len() as u64;
        if self.synced.elapsed() >= SYNC_EVERY {
            self.file.sync_data()?;
            self.synced = Instant::now();
        }
        Ok(place)
    }

    pub(crate) fn sync(&self) -> Result<(), JournalError> {
        self.file.sync_data().map_err(|error| self.error(error))
    }

    pub(crate) fn read_at(&mut self, place: u64) -> io::Result<R> {
        let mut line = Vec::new();
        self.file.seek(SeekFrom::Start(place))?;
        BufReader::new(&self.file).read_until(b'\n', &mut line)?;
        parse(&line).ok_or(ErrorKind::InvalidData.into())
    }

    /// Removes the file. Call this method only after the records have been stored elsewhere.
    pub(crate) fn remove(self) -> Result<(), JournalError> {
        std::fs::remove_file(&self.path).map_err(|error| {
            let why = describe(&error);
            self.error(io::Error::other(format!(
                "its work is complete, but it cannot be removed: {why}; remove it"
            )))
        })
    }
}

fn warn_of_damage(path: &Path, line: u64) {
    log::warn!("{}, line {line}: it is damaged and has been skipped", path.display());
}

/// Returns the 1-based number of the line that begins at `offset`.
fn line_number(path: &Path, offset: u64) -> io::Result<u64> {
    let before = BufReader::new(open_plain(path)?).take(offset);
    before.split(b'\n').try_fold(1, |number, line| line.map(|_| number + 1))
}

fn sum_of(json: &[u8]) -> String {
    format!("{:08x} ", crc32fast::hash(json))
}

fn parse<R: DeserializeOwned>(line: &[u8]) -> Option<R> {
    let (sum, json) = line.strip_suffix(b"\n")?.split_at_checked(SUM_CHARS)?;
    if sum == sum_of(json).as_bytes() { serde_json::from_slice(json).ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    static KIND: Kind = Kind { magic: "tabia test 2; ", name: "the test file" };

    fn open(path: &Path, owner: &str) -> Result<(Journal<String>, Vec<String>), JournalError> {
        let mut records = Vec::new();
        let journal = Journal::open(path, &KIND, owner, |record, _| records.push(record))?;
        Ok((journal, records))
    }

    #[test]
    fn all_other_records_survive_torn_and_damaged_ones() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("x");
        let (mut journal, records) = open(&path, "a\nb").expect("new");
        assert_eq!(records, [""; 0]);
        let all = ["one", "two\n", "three"].map(str::to_owned);
        let places = all.each_ref().map(|record| journal.append(record).expect("written"));
        for (place, record) in places.into_iter().zip(&all).rev() {
            assert_eq!(journal.read_at(place).expect("there"), *record);
        }
        drop(journal);
        let whole = std::fs::read(&path).expect("there");
        for cut in 0..whole.len() {
            std::fs::write(&path, &whole[..cut]).expect("written");
            let (mut journal, records) = open(&path, "a\nb").expect("torn");
            let lines = whole[..cut].iter().filter(|&&byte| byte == b'\n').count();
            assert_eq!(records, all[..lines.saturating_sub(1)], "{cut} bytes");
            journal.append(&"more".to_owned()).expect("written");
            drop(journal);
            let (_, mended) = open(&path, "a\nb").expect("mended");
            assert_eq!(mended, [&records[..], &["more".to_owned()]].concat(), "{cut} bytes");
        }
        for place in places[1] as usize..places[2] as usize - 1 {
            let mut damaged = whole.clone();
            damaged[place] ^= 1;
            std::fs::write(&path, &damaged).expect("written");
            let (journal, records) = open(&path, "a\nb").expect("damaged");
            assert_eq!(journal.damaged(), [places[1]]);
            assert_eq!(line_number(&path, places[1]).expect("readable"), 3);
            assert_eq!(records, ["one", "three"], "{place}");
        }
    }

    #[test]
    fn a_growing_journal_is_read_without_changing_it() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("x");
        let (mut journal, _) = open(&path, "a\nb").expect("new");
        let all = ["one", "two\n", "three"].map(str::to_owned);
        let places = all.each_ref().map(|record| journal.append(record).expect("written"));
        drop(journal);
        let whole = std::fs::read(&path).expect("there");
        std::fs::write(&path, &whole[..places[0] as usize - 1]).expect("written");
        assert_eq!(KIND.owner(&path).expect("readable"), None);
        let mut records = Vec::new();
        let mut at = places[0];
        for cut in places[0] as usize..=whole.len() {
            std::fs::write(&path, &whole[..cut]).expect("written");
            assert_eq!(KIND.owner(&path).expect("read"), Some(("a; b".to_owned(), places[0])));
            let end = KIND.follow(&path, at, |record: String| records.push(record));
            at = end.expect("read").expect("not shorter");
            assert_eq!(std::fs::read(&path).expect("there"), &whole[..cut]);
        }
        assert_eq!((&records[..], at), (&all[..], whole.len() as u64));
        let mut damaged = whole.clone();
        damaged[places[1] as usize + 12] ^= 1;
        for (content, from, expected, end) in [
            (&damaged, places[0], ["one", "three"], places[1]),
            (&whole, places[1], ["two\n", "three"], at),
        ] {
            std::fs::write(&path, content).expect("written");
            let mut records = Vec::new();
            let found = KIND.follow(&path, from, |record: String| records.push(record));
            assert_eq!(
                (found.expect("read"), records),
                (Some(end), expected.map(str::to_owned).to_vec())
            );
        }
        std::fs::write(&path, &whole[..places[2] as usize]).expect("written");
        assert_eq!(KIND.follow(&path, at, |_: String| ()).expect("read"), None);
    }

    #[test]
    fn a_journal_has_one_writer_and_can_be_removed() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("x");
        let (journal, _) = open(&path, "a").expect("new");
        let busy = open(&path, "a").expect_err("in use").to_string();
        assert!(busy.starts_with("cannot use the test file ") && busy.contains("another program"));
        journal.remove().expect("removed");
        assert!(!path.exists());
        let nowhere = open(&dir.path().join("none/x"), "a").expect_err("no folder").to_string();
        assert!(nowhere.contains("none/x: it does not exist"), "{nowhere}");
    }

    #[test]
    fn other_files_are_refused_and_unchanged() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("x");
        for (text, reason) in [
            ("a letter", "begins with \"a letter\"; move it"),
            ("tabia testing\n", "begins with \"tabia testing\""),
            ("tabia test 1; a; b\nx", "begins with \"tabia test 1; a; b\""),
            ("tabia test 2; a; c\nx\n", "other settings: it was \"c\", and is \"b\" now"),
            ("tabia test 2; a\nx\n", "it was \"nothing\", and is \"b\" now"),
            ("tabia test 2; a; b; c", "it was \"c\", and is \"nothing\" now"),
        ] {
            std::fs::write(&path, text).expect("written");
            let error = open(&path, "a\nb").expect_err("refused").to_string();
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
        assert!(matches!(fault("a"), Fault::Io(error) if error.kind() == ErrorKind::NotFound));
        KIND.save(&path, "b", b"old").expect("written");
        KIND.save(&path, "a", b"content\n").expect("replaced");
        assert_eq!(load("a").expect("there"), b"content\n");
        assert!(matches!(fault("b"), Fault::Other(_)));
        let whole = std::fs::read(&path).expect("there");
        for place in 0..whole.len() {
            std::fs::write(&path, &whole[..place]).expect("written");
            load("a").expect_err("torn");
            let mut damaged = whole.clone();
            damaged[place] ^= 1;
            std::fs::write(&path, &damaged).expect("written");
            load("a").expect_err("damaged");
        }
        std::fs::write(&path, "tabia test 1; a\n").expect("written");
        assert!(matches!(fault("a"), Fault::Foreign(_)));
    }
}
