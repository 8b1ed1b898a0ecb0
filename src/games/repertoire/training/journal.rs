//! A file that records the player's answers. Each answer is synced to disk immediately.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::fsrs::{Grade, Time};
use crate::chess::position::{Color, Move, Position};
use crate::support::files::{Journal, JournalError, Kind};

static KIND: Kind = Kind { magic: "tabia training 1; ", name: "the training journal" };

/// The result of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// The move is in the repertoire.
    Right,
    /// The repertoire has a different move in this position, but the move played transposes back
    /// into the repertoire.
    Transposes,
    /// The repertoire has a different move in this position, and the move played leaves the
    /// repertoire.
    Wrong,
    /// The repertoire has no move in this position, and the move played is good.
    Good,
    /// The repertoire has no move in this position, and the move played is clearly worse than other
    /// moves.
    Weak,
    /// The repertoire has no move in this position, and neither game results nor engine values show
    /// whether the move played is good.
    Unknown,
}

/// A line of the journal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Answer {
    pub fen: String,
    #[serde(rename = "move")]
    pub mv: String,
    pub time: Time,
    pub verdict: Verdict,
    /// `None` if the answer does not show whether the player remembered the move.
    pub grade: Option<Grade>,
}

impl Answer {
    pub(super) fn played(&self) -> Option<(Position, Move)> {
        let position = Position::from_fen(&self.fen).ok()?;
        let mv = self.mv.parse().ok().filter(|&mv| position.is_legal(mv))?;
        Some((position, mv))
    }
}

/// Opens or creates the journal for the repertoire of `side`, and calls `visit` with each answer in
/// it.
pub(super) fn open(
    path: &Path,
    side: Color,
    mut visit: impl FnMut(Answer),
) -> Result<Journal<Answer>, JournalError> {
    let owner = if side == Color::White { "side white" } else { "side black" };
    Journal::open(path, &KIND, owner, |answer, _| visit(answer))
}
