//! What a long build has done so far, kept on disk beside the book, so that it goes on from there
//! when it was killed.
//!
//! A checkpoint is the end of a stage: all threads have finished their chunks, and what they have
//! collected is written as a sorted run. The state names the runs and tells how far the inputs have
//! been read. It is written last and takes the place of the one before as a whole, so there always is one
//! that holds. What a build killed later has written besides is not named there, and goes. The state
//! has a checksum, and holds those of all other files; they are checked before anything is used.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::PathBuf;
use std::sync::PoisonError;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::checkpoint_file::{CheckpointFile, damaged, with_checksum, without_checksum};
use super::counter::Shared;
use super::records::PositionRecord;
use super::store::{Collected, Disk};
use super::tally::TallySoFar;
use super::{BuildError, BuildOptions, Gathered, Monitor};
use crate::games::book::facets::GameLog;
use crate::games::book::format::pawn_filter::PawnSet;
use crate::games::pgn::{Chunks, PgnInput, ReadSoFar};
use crate::support::files::{describe, is_draft, lock_shared, sync_name, write_whole};

/// The file that says what is there.
const STATE: &str = "state.json";
/// Keeps other builds out.
const LOCK: &str = "lock";
/// How the names of the other files begin: pawn structures of all games so far, sorted records, the
/// games that they number, hashes of games, the book itself and how much of it is written.
const PAWNS: &str = "pawns";
const RUN: &str = "run";
const GAMES: &str = "games";
const HASHES: &str = "hashes";
const BOOK: &str = "book";
const WRITTEN: &str = "written";

/// That a build keeps checkpoints.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkpoints {
    /// The folder that they are in, of which nothing is left once the book is there.
    pub folder: PathBuf,
    /// The time from one to the next; zero for as many as possible.
    pub every: Duration,
    /// Bytes that they may take on disk.
    pub disk: Option<u64>,
    /// What was kept before is thrown away.
    pub afresh: bool,
}

/// What a build has done.
#[derive(Debug, Default, Serialize, Deserialize)]
struct State {
    /// What the build is made of, and how.
    build: String,
    place: ReadSoFar,
    tally: TallySoFar,
    /// Files of this stage are named by it.
    stage: u64,
    runs: Vec<RunFile>,
    /// The pawn structures of all games so far.
    pawns: CheckpointFile,
    /// Faults, if somebody is told of them.
    faults: Vec<String>,
    /// The hashes of games, of books in which each counts once.
    games: Option<CheckpointFile>,
}

/// A run and the games that its records number.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct RunFile {
    records: CheckpointFile,
    log: Option<CheckpointFile>,
}

/// The checkpoints of a build that runs.
pub(super) struct CheckpointWriter<'a> {
    wanted: &'a Checkpoints,
    state: State,
    due: Instant,
    /// The hashes of games that are on disk.
    known: usize,
    /// Keeps others out, from the first checkpoint on.
    lock: Option<File>,
}

/// The checkpoints of a build, and what there is to go on from, if there is anything.
type Begun<'a, R> = (CheckpointWriter<'a>, Option<ResumePoint<R>>);

/// What there is to go on from.
pub(super) struct ResumePoint<R> {
    pub(super) gathered: Gathered<R>,
    pub(super) tally: TallySoFar,
    pub(super) place: ReadSoFar,
    pub(super) faults: Vec<String>,
}

