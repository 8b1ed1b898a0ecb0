//! The state of a match on disk, so that it can be resumed.
//!
//! A state file consists of lines of JSON: a header that identifies the match, then one line for
//! each finished game. A game's line includes its PGN and is synced before the game is added to the
//! PGN file. A kill or a power failure leaves either an incomplete last line, whose game is played
//! again, or a PGN file without the last game or its end, which is completed on resuming.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::chess::position::{Color, Position};
use crate::chess::score::Score;
use crate::support::files::{open_locked, sync_name};

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

#[derive(Debug, Serialize, Deserialize)]
struct StateHeader {
    /// A text of all settings that affect the results.
    settings: String,
}

/// How the first line of a state begins.
const HEADER_BEGIN: &str = "{\"settings\":";

/// Why a match cannot be resumed or its state cannot be stored.
#[derive(Debug, Error)]
pub enum StateError {
    #[error("cannot use the state file {}: {cause}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        cause: io::Error,
    },
    #[error(
        "{} holds the state of an interrupted match: add --resume to go on with it, or remove it",
        path.display()
    )]
    Exists {
        /// The file.
        path: PathBuf,
    },
    #[error("there is no state file {}: nothing to resume", path.display())]
    Missing {
        /// The file.
        path: PathBuf,
    },
    #[error("{} belongs to a match with other settings: {difference}", path.display())]
    Other {
        /// The file.
        path: PathBuf,
        /// The first setting that differs.
        difference: String,
    },
    /// The match is over, but the file could not be removed.
    #[error("the match is over, but its state {} cannot be removed: {cause}; remove it", path.display())]
    Left {
        /// The file.
        path: PathBuf,
        cause: io::Error,
    },
    #[error("{}, line {line}: {message}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        line: usize,
        message: String,
    },
}

#[derive(Debug)]
pub(crate) struct StateFile {
    path: PathBuf,
    file: File,
}

impl StateFile {
    /// Creates and locks a new state file.
    ///
    /// # Errors
    /// If it exists already or cannot be written.
    pub(crate) fn create(path: &Path, settings: &str) -> Result<Self, StateError> {
        let (mut state, text) = StateFile::open(path, true)?;
        if !is_begun(&text) {
            return Err(StateError::Exists { path: path.to_owned() });
        }
        state.begin(settings)?;
        Ok(state)
    }

    /// Opens and locks the state of an interrupted match, and reads the finished games. Only the
    /// last of them still has its PGN. An incomplete last line is dropped.
    ///
    /// # Errors
    /// If the file does not exist, is locked by another run, or belongs to a match with other
    /// settings.
    pub(crate) fn resume(
        path: &Path,
        settings: &str,
    ) -> Result<(Self, Vec<FinishedGame>), StateError> {
        let (mut state, text) = StateFile::open(path, false)?;
        if is_begun(&text) {
            // Interrupted before the first game was finished.
            state.begin(settings)?;
            return Ok((state, Vec::new()));
        }
        let whole = text.rfind('\n').map_or(0, |end| end + 1);
        let mut lines = text[..whole].lines().enumerate();
        let damaged = |line: usize, error: serde_json::Error| StateError::Damaged {
            path: path.to_owned(),
            line: line + 1,
            message: error.to_string(),
        };
        let first = lines.next().map_or("", |(_, line)| line);
        let header: StateHeader = serde_json::from_str(first).map_err(|error| damaged(0, error))?;
        if let Some(difference) = first_difference(&header.settings, settings) {
            return Err(StateError::Other { path: path.to_owned(), difference });
        }
        let mut games: Vec<FinishedGame> = Vec::new();
        for (index, line) in lines {
            games.iter_mut().last().map(|game| game.pgn.take());
            games.push(serde_json::from_str(line).map_err(|error| damaged(index, error))?);
        }
        state.file.set_len(whole as u64).map_err(|cause| state.unusable(cause))?;
        Ok((state, games))
    }

    fn open(path: &Path, create: bool) -> Result<(Self, String), StateError> {
        let io = |cause: io::Error| match cause.kind() {
            io::ErrorKind::NotFound if !create => StateError::Missing { path: path.to_owned() },
            _ => StateError::Io { path: path.to_owned(), cause },
        };
        let mut file = open_locked(path, create).map_err(io)?;
        let mut text = String::new();
        file.read_to_string(&mut text).map_err(io)?;
        Ok((StateFile { path: path.to_owned(), file }, text))
    }

