//! Static evaluation: what a position is worth without searching.
//!
//! [`Evaluator`] serves the search, [`breakdown()`] people. A score of 100 is about a pawn.

mod breakdown;
mod classical;
mod tapered;
pub mod tuning;

pub use breakdown::{Breakdown, breakdown};
pub use classical::tuned::LOGISTIC_SCALE;

use classical::assess;
use classical::pawn_table::PawnTable;
use classical::trace::Silent;
use classical::tuned::TUNED;

use crate::position::{Color, Position};
use crate::score::Score;

/// Evaluates positions; each thread has its own, with a table of pawn structures.
#[derive(Clone)]
pub struct Evaluator {
    pawns: PawnTable,
}

impl Evaluator {
    /// An evaluator that has seen nothing yet.
    pub fn new() -> Self {
        Evaluator { pawns: PawnTable::new() }
    }

    /// The score in centipawns for the side to move; never a mate or a tablebase score.
    #[inline]
    pub fn evaluate(&mut self, position: &Position) -> Score {
        let score = assess(position, &TUNED, &mut self.pawns, &mut Silent).score();
        match position.side_to_move() {
            Color::White => score,
            Color::Black => -score,
        }
    }
}

impl Default for Evaluator {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests;
