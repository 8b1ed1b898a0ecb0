//! The stored state of a match, from which it can be resumed.
//!
//! A state file is a journal of engines, rounds and finished games. A round is stored before its
//! first game begins. The record of a game includes its PGN, and is flushed to disk before the game
//! is appended to the PGN file. When a match is resumed after a crash or power failure, a game
//! whose record is incomplete is played again. If the last recorded game is missing or incomplete
//! in the PGN file, it is written there again.

use std::fmt::Display;
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::chess::position::{Color, Game, Move, Position};
use crate::chess::score::Score;
use crate::support::error::ParseError;
use crate::support::files::{Fault, Journal, JournalError, Kind};

use super::games::GameText;
use super::record::{GameRecord, PlayedMove};
use super::schedule::Round;
use super::stats::Decision;
use super::verdict::{Termination, Verdict};

const INTERRUPTED: &str =
    "it is of an interrupted match; add --resume to continue it, or remove it";

/// An engine in a tournament that engines can join or leave.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entrant {
    /// The engine's name, used to recognise it when the tournament is resumed.
    pub name: String,
    /// A description of all the engine's settings that affect the results. They cannot change
    /// during the tournament.
    pub settings: String,
}

/// A line of the state file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Entry {
    Engine {
        index: usize,
        entrant: Entrant,
    },
    Round(Round),
    Game(Box<FinishedGame>),
    /// The decision of a shared sequential test.
    Decision(Decision),
}

/// The content of a state file.
#[derive(Debug, Default)]
pub(crate) struct Stored {
    pub entrants: Vec<Entrant>,
    pub rounds: Vec<Round>,
    pub games: Vec<FinishedGame>,
    /// The damage to the file, if any.
    pub lost: Option<Lost>,
}

/// Damaged lines of a state file, which may be games. These games are played again, although the
/// PGN file already contains them.
#[derive(Debug)]
pub(crate) struct Lost {
    /// The number of damaged lines.
    pub lines: usize,
    /// The number of intact games before the first damaged line.
    pub games_before: usize,
    /// The offset in the PGN file of the last of these games.
    pub from: u64,
}

/// A finished game, with the data needed to resume the match and create the report.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FinishedGame {
    /// The game's number in the match, counted from 1.
    pub number: usize,
    pub names: [String; 2],
    /// The result in PGN notation.
    pub result: String,
    pub termination: Termination,
    /// The reason for the result, in words.
    pub detail: String,
    /// The FEN of the starting position, or `None` for the standard starting position.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fen: Option<String>,
    pub opening_plies: usize,
    /// All moves in coordinate notation, including those of the opening.
    pub moves: Vec<String>,
    /// The score that the engine reported for each move after the opening, from the mover's point
    /// of view.
    pub scores: Vec<Option<Score>>,
    /// The time used for each move after the opening, in seconds.
    pub seconds: Vec<f32>,
    /// For each move after the opening, the engine's remark about its book
    /// ([`PlayedMove::remark`]). Empty if no move has one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
    /// The game as PGN. In memory, it is dropped once the game has been written to the PGN file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pgn: Option<GameText>,
}

/// Returns the book remark for each move, or an empty vector if no move has one.
fn remarks(moves: &[PlayedMove]) -> Vec<String> {
    let remarks: Vec<String> = moves.iter().map(|played| played.remark().to_owned()).collect();
    if remarks.iter().all(String::is_empty) { Vec::new() } else { remarks }
}

impl FinishedGame {
    pub fn new(record: &GameRecord, pgn: Option<GameText>) -> Self {
        let start = record.game.start();
        FinishedGame {
            number: record.number,
            names: record.names.clone(),
            result: record.verdict.result().to_string(),
            termination: record.verdict.termination,
            detail: record.verdict.detail.clone(),
            fen: (*start != Position::start()).then(|| start.fen()),
            opening_plies: record.opening_plies(),
            moves: record.game.moves().iter().map(ToString::to_string).collect(),
            scores: record.moves.iter().map(|played| played.info.score).collect(),
            seconds: record.moves.iter().map(|played| played.elapsed.as_secs_f32()).collect(),
            remarks: remarks(&record.moves),
            pgn,
        }
    }