    fn begin(&mut self, settings: &str) -> Result<(), StateError> {
        self.file.set_len(0).map_err(|cause| self.unusable(cause))?;
        self.write_line(&StateHeader { settings: settings.to_owned() })?;
        sync_name(&self.path).map_err(|cause| self.unusable(cause))
    }

    fn unusable(&self, cause: io::Error) -> StateError {
        StateError::Io { path: self.path.clone(), cause }
    }

    /// Appends and syncs a finished game.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(crate) fn add(&mut self, game: &FinishedGame) -> Result<(), StateError> {
        self.write_line(game)
    }

    fn write_line(&mut self, value: &impl Serialize) -> Result<(), StateError> {
        let mut line = serde_json::to_vec(value).map_err(|error| self.unusable(error.into()))?;
        line.push(b'\n');
        let written = self.file.write_all(&line).and_then(|()| self.file.sync_data());
        written.map_err(|cause| self.unusable(cause))
    }

    /// Removes the file after the match.
    ///
    /// # Errors
    /// If it cannot be removed.
    pub(crate) fn remove(self) -> Result<(), StateError> {
        std::fs::remove_file(&self.path)
            .map_err(|cause| StateError::Left { path: self.path, cause })
    }
}

/// Whether the file is empty or contains only a prefix of the header.
fn is_begun(text: &str) -> bool {
    let length = text.len().min(HEADER_BEGIN.len());
    !text.contains('\n') && text.as_bytes()[..length] == HEADER_BEGIN.as_bytes()[..length]
}

/// The first line in which two descriptions differ, for messages.
pub(super) fn first_difference(before: &str, now: &str) -> Option<String> {
    let lines = before.lines().zip(now.lines());
    let differing = lines.into_iter().find(|(before, now)| before != now);
    match differing {
        Some((before, now)) => Some(format!("it was \"{before}\", and is \"{now}\" now")),
        None if before == now => None,
        None => Some("there are more settings in one of them".to_owned()),
    }
}

/// The games of a schedule that are not finished.
pub(crate) fn remaining(slots: &[Slot], finished: &[FinishedGame]) -> Vec<Slot> {
    let done: std::collections::HashSet<usize> = finished.iter().map(|game| game.number).collect();
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
        let mut state = StateFile::create(&path, "x\ny").expect("created");
        state.add(&game(1)).expect("written");
        state.add(&game(3)).expect("written");
        let length = std::fs::metadata(&path).expect("written").len();
        state.file.write_all(b"{\"number\":4,").expect("written");
        let refused = StateFile::resume(&path, "x\ny").expect_err("in use");
        assert!(refused.to_string().contains("another running match"), "{refused}");
        drop(state);
        let (mut state, games) = StateFile::resume(&path, "x\ny").expect("resumed");
        assert_eq!(games, [game(1), game(3)]);
        assert_eq!(std::fs::metadata(&path).expect("there").len(), length);
        assert_eq!(games[0].verdict().winner, Some(Color::White));
        state.add(&game(2)).expect("written");
        drop(state);
        let (_, games) = StateFile::resume(&path, "x\ny").expect("resumed");
        assert_eq!(games.len(), 3);
    }

    #[test]
    fn a_state_without_its_first_line_is_begun_again() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("state");
        for torn in ["", "{", "{\"settings\":", "{\"settings\":\"x"] {
            std::fs::write(&path, torn).expect("written");
            let (state, games) = StateFile::resume(&path, "x").expect("begun again");
            assert!(games.is_empty());
            drop(state);
            std::fs::write(&path, torn).expect("written");
            StateFile::create(&path, "x").expect("begun again");
        }
        for foreign in ["x", "[Event \"?\"]", "{\"name\":1}"] {
            std::fs::write(&path, foreign).expect("written");
            assert!(
                StateFile::create(&path, "x").is_err() && StateFile::resume(&path, "x").is_err()
            );
            assert_eq!(std::fs::read_to_string(&path).expect("still there"), foreign);
        }
    }

    #[test]
    fn a_state_is_neither_overwritten_nor_mistaken() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("state");
        let missing = StateFile::resume(&path, "x").expect_err("nothing there");
        assert!(missing.to_string().contains("nothing to resume"));
        StateFile::create(&path, "engine 1: a\nengine 2: b").expect("created");
        let exists = StateFile::create(&path, "x").expect_err("there already");
        assert!(exists.to_string().contains("--resume"));
        let other =
            StateFile::resume(&path, "engine 1: a\nengine 2: c").expect_err("another match");
        assert!(other.to_string().contains("it was \"engine 2: b\""), "{other}");
    }
}