impl<'a> CheckpointWriter<'a> {
    /// The checkpoints that these options ask for, with what there is to go on from.
    ///
    /// # Errors
    /// If what is there is of another build, or cannot be read.
    pub(super) fn begin<R: PositionRecord>(
        inputs: &[PgnInput],
        shared: &Shared<'a>,
    ) -> Result<Option<Begun<'a, R>>, BuildError> {
        let Some(wanted) = &shared.options.checkpoints else { return Ok(None) };
        let build = description(inputs, shared.options);
        let due = Instant::now() + wanted.every;
        let new = State { build: build.clone(), ..State::default() };
        let mut checkpointer = CheckpointWriter { wanted, state: new, due, known: 0, lock: None };
        if wanted.folder.is_dir() {
            // First of all: what another build is at work on is not thrown away.
            checkpointer.lock()?;
            if wanted.afresh {
                wanted.forget()?;
                checkpointer.lock = None;
            }
        }
        let Some(state) = checkpointer.read_state()? else { return Ok(Some((checkpointer, None))) };
        if state.build != build {
            return Err(BuildError::OtherBuild(wanted.folder.display().to_string()));
        }
        checkpointer.state = state;
        let beginning = checkpointer.load(shared).map_err(|error| checkpointer.damaged(&error))?;
        Ok(Some((checkpointer, Some(beginning))))
    }

    /// Sees to it that no other build uses the folder.
    fn lock(&mut self) -> Result<(), BuildError> {
        if self.lock.is_none() {
            let lock = lock_shared(&self.path(LOCK)).map_err(|error| self.damaged(&error))?;
            self.lock = Some(lock);
        }
        Ok(())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.wanted.folder.join(name)
    }

    fn damaged(&self, error: &io::Error) -> BuildError {
        let folder = self.wanted.folder.display().to_string();
        BuildError::Checkpoint { folder, reason: describe(error) }
    }

    fn read_state(&self) -> Result<Option<State>, BuildError> {
        let read = || match fs::read(self.path(STATE)) {
            Ok(bytes) => {
                let text = without_checksum(&bytes).ok_or_else(|| damaged(STATE))?;
                Ok(Some(serde_json::from_slice(text)?))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        };
        read().map_err(|error| self.damaged(&error))
    }

    /// Opens what the state names.
    fn load<R: PositionRecord>(&mut self, shared: &Shared<'_>) -> io::Result<ResumePoint<R>> {
        let folder = &self.wanted.folder;
        let mut gathered = Gathered::default();
        for RunFile { records, log } in &self.state.runs {
            gathered.collected.push(Collected::open(records.open(folder)?, &shared.disk)?);
            if let Some(file) = log {
                let log = GameLog::from_bytes(&file.read(folder)?);
                gathered.logs.push(log.ok_or_else(|| file.damaged())?);
            }
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

    /// What a file of the current stage is called.
    fn named(&self, what: &str) -> String {
        format!("{what}-{}", self.state.stage)
    }

    /// Whether a checkpoint is due.
    pub(super) fn due(&self) -> Instant {
        self.due
    }

    /// The next one is due when the usual time has passed from now, or as much as the last one took:
    /// no more time goes into checkpoints than into the work. Without an interval it is due at once.
    pub(super) fn put_off(&mut self, last: Duration) {
        let every = self.wanted.every;
        self.due = Instant::now() + if every.is_zero() { every } else { every.max(last) };
    }

    /// Whether there is one.
    pub(super) fn has_any(&self) -> bool {
        self.state.stage > 0
    }

    /// Whether a stage that ended here is worth keeping: something was read in it and, if it is the
    /// first and only one, the book could still be written when a checkpoint is due. That takes less
    /// time than the reading.
    pub(super) fn is_worth_keeping(&self, place: &ReadSoFar, is_last: bool) -> bool {
        let left = self.due.saturating_duration_since(Instant::now());
        let is_long = self.has_any() || !is_last || left <= self.wanted.every / 2;
        is_long && self.state.place != *place
    }

    /// The book that is written once all games are read.
    pub(super) fn draft(&self) -> PathBuf {
        self.path(&self.named(BOOK))
    }

    /// How much of it is written.
    pub(super) fn note(&self) -> PathBuf {
        self.path(&self.named(WRITTEN))
    }

    /// Keeps what a stage has gathered, of which only what is on disk is left, and where it ended.
    ///
    /// # Errors
    /// If it cannot be written, or takes more room than it may; the checkpoint before it holds.
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
        write_whole(&self.path(STATE), &with_checksum(state))?;
        self.remove_unreferenced()?;
        Ok(kept)
    }

    /// Keeps records as one run, and the games that they number.
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

    /// Keeps the hashes of games that are not on disk yet.
    fn keep_games(&mut self, shared: &Shared<'_>) -> io::Result<()> {
        let Some(games) = &shared.games else { return Ok(()) };
        let games = games.lock().unwrap_or_else(PoisonError::into_inner);
        if games.len() == self.known {
            return Ok(());
        }
        // A set has no order, so all of them are written again: eight bytes a game.
        let bytes: Vec<u8> = games.iter().flat_map(|hash| hash.to_le_bytes()).collect();
        let file = CheckpointFile::write(&self.wanted.folder, self.named(HASHES), &bytes)?;
        self.state.games = Some(file);
        self.known = games.len();
        Ok(())
    }

    /// Removes the files that the state does not name.
    fn remove_unreferenced(&self) -> io::Result<()> {
        let State { runs, games, pawns, .. } = &self.state;
        let kept = runs.iter().flat_map(|run| [Some(&run.records), run.log.as_ref()]);
        let kept = kept.chain([games.as_ref(), Some(pawns)]).flatten().map(|file| &file.name[..]);
        let named: BTreeSet<&str> = kept.chain([STATE, LOCK]).collect();
        for entry in self.wanted.folder.read_dir()? {
            let entry = entry?;
            let name = entry.file_name();
            if is_ours(&name) && name.to_str().is_none_or(|name| !named.contains(name)) {
                fs::remove_file(entry.path())?;
            }
        }
        Ok(())
    }

    /// Passes over what was read before, and tells what was told.
    ///
    /// # Errors
    /// If that is no longer there as it was.
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
            return Err(self.damaged(&io::Error::other(reason)));
        }
        if let Some(listener) = &monitor.faults {
            beginning.faults.iter().for_each(|fault| listener.on_fault(fault));
        }
        self.put_off(Duration::ZERO);
        Ok(())
    }
}

impl Checkpoints {
    /// Removes what a build has kept, once the book is there.
    ///
    /// # Errors
    /// If it cannot be removed.
    pub fn forget(&self) -> io::Result<()> {
        let entries = match self.folder.read_dir() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            entries => entries?,
        };
        // Without it the rest is nothing, whenever this is broken off.
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
        // With files of others in it, it stays.
        match fs::remove_dir(&self.folder) {
            Err(error) if error.kind() != io::ErrorKind::DirectoryNotEmpty => Err(error),
            _ => Ok(()),
        }
    }
}

/// Whether a file of the folder is one that a build has made, or was about to when it was killed.
fn is_ours(name: &OsStr) -> bool {
    let kinds = [PAWNS, RUN, GAMES, HASHES, BOOK, WRITTEN];
    let of_kind = |name: &str| kinds.iter().any(|kind| name.starts_with(&format!("{kind}-")));
    let is_named = |name: &str| name == STATE || name == LOCK || of_kind(name);
    is_draft(name) || name.to_str().is_some_and(is_named)
}

/// What a build is made of, and how: two that are alike make the same book.
fn description(inputs: &[PgnInput], options: &BuildOptions) -> String {
    let BuildOptions { max_ply, undecided, filter, unique, language, side, facets, strict, .. } =
        options;
    let inputs: Vec<_> = inputs.iter().map(|input| (input.name(), input.size())).collect();
    let how = (max_ply, undecided, filter, unique, language, side, facets, strict);
    format!("{} {how:?} {inputs:?}", env!("CARGO_PKG_VERSION"))
}

#[cfg(test)]
mod tests;
