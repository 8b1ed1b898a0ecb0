//! Stores the results of a match in a PGN file, a state file and the standings.
//!
//! ```
//! use tabia::autoplay::match_record::{MatchRecord, Places};
//! use tabia::autoplay::schedule::{Format, Schedule};
//!
//! let schedule =
//!     Schedule { engines: 2, format: Format::RoundRobin, games: 2, openings: 1, reversed: true };
//! // Results are kept only in memory, because no file is given.
//! let mut record = MatchRecord::open(&Places::default(), schedule, &[], "")?;
//! assert_eq!(record.scheduled, 2);
//! assert_eq!(record.next_games()?.len(), 2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::path::{Path, PathBuf};

use chess::Color;

use super::config::EngineConfig;
use super::error::MatchError;
use super::games::{GameText, GamesFile};
use super::pgn_style::PgnStyle;
use super::record::{GameRecord, final_epd};
use super::rounds::Rounds;
use super::schedule::{Format, Schedule, Slot};
pub use super::state::Entrant;
use super::state::{
    Entry, FinishedGame, Lost, StateFile, Stored, damaged, late_for_knockout, merge, open_state,
};
use super::stats::Decision;
use super::tournament::Standings;
use super::verdict::Verdict;
pub use crate::support::files::JournalError;

use crate::support::error::ParseError;
use crate::support::files::{FileError, describe};

/// Settings for where and how the results of a match are stored.
#[derive(Debug, Clone, Default)]
pub struct Places {
    /// The PGN file to which games are appended.
    pub pgn: Option<PathBuf>,
    /// The state file, which allows an interrupted match to be resumed.
    pub state: Option<PathBuf>,
    /// Whether to resume the match stored in the state file.
    pub resume: bool,
    /// Whether to keep all games in memory, so that a report can be generated from them.
    pub keep: bool,
    /// The EPD file to which the final position of each game is appended.
    pub epd: Option<PathBuf>,
    /// Which tags and move comments are written to the PGN file.
    pub style: PgnStyle,
}

/// The results of a match, in memory and on disk.
#[derive(Debug)]
pub struct MatchRecord {
    pgn: Option<NamedFile>,
    state: Option<StateFile>,
    epd: Option<NamedFile>,
    keep: bool,
    /// The games that are played again because the state file is damaged.
    lost: Option<LostGames>,
    /// Which tags and move comments are written to the PGN file.
    pub style: PgnStyle,
    /// The expected number of games in the whole match ([`Rounds::planned`]).
    pub scheduled: usize,
    /// The rounds so far.
    pub rounds: Rounds,
    /// All engines that have ever entered the tournament, including those that withdrew. Empty if
    /// engines cannot join or withdraw.
    pub entrants: Vec<Entrant>,
    /// The results of all games finished so far.
    pub standings: Standings,
    /// All finished games if [`Places::keep`] is set. Otherwise empty.
    pub games: Vec<FinishedGame>,
    /// The number of finished games.
    pub finished: usize,
}

impl MatchRecord {
    /// Opens the output files and, if a match is resumed, loads its games from the state file.
    ///
    /// A match can only be resumed with the same `settings`. If `entrants` is not empty, engines
    /// can join or be withdrawn when the match is resumed, so `settings` covers everything except
    /// the engines. If `entrants` is empty, the engines are fixed, and `settings` includes them.
    ///
    /// # Errors
    /// If a file cannot be used, or if the state file belongs to a match with different `settings`
    /// or with different settings for one of its engines.
    pub fn open(
        places: &Places,
        schedule: Schedule,
        entrants: &[Entrant],
        settings: &str,
    ) -> Result<Self, MatchError> {
        let no_path = PathBuf::new();
        let path = places.state.as_ref().unwrap_or(&no_path);
        let (mut state, mut stored) = match &places.state {
            None => (None, Stored::default()),
            Some(path) => {
                let (state, stored) = open_state(path, settings, places.resume)?;
                (Some(state), stored)
            }
        };
        let known = stored.entrants.len();
        let rounds = restore(path, schedule, &mut stored, entrants)?;
        if let Some(state) = &mut state {
            for (index, entrant) in stored.entrants.iter().enumerate().skip(known) {
                state.append(&Entry::Engine { index, entrant: entrant.clone() })?;
            }
        }
        let (pgn, epd) = match open_games(places, &mut stored.games) {
            Err(error) if stored.games.is_empty() => {
                // The state file contains no games, so it is not worth keeping after a failed
                // start.
                state.map_or(Ok(()), StateFile::remove)?;
                return Err(error);
            }
            opened => opened?,
        };
        let mut match_record = MatchRecord {
            pgn,
            state,
            epd,
            keep: places.keep,
            lost: stored
                .lost
                .as_ref()
                .map(|lost| LostGames::new(lost, &stored.games))
                .transpose()?,
            style: places.style.clone(),
            scheduled: 0,
            rounds,
            entrants: stored.entrants,
            standings: Standings::default(),
            games: Vec::new(),
            finished: 0,
        };
        for game in stored.games {
            let slot = match_record.rounds.slots()[game.number - 1];
            match_record.count(&slot, &game.verdict());
            if match_record.keep {
                match_record.games.push(game);
            }
        }
        match_record.update();
        Ok(match_record)
    }

