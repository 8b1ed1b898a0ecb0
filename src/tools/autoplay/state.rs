//! The stored state of a match, from which the match can be resumed.
//!
//! A state file is a journal of finished games. The record of a game includes its PGN and is
//! flushed to disk before the game is added to the PGN file. After a crash or power failure, a game
//! with an incomplete record is therefore played again, and a last game that is missing or
//! incomplete in the PGN file is completed.

use std::collections::HashSet;
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::chess::position::{Color, Position};
use crate::chess::score::Score;
use crate::support::files::{Fault, Journal, JournalError, Kind};

use super::games::GameText;
use super::record::{GameRecord, PlayedMove};
use super::schedule::Slot;
use super::verdict::{Termination, Verdict};

const INTERRUPTED: &str =
    "it is of an interrupted match; add --resume to continue it, or remove it";

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
    /// The FEN of the starting position, or `None` if it is the standard one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fen: Option<String>,
    pub opening_plies: usize,
    /// All moves in coordinate notation, including those of the opening.
    pub moves: Vec<String>,
    /// The reported scores for the moves after the opening, each from the mover's point of view.
    pub scores: Vec<Option<Score>>,
    /// The time used for each move after the opening, in seconds.
    pub seconds: Vec<f32>,
    /// The engines' comments about their books ([`PlayedMove::remark`]). Empty if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
    /// The game as PGN. It is kept until it has been written to the PGN file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pgn: Option<GameText>,
}

/// Returns the book comments for all moves, or an empty vector if there are none.
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

    pub fn verdict(&self) -> Verdict {
        let winner = match self.result.as_str() {
            "1-0" => Some(Color::White),
            "0-1" => Some(Color::Black),
            _ => None,
        };
        Verdict { winner, termination: self.termination, detail: self.detail.clone() }
    }
}

static KIND: Kind = Kind { magic: "tabia match 2; ", name: "the state file" };

/// A state file that has been opened and locked for this run.
pub(crate) type StateFile = Journal<FinishedGame>;

/// Opens or creates the state file of a match and locks it. Reads the finished games, of which only
/// the last one still contains its PGN. Resuming requires an existing file, and a file with games
/// requires `resume`.
pub(crate) fn open_state(
    path: &Path,
    settings: &str,
    resume: bool,
) -> Result<(StateFile, Vec<FinishedGame>), JournalError> {
    let refused = |reason| KIND.error(path, io::Error::other(reason));
    if resume && !path.exists() {
        return Err(refused("it does not exist; there is nothing to resume"));
    }
    let mut games: Vec<FinishedGame> = Vec::new();
    let state = Journal::open(path, &KIND, settings, |game, _| {
        games.iter_mut().last().map(|game| game.pgn.take());
        games.push(game);
    });
    match state {
        Err(JournalError { fault: Fault::Other(_), .. }) if !resume => Err(refused(INTERRUPTED)),
        Ok(_) if !resume && !games.is_empty() => Err(refused(INTERRUPTED)),
        state => Ok((state?, games)),
    }
}

/// Returns the games in a schedule that have not been finished.
pub(crate) fn remaining(slots: &[Slot], finished: &[FinishedGame]) -> Vec<Slot> {
    let done: HashSet<usize> = finished.iter().map(|game| game.number).collect();
    slots.iter().filter(|slot| !done.contains(&slot.number)).copied().collect()
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
            state.append(&FinishedGame { pgn, ..game(number) }).expect("written");
        }
        drop(state);
        let (_, games) = open_state(&path, "x\ny", true).expect("resumed");
        assert_eq!(games[0], game(1));
        assert!(games[1].pgn.is_some() && games.len() == 2);
        assert_eq!(games[0].verdict().winner, Some(Color::White));
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
        state.append(&game(1)).expect("written");
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
