//! Stores the progress of a long build in a folder next to the book, so that the build can be
//! resumed after a crash.
//!
//! A checkpoint marks the end of a stage: all threads have finished their chunks, and their records
//! have been written as a sorted run. The state file lists the runs and records how much of the
//! inputs has been read. It is written last and replaces the previous state file atomically. If a
//! build is killed, the next build removes any files that the state file does not list. All files
//! are verified by checksum before use.
//!
//! A stage reads at least one chunk, and at least 1/32 as much text as all earlier stages together.
//! This keeps the number of runs small even if the interval between checkpoints is short. Chunk
//! boundaries depend only on the text, so a resumed build splits the text into the same chunks. To
//! detect changes, a resumed build also compares a hash of the text.
//!
//! After the last stage, the book is written to a file in the checkpoint folder (see `draft`), so
//! that a resumed build can continue writing it. This is not possible with facets, because the
//! lists of games are buffered in an unnamed file. If a build with facets is interrupted while it
//! writes the book, the next build writes the book from scratch.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fmt::Display;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::PathBuf;
use std::sync::PoisonError;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::checkpoint_file::CheckpointFile;
use super::counter::Shared;
use super::records::PositionRecord;
use super::store::{Collected, Disk};
use super::tally::TallySoFar;
use super::{BuildError, BuildOptions, Gathered, Monitor};
use crate::games::book::facets::GameLog;
use crate::games::book::format::pawn_filter::PawnSet;
use crate::games::pgn::{Chunks, PgnInput, ReadSoFar};
use crate::support::files::{Fault, Kind, describe, is_draft, open_locked, read_folder, sync_name};

const STATE: &str = "state.json";
static STATE_KIND: Kind = Kind { magic: "tabia build 2; ", name: "the state" };
const LOCK: &str = "lock";
/// Name prefixes of the other checkpoint files, in the order of the constants: the pawn structures
/// of all games, sorted records, the games that the records refer to, hashes of games, the book,
/// and the note that records how much of the book has been written.
const PAWNS: &str = "pawns";
const RUN: &str = "run";
const GAMES: &str = "games";
const HASHES: &str = "hashes";
const BOOK: &str = "book";
const WRITTEN: &str = "written";

/// Settings for the checkpoints of a build.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkpoints {
    /// The checkpoint folder, which is removed once the book is complete.
    pub folder: PathBuf,
    /// The interval between checkpoints. If it is zero, checkpoints are written as often as
    /// possible.
    pub every: Duration,
    /// The maximum disk space for checkpoints, in bytes.
    pub disk: Option<u64>,
    /// Whether to discard earlier checkpoints.
    pub afresh: bool,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct State {
    place: ReadSoFar,
    tally: TallySoFar,
    stage: u64,
    runs: Vec<RunFile>,
    pawns: CheckpointFile,
    faults: Vec<String>,
    games: Option<CheckpointFile>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct RunFile {
    records: CheckpointFile,
    log: Option<CheckpointFile>,
}

pub(super) struct CheckpointWriter<'a> {
    wanted: &'a Checkpoints,
    build: String,
    state: State,
    due: Instant,
    known: usize,
    /// The lock file that keeps other builds out of the folder. Locked as soon as the folder
    /// exists.
    lock: Option<File>,
}

type Begun<'a, R> = (CheckpointWriter<'a>, Option<ResumePoint<R>>);

pub(super) struct ResumePoint<R> {
    pub(super) gathered: Gathered<R>,
    pub(super) tally: TallySoFar,
    pub(super) place: ReadSoFar,
    pub(super) faults: Vec<String>,
}

