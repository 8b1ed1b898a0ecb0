//! Keeps the results of a match: PGN, state, standings.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::record::GameRecord;
use super::schedule::Slot;
use super::state::{FinishedGame, State, StateError, remaining};
use super::tournament::Standings;

/// Where results go.
#[derive(Debug, Clone, Default)]
pub struct Places {
    /// The games as PGN, added to what is there.
    pub pgn: Option<PathBuf>,
    /// The state to resume from.
    pub state: Option<PathBuf>,
    /// Whether to go on from the state.
    pub resume: bool,
    /// Whether all games are kept in memory for a report.
    pub keep: bool,
    /// The tag `Event`.
    pub event: String,
}

/// Why results cannot be kept.
#[derive(Debug, Error)]
pub enum LedgerError {
    /// The PGN file cannot be written.
    #[error("cannot write {}: {cause}", path.display())]
    Pgn {
        /// The file.
        path: PathBuf,
        /// Why.
        cause: io::Error,
    },
    /// The state file cannot be used.
    #[error(transparent)]
    State(#[from] StateError),
}

/// The results of a match, in memory and on disk.
#[derive(Debug)]
pub struct Ledger {
    pgn: Option<(PathBuf, File, u64)>,
    state: Option<State>,
    event: String,
    keep: bool,
    /// The results so far.
    pub standings: Standings,
    /// All games, if they are kept.
    pub games: Vec<FinishedGame>,
    /// How many games are finished.
    pub finished: usize,
}

impl Ledger {
    /// Opens the files, and takes finished games over when resuming. Returns the games that are
    /// still to be played, too.
    ///
    /// # Errors
    /// If a file cannot be used, or the state is of another match. `settings` tells them apart.
    pub fn open(
        places: &Places,
        slots: &[Slot],
        settings: &str,
    ) -> Result<(Self, Vec<Slot>), LedgerError> {
        let (state, games) = match &places.state {
            None => (None, Vec::new()),
            Some(path) if places.resume => {
                let (state, games) = State::resume(path, settings)?;
                (Some(state), games)
            }
            Some(path) => (Some(State::create(path, settings)?), Vec::new()),
        };
        let pgn = places.pgn.as_deref().map(|path| open_pgn(path, games.last())).transpose()?;
        let left = remaining(slots, &games);
        let mut ledger = Ledger {
            pgn,
            state,
            event: places.event.clone(),
            keep: places.keep,
            standings: Standings::default(),
            games: Vec::new(),
            finished: games.len(),
        };
        for game in games {
            if let Some(slot) = slots.iter().find(|slot| slot.number == game.number) {
                ledger.standings.add(slot, &game.verdict());
            }
            if ledger.keep {
                ledger.games.push(game);
            }
        }
        Ok((ledger, left))
    }

    /// Writes a finished game down: PGN first, then the state.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn add(&mut self, slot: &Slot, record: &GameRecord) -> Result<(), LedgerError> {
        self.finished += 1;
        self.standings.add(slot, &record.verdict);
        let mut length = 0;
        if let Some((path, file, written)) = &mut self.pgn {
            let text = record.pgn(&self.event);
            file.write_all(text.as_bytes())
                .map_err(|cause| LedgerError::Pgn { path: path.clone(), cause })?;
            *written += text.len() as u64;
            length = *written;
        }
        if self.state.is_none() && !self.keep {
            return Ok(());
        }
        let game = FinishedGame::new(record, length);
        if let Some(state) = &mut self.state {
            state.add(&game)?;
        }
        if self.keep {
            self.games.push(game);
        }
        Ok(())
    }

    /// Removes the state: the match is over.
    ///
    /// # Errors
    /// If the file cannot be removed.
    pub fn close(&mut self) -> Result<(), LedgerError> {
        self.state.take().map_or(Ok(()), State::remove).map_err(LedgerError::from)
    }
}

/// Opens the PGN file at its end, or cuts it after the last game that the state knows.
fn open_pgn(path: &Path, last: Option<&FinishedGame>) -> Result<(PathBuf, File, u64), LedgerError> {
    let fail = |cause| LedgerError::Pgn { path: path.to_owned(), cause };
    let file = OpenOptions::new().create(true).append(true).open(path).map_err(fail)?;
    let mut length = file.metadata().map_err(fail)?.len();
    if let Some(game) = last.filter(|game| game.pgn_length < length) {
        file.set_len(game.pgn_length).map_err(fail)?;
        length = game.pgn_length;
    }
    Ok((path.to_owned(), file, length))
}
