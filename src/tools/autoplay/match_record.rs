//! Stores the results of a match in a PGN file, a state file and the standings.
//!
//! ```
//! use tabia::autoplay::match_record::{MatchRecord, Places};
//! use tabia::autoplay::schedule::{Format, Schedule};
//!
//! let schedule =
//!     Schedule { engines: 2, format: Format::RoundRobin, games: 2, openings: 1, reversed: true };
//! // Results are kept only in memory, because no file is given.
//! let (record, remaining) = MatchRecord::open(&Places::default(), &schedule.slots(), "")?;
//! assert_eq!((record.scheduled, remaining.len()), (2, 2));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::path::{Path, PathBuf};

use super::error::MatchError;
use super::games::{GameText, GamesFile};
use super::record::GameRecord;
use super::schedule::Slot;
use super::state::{FinishedGame, StateFile, open_state, remaining};
use super::tournament::Standings;
pub use crate::support::files::JournalError;

use crate::support::files::{FileError, describe};

/// Settings that specify where the results of a match are stored.
#[derive(Debug, Clone, Default)]
pub struct Places {
    /// The PGN file to which games are appended.
    pub pgn: Option<PathBuf>,
    /// The state file, from which the match can be resumed.
    pub state: Option<PathBuf>,
    /// Whether to resume the match stored in the state file.
    pub resume: bool,
    /// Whether to keep all games in memory for a report.
    pub keep: bool,
    /// The value of the `Event` PGN tag.
    pub event: String,
}

/// The results of a match, in memory and on disk.
#[derive(Debug)]
pub struct MatchRecord {
    pgn: Option<(PathBuf, GamesFile)>,
    state: Option<StateFile>,
    keep: bool,
    /// The value of the `Event` PGN tag.
    pub event: String,
    /// The number of games in the whole match.
    pub scheduled: usize,
    /// The results of all games finished so far.
    pub standings: Standings,
    /// All finished games if [`Places::keep`] is set. Otherwise empty.
    pub games: Vec<FinishedGame>,
    /// The number of finished games.
    pub finished: usize,
}

impl MatchRecord {
    /// Opens the files and loads the games of a resumed match. Also returns the remaining games.
    ///
    /// # Errors
    /// If a file cannot be used, or if the state belongs to a match with different `settings`.
    pub fn open(
        places: &Places,
        slots: &[Slot],
        settings: &str,
    ) -> Result<(Self, Vec<Slot>), MatchError> {
        let (state, mut games) = match &places.state {
            None => (None, Vec::new()),
            Some(path) => {
                let (state, games) = open_state(path, settings, places.resume)?;
                (Some(state), games)
            }
        };
        let last = games.last_mut().and_then(|game| game.pgn.take());
        let pgn = places.pgn.as_deref().map(|path| open_pgn(path, last.as_ref())).transpose();
        let pgn = match (pgn, state.as_ref()) {
            (Err(error), Some(_)) if games.is_empty() => {
                // No game has been played, so the empty state file can be removed.
                state.map_or(Ok(()), StateFile::remove)?;
                return Err(error);
            }
            (pgn, _) => pgn?,
        };
        let left = remaining(slots, &games);
        let mut match_record = MatchRecord {
            pgn,
            state,
            keep: places.keep,
            event: places.event.clone(),
            scheduled: slots.len(),
            standings: Standings::default(),
            games: Vec::new(),
            finished: games.len(),
        };
        for game in games {
            if let Some(slot) = slots.iter().find(|slot| slot.number == game.number) {
                match_record.standings.add(slot, &game.verdict());
            }
            if match_record.keep {
                match_record.games.push(game);
            }
        }
        Ok((match_record, left))
    }

    /// Stores a finished game, first with all its data in the state file, then in the PGN file.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn add(&mut self, slot: &Slot, record: &GameRecord) -> Result<(), MatchError> {
        self.finished += 1;
        self.standings.add(slot, &record.verdict);
        let fail = |path: &Path| {
            let path = path.to_owned();
            move |error| MatchError::File(FileError::io("write", &path, &error))
        };
        let entry = match &self.pgn {
            Some((path, file)) => Some(file.entry(record.pgn(&self.event)).map_err(fail(path))?),
            None => None,
        };
        let mut game = FinishedGame::new(record, entry);
        if let Some(state) = &mut self.state {
            state.append(&game)?;
            state.sync()?;
        }
        if let (Some((path, file)), Some(entry)) = (&mut self.pgn, game.pgn.take()) {
            file.append(&entry).map_err(fail(path))?;
            file.sync().map_err(|error| {
                let rest = "it has the game, but a power cut may undo that";
                FileError::new("sync", path, format!("{}; {rest}", describe(&error)))
            })?;
        }
        if self.keep {
            self.games.push(game);
        }
        Ok(())
    }

    /// Removes the state file after the match.
    ///
    /// # Errors
    /// If the state file cannot be removed.
    pub fn close(&mut self) -> Result<(), MatchError> {
        self.state.take().map_or(Ok(()), StateFile::remove).map_err(MatchError::from)
    }
}

fn open_pgn(path: &Path, last: Option<&GameText>) -> Result<(PathBuf, GamesFile), MatchError> {
    let fail = |error| FileError::io("write", path, &error);
    let mut file = GamesFile::open(path).map_err(fail)?;
    if let Some(last) = last {
        file.settle(last).map_err(fail)?;
    }
    Ok((path.to_owned(), file))
}
