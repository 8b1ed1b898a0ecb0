//! Compares `Replay` with `Position`, for the fuzz target `san`.

use crate::chess::position::{Move, Position, Replay};

/// A game replayed move by move.
#[derive(Debug)]
pub struct Reading(Replay);

impl From<&Position> for Reading {
    fn from(position: &Position) -> Self {
        Reading(Replay::from(position))
    }
}

impl Reading {
    /// Plays a move, which must be legal.
    pub fn play(&mut self, mv: Move) {
        self.0.play(mv);
    }

    /// Asserts that the replayed game has reached this position.
    pub fn agree(&self, position: &Position) {
        assert_eq!(self.0, Replay::from(position), "{position}");
    }

    /// If loose parsing of `word` succeeds, asserts that the move is legal and that strict parsing,
    /// if it also succeeds, gives the same move.
    pub fn read(&self, position: &Position, word: &str) {
        let Ok(mv) = self.0.resolve_loosely(word.as_bytes()) else { return };
        assert!(position.is_legal(mv), "{word:?} in {position}");
        if let Ok(strict) = position.parse_san(word) {
            assert_eq!(mv, strict, "{word:?} in {position}");
        }
    }
}