    /// Replays the game from its starting position. Fails if a move is illegal, as may happen if
    /// the state file was edited by hand.
    pub fn replay(&self) -> Result<Game, ParseError> {
        let fail = |cause: &dyn Display| {
            ParseError(format!("cannot replay game {}: {cause}", self.number))
        };
        let start = match &self.fen {
            Some(fen) => Position::from_fen(fen).map_err(|error| fail(&error))?,
            None => Position::start(),
        };
        let mut game = Game::new(start);
        for text in &self.moves {
            let mv: Move = text.parse().map_err(|error| fail(&error))?;
            game.play(mv).map_err(|error| fail(&error))?;
        }
        Ok(game)
    }

    pub fn verdict(&self) -> Verdict {
        let winner = match self.result.as_str() {
            "1-0" => Some(Color::White),
            "0-1" => Some(Color::Black),
            _ => None,
        };
        Verdict { winner, termination: self.termination, detail: self.detail.clone() }
    }
}

pub(super) static KIND: Kind = Kind { magic: "tabia match 3; ", name: "the state file" };

/// A state file opened and locked by this run.
pub(crate) type StateFile = Journal<Entry>;

/// Opens or creates the state file of a match, locks it, and reads its contents. Only the last game
/// keeps its PGN, because it may be missing from the PGN file. If `resume` is set, the file must
/// exist. Otherwise, an existing file must contain no games, and is replaced.
pub(crate) fn open_state(
    path: &Path,
    settings: &str,
    resume: bool,
) -> Result<(StateFile, Stored), JournalError> {
    let refused = |reason| KIND.error(path, io::Error::other(reason));
    if resume && !path.exists() {
        return Err(refused("it does not exist; there is nothing to resume"));
    }
    let mut stored = Stored::default();
    let mut lost_engine = false;
    // The offsets of each game in the state file and in the PGN file.
    let mut offsets: Vec<(u64, u64)> = Vec::new();
    let state = Journal::open(path, &KIND, settings, |entry, at| match entry {
        Entry::Engine { index, entrant } => {
            lost_engine |= index != stored.entrants.len();
            stored.entrants.push(entrant);
        }
        Entry::Round(round) => stored.rounds.push(round),
        Entry::Decision(_) => {}
        Entry::Game(game) => {
            stored.games.iter_mut().last().map(|game| game.pgn.take());
            offsets.push((at, game.pgn.as_ref().map_or(0, |text| text.at)));
            stored.games.push(*game);
        }
    });
    match state {
        Err(JournalError { fault: Fault::Other(_), .. }) if !resume => Err(refused(INTERRUPTED)),
        Ok(_) if !resume && !stored.games.is_empty() => Err(refused(INTERRUPTED)),
        Ok(state) if !(resume || stored.entrants.is_empty() && stored.rounds.is_empty()) => {
            state.remove()?;
            Ok((Journal::open(path, &KIND, settings, |_, _| ())?, Stored::default()))
        }
        Ok(_) if lost_engine => Err(damaged(path, "the line of an engine is missing")),
        state => {
            let state = state?;
            stored.lost = state.damaged().first().map(|&first| {
                let before = offsets.iter().take_while(|&&(at, _)| at < first);
                let (games_before, from) = (before.clone().count(), before.last());
                let from = from.map_or(u64::MAX, |&(_, from)| from);
                Lost { lines: state.damaged().len(), games_before, from }
            });
            Ok((state, stored))
        }
    }
}

/// Returns an error that reports the state file as damaged, for the given reason.
pub(crate) fn damaged(path: &Path, reason: impl Into<String>) -> JournalError {
    KIND.error(path, Fault::Damaged(reason.into()))
}

/// Returns the error for an engine that is added to a knockout after the first round has been
/// paired.
pub(crate) fn late_for_knockout(path: &Path, name: &str) -> JournalError {
    let reason = format!("engine {name} is new, but the knockout has begun; remove it");
    KIND.error(path, io::Error::other(reason))
}