    /// Reorders the configurations of this run's engines to match [`Self::entrants`]. For an engine
    /// that has withdrawn, inserts a configuration that contains only its name.
    pub fn arrange(&self, engines: Vec<EngineConfig>) -> Vec<EngineConfig> {
        if self.entrants.is_empty() {
            return engines;
        }
        let find = |Entrant { name, .. }: &Entrant| {
            let found = engines.iter().find(|engine| engine.label() == *name).cloned();
            found.unwrap_or_else(|| EngineConfig { name: name.clone(), ..EngineConfig::default() })
        };
        self.entrants.iter().map(find).collect()
    }

    /// Converts an index into `entrants`, the engines of this run, to an index into
    /// [`Self::entrants`].
    pub fn renumber(&self, entrants: &[Entrant], index: usize) -> usize {
        let is_same =
            |stored: &Entrant| entrants.get(index).is_some_and(|own| own.name == stored.name);
        self.entrants.iter().position(is_same).unwrap_or(index)
    }

    /// Returns the games to play next. If all games of the current round have been played, pairs
    /// the next round and stores it. Returns no games if the match is over.
    ///
    /// # Errors
    /// If the state file cannot be written.
    pub fn next_games(&mut self) -> Result<Vec<Slot>, MatchError> {
        loop {
            let games = self.rounds.remaining();
            if !games.is_empty() {
                return Ok(games);
            }
            let Some(round) = self.rounds.pair_next() else { return Ok(games) };
            if let Some(state) = &mut self.state {
                state.append(&Entry::Round(round))?;
                state.sync()?;
            }
            self.update();
        }
    }

    fn count(&mut self, slot: &Slot, verdict: &Verdict) {
        self.finished += 1;
        self.standings.add(slot, verdict);
        self.rounds.add_result(slot.number, verdict.half_points(Color::White));
    }

    /// Recalculates the expected number of games and the placings.
    fn update(&mut self) {
        self.scheduled = self.rounds.planned();
        self.standings.placings = self.rounds.placings();
    }

    /// Adds a finished game. It is written to the state file first, so that a later run can
    /// complete the PGN and EPD files after an interruption.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn add(&mut self, slot: &Slot, record: &GameRecord) -> Result<(), MatchError> {
        self.count(slot, &record.verdict);
        if !self.standings.placings.is_empty() {
            self.update();
        }
        let fail = |path: &Path| {
            let path = path.to_owned();
            move |error| MatchError::File(FileError::io("write", &path, &error))
        };
        let text = record.pgn(&self.style);
        self.remove_earlier(record.number, &text)?;
        let entry = match &self.pgn {
            Some((path, file)) => Some(file.entry(text).map_err(fail(path))?),
            None => None,
        };
        let mut game = FinishedGame::new(record, entry);
        if let Some(state) = &mut self.state {
            state.append(&Entry::Game(Box::new(game.clone())))?;
            state.sync()?;
        }
        if let (Some((path, file)), Some(entry)) = (&mut self.pgn, game.pgn.take()) {
            file.append(&entry).map_err(fail(path))?;
            file.sync().map_err(|error| {
                let rest = "it has the game, but a power cut may undo that";
                FileError::new("sync", path, format!("{}; {rest}", describe(&error)))
            })?;
        }
        if let Some((path, file)) = &mut self.epd {
            let line = GameText { at: 0, text: record.epd() };
            file.append(&line).map_err(fail(path))?;
        }
        if self.keep {
            self.games.push(game);
        }
        Ok(())
    }

    /// Removes a game that is played again from the PGN file and the EPD file, in which the earlier
    /// run stored it.
    fn remove_earlier(&mut self, number: usize, text: &str) -> Result<(), MatchError> {
        let Some(lost) = self.lost.as_mut().filter(|lost| lost.lines > 0) else { return Ok(()) };
        let Some((path, file)) = &mut self.pgn else { return Ok(()) };
        let fail = |error| FileError::io("write", path, &error);
        if !file.remove_earlier(lost.from, text).map_err(fail)? {
            return Ok(());
        }
        lost.lines -= 1;
        if let Some((path, file)) = &mut self.epd {
            let removed = file.remove_line(&lost.epd, &format!(" id \"game {number}\";"));
            removed.map_err(|error| FileError::io("write", path, &error))?;
        }
        Ok(())
    }

    /// Stores the decision of a sequential test shared by several machines.
    ///
    /// # Errors
    /// If the state file cannot be written.
    pub(super) fn record_decision(&mut self, decision: Decision) -> Result<(), MatchError> {
        if let Some(state) = &mut self.state {
            state.append(&Entry::Decision(decision))?;
            state.sync()?;
        }
        Ok(())
    }

    /// Deletes the state file, because a finished match needs no resuming.
    ///
    /// # Errors
    /// If the state file cannot be deleted.
    pub fn close(&mut self) -> Result<(), MatchError> {
        self.state.take().map_or(Ok(()), StateFile::remove).map_err(MatchError::from)
    }
}

