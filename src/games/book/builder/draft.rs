//! The book of a long build while it is written: a file among the checkpoints, so that the writing,
//! too, goes on where it was broken off.
//!
//! Now and then what is written is brought to the disk, and then a note beside it says how much
//! that is, and what its checksum is. Whatever stands behind that in the file is of a build that was
//! killed, and is cut off. If draft or note are damaged, the book is begun anew.
//! Draft and note are named after the stage at whose end the writing began, so those of another
//! stage are not found, and go with the next checkpoint.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Cursor, Read, Seek, Write};
use std::path::Path;
use std::time::Instant;

use serde::{Deserialize, Serialize};

use super::BuildOptions;
use super::checkpoint::CheckpointWriter;
use super::checkpoint_file::{with_checksum, without_checksum};
use crate::games::book::format::writer::{BookWriter, EntriesSoFar};
use crate::support::files::{NewFile, sync_name, write_whole};

/// Where a build writes a book.
pub trait BookOutput: Read + Write + Seek + Sized {
    /// Takes the whole file at `path`, which is this output's from now on, and may be gone from
    /// there afterwards. Nothing was written here before.
    ///
    /// # Errors
    /// If it can be neither moved nor copied.
    fn take_over(&mut self, path: &Path) -> io::Result<()> {
        io::copy(&mut File::open(path)?, self).map(drop)
    }
}

impl BookOutput for File {}
impl BookOutput for Cursor<Vec<u8>> {}

impl BookOutput for NewFile {
    fn take_over(&mut self, path: &Path) -> io::Result<()> {
        NewFile::take_over(self, path)
    }
}

/// How much of a book is written, and what it was made with.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Written {
    min_games: u64,
    min_score: u32,
    /// Into how many parts the keys are cut.
    all: usize,
    /// Parts whose entries are there.
    parts: usize,
    entries: EntriesSoFar,
}

/// A book that is written among the checkpoints.
pub(super) struct BookDraft<'k, 'a> {
    checkpointer: &'k mut CheckpointWriter<'a>,
    written: Written,
}

impl<'k, 'a> BookDraft<'k, 'a> {
    /// The draft that is there, if one was begun with these options in so many parts, or a new one.
    ///
    /// # Errors
    /// If the draft cannot be opened, or a new one cannot be made.
    pub(super) fn begin(
        checkpointer: &'k mut CheckpointWriter<'a>,
        options: &BuildOptions,
        all: usize,
    ) -> io::Result<(Self, BookWriter<'static, File>)> {
        let BuildOptions { min_games, min_score, .. } = *options;
        let new = Written { min_games, min_score, all, ..Written::default() };
        let path = checkpointer.draft();
        if let Some(written) =
            read_note(checkpointer).filter(|written| new.is_same_but_less(written))
            && let Ok(file) = OpenOptions::new().read(true).write(true).open(&path)
            && let Some(writer) = BookWriter::resume(file, &written.entries)?
        {
            return Ok((BookDraft { checkpointer, written }, writer));
        }
        // Before the draft changes: a note of what it was would soon seem true of it.
        remove_note(checkpointer)?;
        let mut options = OpenOptions::new();
        let file = options.read(true).write(true).create(true).truncate(true).open(&path)?;
        Ok((BookDraft { checkpointer, written: new }, BookWriter::new(file)?))
    }

    /// The parts that are written already.
    pub(super) fn parts(&self) -> usize {
        self.written.parts
    }

    /// Keeps so many parts, once it is time again.
    pub(super) fn keep_if_due(
        &mut self,
        writer: &BookWriter<'_, File>,
        parts: usize,
    ) -> io::Result<()> {
        if Instant::now() < self.checkpointer.due() {
            return Ok(());
        }
        let begin = Instant::now();
        // The note must not tell of what is not on the disk.
        writer.output().sync_data()?;
        self.written.parts = parts;
        self.written.entries = writer.entries_so_far();
        write_whole(&self.checkpointer.note(), &with_checksum(serde_json::to_vec(&self.written)?))?;
        self.checkpointer.put_off(begin.elapsed());
        Ok(())
    }

    /// Hands the whole book over.
    ///
    /// # Errors
    /// If it cannot be brought to the disk, or the output does not take it.
    pub(super) fn commit(self, book: &File, output: &mut impl BookOutput) -> io::Result<()> {
        // Here, where a build that is killed meanwhile finds it again.
        book.sync_all()?;
        output.take_over(&self.checkpointer.draft())
    }
}

impl Written {
    /// Whether more of the same is written in `other`.
    fn is_same_but_less(&self, other: &Written) -> bool {
        let Written { parts, entries, .. } = other.clone();
        *other == Written { parts, entries, ..self.clone() }
    }
}

/// What a build that was broken off has noted. Without it the book is written anew, so a note that
/// cannot be read is as good as none.
fn read_note(checkpointer: &CheckpointWriter<'_>) -> Option<Written> {
    serde_json::from_slice(without_checksum(&fs::read(checkpointer.note()).ok()?)?).ok()
}

fn remove_note(checkpointer: &CheckpointWriter<'_>) -> io::Result<()> {
    match fs::remove_file(checkpointer.note()) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => sync_name(&checkpointer.note()),
    }
}