/// Adds any new engines to those stored in a tournament's state file. For each stored engine,
/// returns whether it still takes part (`true`) or has been withdrawn. Fails if an engine's
/// settings have changed.
pub(crate) fn merge(
    path: &Path,
    stored: &mut Vec<Entrant>,
    entrants: &[Entrant],
) -> Result<Vec<bool>, JournalError> {
    for entrant in entrants {
        match stored.iter().find(|other| other.name == entrant.name) {
            None => stored.push(entrant.clone()),
            Some(other) if other.settings != entrant.settings => {
                let Entrant { name, settings } = entrant;
                let was = &other.settings;
                let change = format!("engine {name} was \"{was}\", and is \"{settings}\" now");
                return Err(KIND.error(path, Fault::Other(change)));
            }
            Some(_) => {}
        }
    }
    let is_present = |engine: &Entrant| entrants.iter().any(|entrant| entrant.name == engine.name);
    Ok(stored.iter().map(is_present).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn game(number: usize) -> FinishedGame {
        FinishedGame {
            number,
            names: ["a".to_owned(), "b".to_owned()],
            result: "1-0".to_owned(),
            termination: Termination::Time,
            detail: "late".to_owned(),
            fen: None,
            opening_plies: 1,
            moves: vec!["e2e4".to_owned(), "e7e5".to_owned()],
            scores: vec![Some(-12)],
            seconds: vec![0.5],
            remarks: Vec::new(),
            pgn: None,
        }
    }

    #[test]
    fn only_the_last_game_of_a_resumed_state_has_its_text() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("state");
        let (mut state, _) = open_state(&path, "x\ny", false).expect("created");
        for number in [1, 3] {
            let pgn = Some(GameText { at: 0, text: "1. e4 *".to_owned() });
            let game = FinishedGame { pgn, ..game(number) };
            state.append(&Entry::Game(Box::new(game))).expect("written");
        }
        drop(state);
        let (_, Stored { games, .. }) = open_state(&path, "x\ny", true).expect("resumed");
        assert_eq!(games[0], game(1));
        assert!(games[1].pgn.is_some() && games.len() == 2);
        assert_eq!(games[0].verdict().winner, Some(Color::White));
    }

    #[test]
    fn engines_can_be_added_and_withdrawn_but_not_changed() {
        let entrant = |name: &str, settings: &str| Entrant {
            name: name.to_owned(),
            settings: settings.to_owned(),
        };
        let [a, b, c] = ["a", "b", "c"].map(|name| entrant(name, "1 s"));
        let (mut stored, path) = (vec![a.clone(), b.clone()], Path::new("x"));
        let present = merge(path, &mut stored, &[c.clone(), b.clone()]).expect("accepted");
        assert_eq!((stored.clone(), present), (vec![a, b, c], vec![false, true, true]));
        let error = merge(path, &mut stored, &[entrant("b", "2 s")]).expect_err("changed");
        assert!(error.to_string().contains("engine b was \"1 s\", and is \"2 s\" now"), "{error}");
        assert_eq!(stored.len(), 3);
    }

    #[test]
    fn a_lost_engine_is_noticed() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("state");
        let (mut state, _) = open_state(&path, "x", false).expect("created");
        let entrant = Entrant { name: "b".to_owned(), settings: String::new() };
        state.append(&Entry::Engine { index: 1, entrant }).expect("written");
        drop(state);
        let error = open_state(&path, "x", true).expect_err("the first one is missing");
        assert!(error.to_string().contains("it is damaged: the line of an engine"), "{error}");
        let (_, stored) = open_state(&path, "x", false).expect("replaced, because it has no game");
        assert!(stored.entrants.is_empty());
    }

    #[test]
    fn a_state_is_neither_overwritten_nor_mistaken() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("state");
        let refusal = |settings: &str, resume| {
            open_state(&path, settings, resume).expect_err("refused").to_string()
        };
        assert!(refusal("x", true).contains("nothing to resume"));
        let settings = "engine 1: a\nengine 2: b";
        let (mut state, _) = open_state(&path, settings, false).expect("created");
        state.append(&Entry::Game(Box::new(game(1)))).expect("written");
        drop(state);
        for settings in [settings, "x"] {
            assert!(refusal(settings, false).contains("add --resume"));
        }
        let other = refusal("engine 1: a\nengine 2: c", true);
        assert!(other.contains("it was \"engine 2: b\""), "{other}");
        std::fs::write(&path, "{\"settings\":\"x\"}\n").expect("written");
        let old = refusal("x", true);
        assert!(old.contains("begins with \"{\\\"settings\\\":"), "{old}");
    }
}
