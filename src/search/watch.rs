//! What a search keeps in mind of its matches with the book.

use hashbrown::HashSet;

use super::job::RootMove;
use super::report::Transposition;
use crate::position::Move;
use crate::score::Score;

/// How far, in centipawns, the value of a plausible line may be from the root's, and how far the
/// root's may fall afterwards.
pub(super) const PLAUSIBLE_MARGIN: Score = 60;

/// What a search has made of its matches with the book so far.
#[derive(Debug, Default)]
pub(super) struct Watch {
    /// Iterations in a row whose principal variation ended in the book (`Score`).
    pub(super) in_book: u32,
    /// The lines that the search may end by: one for each move that was the best at some time.
    pub(super) hopes: Vec<Hope>,
    /// The one that it may end by until the next iteration is complete.
    pub(super) ready: Option<Hope>,
    /// Whether it was stopped on account of that.
    pub(super) ended: bool,
    /// First moves of the lines that were told.
    pub(super) told: HashSet<Move>,
}

/// A line into the book under the best move in which neither side gave anything away, by the
/// iteration that found it. Later ones need not agree on the line: what they must agree on is the
/// move, and that it is worth no less.
#[derive(Debug, Clone)]
pub(super) struct Hope {
    pub(super) found: Transposition,
    /// What the root was worth when the line was found.
    pub(super) score: Score,
}

impl Hope {
    /// Whether the line still counts with `best` as the best move.
    pub(super) fn holds(&self, best: &RootMove) -> bool {
        self.first() == Some(best.mv) && best.score >= self.score - PLAUSIBLE_MARGIN
    }

    /// The move that it begins with.
    pub(super) fn first(&self) -> Option<Move> {
        self.found.line.first().copied()
    }
}