impl<'a> CheckpointWriter<'a> {
    pub(super) fn begin<R: PositionRecord>(
        inputs: &[PgnInput],
        shared: &Shared<'a>,
    ) -> Result<Option<Begun<'a, R>>, BuildError> {
        let Some(wanted) = &shared.options.checkpoints else { return Ok(None) };
        let build = description(inputs, shared.options);
        let due = Instant::now() + wanted.every;
        let state = State::default();
        let mut checkpointer = CheckpointWriter { wanted, build, state, due, known: 0, lock: None };
        if wanted.folder.is_dir() {
            // Take the lock first, so that the files of a running build are not deleted.
            checkpointer.lock()?;
            if wanted.afresh {
                wanted.forget()?;
                checkpointer.lock = None;
            }
        }
        let Some(state) = checkpointer.read_state()? else { return Ok(Some((checkpointer, None))) };
        checkpointer.state = state;
        let beginning =
            checkpointer.load(shared).map_err(|error| checkpointer.damaged(describe(&error)))?;
        Ok(Some((checkpointer, Some(beginning))))
    }

    fn lock(&mut self) -> Result<(), BuildError> {
        if self.lock.is_none() {
            let lock = open_locked(&self.path(LOCK), true)
                .map_err(|error| self.damaged(describe(&error)))?;
            self.lock = Some(lock);
        }
        Ok(())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.wanted.folder.join(name)
    }

    fn damaged(&self, reason: impl Display) -> BuildError {
        let folder = self.wanted.folder.display().to_string();
        BuildError::Checkpoint { folder, reason: reason.to_string() }
    }

    fn read_state(&self) -> Result<Option<State>, BuildError> {
        match STATE_KIND.load(&self.path(STATE), &self.build).map_err(|error| error.fault) {
            Err(Fault::Io(error)) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(fault) => Err(self.damaged(format_args!("{STATE}: {fault}"))),
            Ok(content) => serde_json::from_slice(&content).map_err(|error| self.damaged(error)),
        }
    }

    fn load<R: PositionRecord>(&mut self, shared: &Shared<'_>) -> io::Result<ResumePoint<R>> {
        let folder = &self.wanted.folder;
        let mut gathered = Gathered::default();
        for RunFile { records, log } in &self.state.runs {
            let mut games = 0;
            if let Some(file) = log {
                let log = GameLog::from_bytes(&file.read(folder)?).ok_or_else(|| file.damaged())?;
                games = log.games();
                gathered.logs.push(log);
            }
            let file = records.open(folder)?;
            gathered.collected.push(Collected::open(file, games, &shared.disk)?);
        }
        let pawns = &self.state.pawns;
        let set = PawnSet::from_bytes(&pawns.read(folder)?);
        gathered.pawns = set.ok_or_else(|| pawns.damaged())?;
        if let (Some(games), Some(file)) = (&shared.games, &self.state.games) {
            let bytes = file.read(folder)?;
            let mut games = games.lock().unwrap_or_else(PoisonError::into_inner);
            games.extend(bytes.as_chunks().0.iter().map(|hash| u64::from_le_bytes(*hash)));
            self.known = games.len();
        }
        let State { tally, place, faults, .. } = &self.state;
        let (tally, place, faults) = (tally.clone(), *place, faults.clone());
        Ok(ResumePoint { gathered, tally, place, faults })
    }

    fn named(&self, what: &str) -> String {
        format!("{what}-{}", self.state.stage)
    }

    pub(super) fn due(&self) -> Instant {
        self.due
    }

    /// Schedules the next checkpoint after the configured interval, or immediately if the interval
    /// is zero. If the previous checkpoint took longer than that (`last`), the next one is delayed
    /// by `last` instead, so that checkpoints never take more time than the work itself.
    pub(super) fn put_off(&mut self, last: Duration) {
        let every = self.wanted.every;
        self.due = Instant::now() + if every.is_zero() { every } else { every.max(last) };
    }

    pub(super) fn has_any(&self) -> bool {
        self.state.stage > 0
    }

    /// Whether to write a checkpoint at the end of this stage. A build with a single stage writes
    /// none if it reads all games within half of the interval: writing the book takes less time
    /// than reading the games, so the book will be complete before a checkpoint would be due.
    pub(super) fn is_worth_keeping(&self, place: &ReadSoFar, is_last: bool) -> bool {
        let left = self.due.saturating_duration_since(Instant::now());
        let is_long = self.has_any() || !is_last || left <= self.wanted.every / 2;
        is_long && self.state.place != *place
    }

    pub(super) fn draft(&self) -> PathBuf {
        self.path(&self.named(BOOK))
    }

    pub(super) fn note(&self) -> PathBuf {
        self.path(&self.named(WRITTEN))
    }

    /// Writes a checkpoint: the records of a stage and the input offset that it reached. Frees the
    /// memory of the records. If writing fails, the previous checkpoint remains valid.
    pub(super) fn keep<R: PositionRecord>(
        &mut self,
        stage: Gathered<R>,
        pawns: &PawnSet,
        progress: (ReadSoFar, &TallySoFar, Vec<String>),
        shared: &Shared<'_>,
    ) -> Result<Gathered<R>, BuildError> {
        fs::create_dir_all(&self.wanted.folder)?;
        self.lock()?;
        self.state.stage += 1;
        let mut kept = Gathered::default();
        if R::JOINS {
            kept.collected.push(self.keep_run(&stage.collected, None, &shared.disk)?);
        } else {
            for (part, log) in stage.collected.chunks(1).zip(&stage.logs) {
                kept.collected.push(self.keep_run(part, Some(log), &shared.disk)?);
            }
            kept.logs = stage.logs;
        }
        Collected::give_back(&stage.collected, &shared.disk);
        drop(stage.collected);
        let folder = &self.wanted.folder;
        self.state.pawns = CheckpointFile::write(folder, self.named(PAWNS), &pawns.to_bytes())?;
        self.keep_games(shared)?;
        let (place, tally, faults) = progress;
        (self.state.place, self.state.tally) = (place, tally.clone());
        self.state.faults.extend(faults);
        let state = serde_json::to_vec(&self.state).map_err(io::Error::other)?;
        STATE_KIND.save(&self.path(STATE), &self.build, &state)?;
        self.remove_unreferenced()?;
        Ok(kept)
    }

    fn keep_run<R: PositionRecord>(
        &mut self,
        parts: &[Collected<R>],
        log: Option<&GameLog>,
        disk: &Disk,
    ) -> Result<Collected<R>, BuildError> {
        let name = self.named(&format!("{RUN}-{}", self.state.runs.len()));
        let path = self.path(&name);
        let file =
            OpenOptions::new().read(true).write(true).create(true).truncate(true).open(&path)?;
        let (run, sum) = Collected::keep(parts, file, disk)?;
        let log = match log {
            None => None,
            Some(log) => {
                let name = self.named(&format!("{GAMES}-{}", self.state.runs.len()));
                Some(CheckpointFile::write(&self.wanted.folder, name, &log.to_bytes())?)
            }
        };
        self.state.runs.push(RunFile { records: CheckpointFile { name, sum }, log });
        Ok(run)
    }

    fn keep_games(&mut self, shared: &Shared<'_>) -> io::Result<()> {
        let Some(games) = &shared.games else { return Ok(()) };
        let games = games.lock().unwrap_or_else(PoisonError::into_inner);
        if games.len() == self.known {
            return Ok(());
        }
        // The set is unordered, so the hashes added since the last checkpoint cannot simply be
        // appended to the file. All hashes are rewritten, at eight bytes per game.
        let bytes: Vec<u8> = games.iter().flat_map(|hash| hash.to_le_bytes()).collect();
        let file = CheckpointFile::write(&self.wanted.folder, self.named(HASHES), &bytes)?;
        self.state.games = Some(file);
        self.known = games.len();
        Ok(())
    }

    fn remove_unreferenced(&self) -> io::Result<()> {
        let State { runs, games, pawns, .. } = &self.state;
        let kept = runs.iter().flat_map(|run| [Some(&run.records), run.log.as_ref()]);
        let kept = kept.chain([games.as_ref(), Some(pawns)]).flatten().map(|file| &file.name[..]);
        let named: BTreeSet<&str> = kept.chain([STATE, LOCK]).collect();
        for entry in read_folder(&self.wanted.folder)? {
            let entry = entry?;
            let name = entry.file_name();
            if is_ours(&name) && name.to_str().is_none_or(|name| !named.contains(name)) {
                fs::remove_file(entry.path())?;
            }
        }
        Ok(())
    }

    /// Skips the input that the interrupted build has already read, and repeats the reports of
    /// errors in that part. Fails if the input has changed.
    pub(super) fn resume<R>(
        &mut self,
        beginning: &ResumePoint<R>,
        inputs: &[PgnInput],
        chunks: &mut Chunks,
        monitor: &Monitor,
    ) -> Result<(), BuildError> {
        let total = &beginning.tally.total;
        let games = total.games.total() + total.skipped.total();
        monitor.games.store(games, Relaxed);
        monitor.resumed.store(games, Relaxed);
        if !chunks.go_to(&beginning.place) {
            let reason = match inputs.get(beginning.place.next.input) {
                Some(PgnInput::Stdin) => {
                    "standard input must be fed the same games again, from its beginning"
                }
                _ => "the games are no longer what they were",
            };
            return Err(self.damaged(reason));
        }
        if let Some(listener) = &monitor.faults {
            beginning.faults.iter().for_each(|fault| listener.on_fault(fault));
        }
        self.put_off(Duration::ZERO);
        Ok(())
    }
}

