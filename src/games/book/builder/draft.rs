//! The unfinished book of a long build, stored in a file in the checkpoint folder.
//!
//! An interrupted build can resume writing. At intervals, the draft is synced, and its length and
//! checksum are recorded in a note next to it. A build that resumes writing first truncates the
//! draft to the recorded length. If the draft or the note is damaged, the book is written from
//! scratch. Both files are named after the last stage before writing began, so drafts from other
//! stages are never used.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Cursor, Read, Seek, Write};
use std::path::Path;
use std::time::Instant;

use serde::{Deserialize, Serialize};

use super::BuildOptions;
use super::checkpoint::CheckpointWriter;
use crate::games::book::format::writer::{BookWriter, EntriesSoFar};
use crate::support::files::{Kind, NewFile, sync_name};

/// A destination to which a build can write its book.
pub trait BookOutput: Read + Write + Seek + Sized {
    /// Replaces this output, which must be empty, with the file at `path`. The file is moved or
    /// copied.
    ///
    /// # Errors
    /// If the file can be neither moved nor copied.
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

static NOTE_KIND: Kind = Kind { magic: "tabia book draft 1; ", name: "the note of the draft" };

#[derive(Debug, Default, Serialize, Deserialize)]
struct Written {
    parts: usize,
    entries: EntriesSoFar,
}

pub(super) struct BookDraft<'k, 'a> {
    checkpointer: &'k mut CheckpointWriter<'a>,
    /// A description of the book: the pruning options and the total number of parts.
    book: String,
    written: Written,
}

impl<'k, 'a> BookDraft<'k, 'a> {
    /// Opens the existing draft if its options and number of parts match. Otherwise, creates a new
    /// draft.
    pub(super) fn begin(
        checkpointer: &'k mut CheckpointWriter<'a>,
        options: &BuildOptions,
        all: usize,
    ) -> io::Result<(Self, BookWriter<'static, File>)> {
        let BuildOptions { min_games, min_score, .. } = *options;
        let book = format!("min games {min_games}; min score {min_score}; {all} parts");
        let path = checkpointer.draft();
        if let Some(written) = read_note(checkpointer, &book)
            && let Ok(file) = OpenOptions::new().read(true).write(true).open(&path)
            && let Some(writer) = BookWriter::resume(file, &written.entries)?
        {
            return Ok((BookDraft { checkpointer, book, written }, writer));
        }
        // Remove the old note before changing the draft, because it might happen to match the new
        // draft.
        remove_note(checkpointer)?;
        let mut options = OpenOptions::new();
        let file = options.read(true).write(true).create(true).truncate(true).open(&path)?;
        let written = Written::default();
        Ok((BookDraft { checkpointer, book, written }, BookWriter::new(file)?))
    }

    pub(super) fn parts(&self) -> usize {
        self.written.parts
    }

    pub(super) fn keep_if_due(
        &mut self,
        writer: &BookWriter<'_, File>,
        parts: usize,
    ) -> io::Result<()> {
        if Instant::now() < self.checkpointer.due() {
            return Ok(());
        }
        let begin = Instant::now();
        // Sync the draft before writing the note, because the note must not describe data that is
        // not yet on the disk.
        writer.output().sync_data()?;
        self.written.parts = parts;
        self.written.entries = writer.entries_so_far();
        let written = serde_json::to_vec(&self.written)?;
        NOTE_KIND.save(&self.checkpointer.note(), &self.book, &written)?;
        self.checkpointer.put_off(begin.elapsed());
        Ok(())
    }

    pub(super) fn commit(self, book: &File, output: &mut impl BookOutput) -> io::Result<()> {
        // Sync the draft before moving it, so that the next build finds the draft if this one is
        // killed.
        book.sync_all()?;
        output.take_over(&self.checkpointer.draft())
    }
}

/// Reads the note left behind by an interrupted build. Returns `None` if there is no valid note.
fn read_note(checkpointer: &CheckpointWriter<'_>, book: &str) -> Option<Written> {
    serde_json::from_slice(&NOTE_KIND.load(&checkpointer.note(), book).ok()?).ok()
}

fn remove_note(checkpointer: &CheckpointWriter<'_>) -> io::Result<()> {
    match fs::remove_file(checkpointer.note()) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => sync_name(&checkpointer.note()),
    }
}