/// Games that the files of the match contain, but whose lines in the state file are damaged.
#[derive(Debug)]
struct LostGames {
    /// The maximum number of such games.
    lines: usize,
    /// The offset in the PGN file after which these games are stored.
    from: u64,
    /// The line of the EPD file after which their positions are stored.
    epd: String,
}

impl LostGames {
    fn new(lost: &Lost, games: &[FinishedGame]) -> Result<Self, MatchError> {
        let before = lost.games_before.checked_sub(1).map(|last| &games[last]);
        let epd = before.map(|game| Ok(final_epd(&game.replay()?, game.number, &game.verdict())));
        let epd = epd.transpose().map_err(|error: ParseError| MatchError::from(error))?;
        Ok(LostGames { lines: lost.lines, from: lost.from, epd: epd.unwrap_or_default() })
    }
}

/// Rebuilds the rounds from those in the state file. Adds engines that are new in this run to
/// `stored`.
fn restore(
    path: &Path,
    schedule: Schedule,
    stored: &mut Stored,
    entrants: &[Entrant],
) -> Result<Rounds, JournalError> {
    let known = stored.entrants.len();
    let present = match entrants {
        [] => vec![true; schedule.engines],
        _ => merge(path, &mut stored.entrants, entrants)?,
    };
    if let (Format::Knockout, [_, ..], Some(new)) =
        (schedule.format, &stored.rounds[..], stored.entrants.get(known))
    {
        return Err(late_for_knockout(path, &new.name));
    }
    let mut rounds = Rounds::new(schedule, present);
    for round in stored.rounds.drain(..) {
        rounds.restore(round).map_err(|reason| damaged(path, reason))?;
    }
    let is_known = |game: &FinishedGame| (1..=rounds.slots().len()).contains(&game.number);
    match stored.games.iter().find(|game| !is_known(game)) {
        Some(game) => Err(damaged(path, format!("game {} is in no round", game.number))),
        None => Ok(rounds),
    }
}

/// The path and handle of a PGN or EPD file to which games are appended.
type NamedFile = (PathBuf, GamesFile);

/// Opens the PGN file and the EPD file. If the previous run was interrupted before it wrote the
/// last of `games` to one of these files, appends it there.
fn open_games(
    places: &Places,
    games: &mut [FinishedGame],
) -> Result<(Option<NamedFile>, Option<NamedFile>), MatchError> {
    let text = games.last_mut().and_then(|game| game.pgn.take());
    let pgn = places.pgn.as_deref().map(|path| open_pgn(path, text.as_ref())).transpose()?;
    let epd = places.epd.as_deref().map(|path| open_epd(path, games.last())).transpose()?;
    Ok((pgn, epd))
}

fn open_pgn(path: &Path, last: Option<&GameText>) -> Result<NamedFile, MatchError> {
    let fail = |error| FileError::io("write", path, &error);
    let mut file = GamesFile::open(path).map_err(fail)?;
    if let Some(last) = last {
        file.settle(last).map_err(fail)?;
    }
    Ok((path.to_owned(), file))
}

/// Opens the EPD file. If a previous run was interrupted before it wrote the final position of the
/// last game, appends that position.
fn open_epd(path: &Path, last: Option<&FinishedGame>) -> Result<NamedFile, MatchError> {
    let fail = |error| MatchError::File(FileError::io("write", path, &error));
    let mut file = GamesFile::open(path).map_err(fail)?;
    if let Some(last) = last {
        let text = final_epd(&last.replay()?, last.number, &last.verdict());
        file.settle_line(&GameText { at: 0, text }).map_err(fail)?;
    }
    file.end_line().map_err(fail)?;
    Ok((path.to_owned(), file))
}
