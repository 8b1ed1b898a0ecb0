//! The state of a match on disk, so that it can be resumed.
//!
//! A state file is a journal of JSON lines: a header that identifies the match, then one line for
//! each finished game. A game's line includes its PGN and is synced before the game is added to the
//! PGN file. A kill or a power failure leaves either an incomplete last line, whose game is played
//! again, or a PGN file without the last game or its end, which is completed on resuming.

use std::collections::HashSet;
use std::io::{self, BufRead, ErrorKind};
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::chess::position::{Color, Position};
use crate::chess::score::Score;
use crate::support::files::{ANOTHER_MATCH, Fault, Journal, JournalError, Kind, Record};

use super::games::GameText;
use super::record::{GameRecord, PlayedMove};
use super::schedule::Slot;
use super::verdict::{Termination, Verdict};

/// A finished game: the data for resuming and reporting.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FinishedGame {
    /// Number in the match, from 1.
    pub number: usize,
    pub names: [String; 2],
    /// The result in PGN notation.
    pub result: String,
    pub termination: Termination,
    /// The reason in words.
    pub detail: String,
    /// The starting position, if it is not the standard one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fen: Option<String>,
    pub opening_plies: usize,
    /// All moves in coordinate notation.
    pub moves: Vec<String>,
    /// The mover's scores of the moves after the opening.
    pub scores: Vec<Option<Score>>,
    /// The times of these moves in seconds.
    pub seconds: Vec<f32>,
    /// The engines' comments on their books, see [`PlayedMove::remark`]; empty if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
    /// Its PGN, until it is in the PGN file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pgn: Option<GameText>,
}

/// The book comments of all moves; an empty vector if all are empty.
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

static KIND: Kind = Kind {
    magic: "{\"settings\":",
    stem: "{\"settings\":",
    is_json: true,
    name: "the state file",
    work: "a match",
    rival: ANOTHER_MATCH,
    syncs_each: true,
};

impl Record for FinishedGame {
    fn write(&self, bytes: &mut Vec<u8>) -> io::Result<()> {
        serde_json::to_writer(&mut *bytes, self)?;
        bytes.push(b'\n');
        Ok(())
    }

    fn read(input: &mut impl BufRead) -> io::Result<Option<Self>> {
        let mut line = Vec::new();
        input.read_until(b'\n', &mut line)?;
        let game = line.strip_suffix(b"\n").map(serde_json::from_slice).transpose();
        game.map_err(|error| io::Error::new(ErrorKind::InvalidData, error))
    }
}

/// An open state file.
pub(crate) type StateFile = Journal<FinishedGame>;

/// Begins a new state file, which belongs to this run alone.
///
/// # Errors
/// If there is one already, or it cannot be written.
pub(crate) fn create(path: &Path, settings: &str) -> Result<StateFile, JournalError> {
    match open(path, settings) {
        Ok((state, _)) if state.is_new() => Ok(state),
        Err(error) if !matches!(error.fault, Fault::Other { .. }) => Err(error),
        _ => Err(KIND.error(path, Fault::Exists)),
    }
}

/// Opens the state of an interrupted match for this run alone, and reads the finished games; only
/// the last of them still has its PGN.
///
/// # Errors
/// If there is no such file, another run has it, or it is of a match with other settings.
pub(crate) fn resume(
    path: &Path,
    settings: &str,
) -> Result<(StateFile, Vec<FinishedGame>), JournalError> {
    if path.exists() { open(path, settings) } else { Err(KIND.error(path, Fault::Missing)) }
}

fn open(path: &Path, settings: &str) -> Result<(StateFile, Vec<FinishedGame>), JournalError> {
    let mut games: Vec<FinishedGame> = Vec::new();
    let state = Journal::open(path, &KIND, settings, |game, _| {
        games.iter_mut().last().map(|game| game.pgn.take());
        games.push(game);
    })?;
    Ok((state, games))
}

/// The games of a schedule that are not finished.
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
    fn a_state_survives_a_torn_last_line() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("state");
        let mut state = create(&path, "x\ny").expect("created");
        state.append(&game(1)).expect("written");
        state.append(&game(3)).expect("written");
        let length = std::fs::metadata(&path).expect("written").len();
        let mut file = std::fs::OpenOptions::new().append(true).open(&path).expect("there");
        io::Write::write_all(&mut file, b"{\"number\":4,").expect("written");
        let refused = resume(&path, "x\ny").expect_err("in use");
        assert!(refused.to_string().contains("another match"), "{refused}");
        drop(state);
        let (mut state, games) = resume(&path, "x\ny").expect("resumed");
        assert_eq!(games, [game(1), game(3)]);
        assert_eq!(std::fs::metadata(&path).expect("there").len(), length);
        assert_eq!(games[0].verdict().winner, Some(Color::White));
        state.append(&game(2)).expect("written");
        drop(state);
        let (_, games) = resume(&path, "x\ny").expect("resumed");
        assert_eq!(games.len(), 3);
    }

    #[test]
    fn a_state_without_its_first_line_is_begun_again() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("state");
        for torn in ["", "{", "{\"settings\":", "{\"settings\":\"x"] {
            std::fs::write(&path, torn).expect("written");
            let (state, games) = resume(&path, "x").expect("begun again");
            assert!(games.is_empty());
            drop(state);
            std::fs::write(&path, torn).expect("written");
            create(&path, "x").expect("begun again");
        }
        for foreign in ["x", "[Event \"?\"]", "{\"name\":1}"] {
            std::fs::write(&path, foreign).expect("written");
            assert!(create(&path, "x").is_err() && resume(&path, "x").is_err());
            assert_eq!(std::fs::read_to_string(&path).expect("still there"), foreign);
        }
    }

    #[test]
    fn a_state_is_neither_overwritten_nor_mistaken() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("state");
        let missing = resume(&path, "x").expect_err("nothing there");
        assert!(missing.to_string().contains("nothing to resume"));
        create(&path, "engine 1: a\nengine 2: b").expect("created");
        let exists = create(&path, "x").expect_err("there already");
        assert!(exists.to_string().contains("--resume"));
        let other = resume(&path, "engine 1: a\nengine 2: c").expect_err("another match");
        assert!(other.to_string().contains("it was \"engine 2: b\""), "{other}");
    }
}