impl Checkpoints {
    /// Removes the checkpoints, which are not needed once the book is complete.
    ///
    /// # Errors
    /// If the checkpoints cannot be removed.
    pub fn forget(&self) -> io::Result<()> {
        let entries = match read_folder(&self.folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            entries => entries?,
        };
        // Remove the state file first, so that the remaining files are ignored if the removal is
        // interrupted.
        match fs::remove_file(self.folder.join(STATE)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => sync_name(&self.folder.join(STATE))?,
        }
        for entry in entries {
            let entry = entry?;
            let name = entry.file_name();
            if is_ours(&name) && name != STATE {
                fs::remove_file(entry.path())?;
            }
        }
        // Keep the folder if it also contains other files.
        match fs::remove_dir(&self.folder) {
            Err(error) if error.kind() != io::ErrorKind::DirectoryNotEmpty => Err(error),
            _ => Ok(()),
        }
    }
}

/// Whether a build may have created a file of this name, complete or partial.
fn is_ours(name: &OsStr) -> bool {
    let kinds = [PAWNS, RUN, GAMES, HASHES, BOOK, WRITTEN];
    let of_kind = |name: &str| kinds.iter().any(|kind| name.starts_with(&format!("{kind}-")));
    let is_named = |name: &str| name == STATE || name == LOCK || of_kind(name);
    is_draft(name) || name.to_str().is_some_and(is_named)
}

/// Writes arbitrary content to the state file of a build with these inputs and options.
#[cfg(any(fuzzing, test))]
pub(crate) fn save_state(
    folder: &std::path::Path,
    (inputs, options): (&[PgnInput], &BuildOptions),
    content: &[u8],
) -> Result<(), crate::support::files::FileError> {
    STATE_KIND.save(&folder.join(STATE), &description(inputs, options), content)
}

/// Describes the inputs and options. Builds with equal descriptions create the same book.
fn description(inputs: &[PgnInput], options: &BuildOptions) -> String {
    let BuildOptions { max_ply, undecided, filter, unique, language, side, facets, strict, .. } =
        options;
    let version = env!("CARGO_PKG_VERSION");
    let inputs = inputs.iter().map(|input| format!("; {:?} {:?}", input.name(), input.size()));
    format!(
        "version {version}; max ply {max_ply:?}; undecided {undecided}; filter {filter:?}; \
         unique {unique}; language {language:?}; side {side:?}; facets {facets}; strict {strict}{}",
        inputs.collect::<String>()
    )
}

#[cfg(test)]
mod tests;
