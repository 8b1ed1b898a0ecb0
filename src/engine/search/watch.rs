//! What a search keeps in mind of its matches with the book.

use hashbrown::HashSet;

use super::job::RootMove;
use super::report::Transposition;
use super::table::TableEntry;
use crate::chess::position::Move;
use crate::chess::score::{Depth, Score};

/// How far, in centipawns, the value of a plausible line may be from the root's, and how far the
/// root's may fall afterwards.
pub(super) const PLAUSIBLE_MARGIN: Score = 60;

/// What a search has made of its matches with the book so far.
#[derive(Debug, Default)]
pub(super) struct Watch {
    /// The lines that the search may end by: one for each move that was the best at some time.
    pub(super) hopes: Vec<Hope>,
    /// The one that it may end by until the next iteration is complete.
    pub(super) ready: Option<Hope>,
    /// Whether it was stopped on account of that.
    pub(super) ended: bool,
    /// What an analysis has found of the root.
    pub(super) known: Option<TableEntry>,
    /// Iterations up to this one tell nothing that the analysis does not know better: the move to
    /// play stays the one that it has found. 0 for none.
    pub(super) settled: Depth,
    /// A move that leads back into the book, in place of the best one (`Steer`).
    pub(super) detour: Option<Detour>,
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

/// A move that leads back into the book, in place of the best one.
#[derive(Debug, Clone)]
pub(super) struct Detour {
    /// The best move.
    pub(super) instead_of: Move,
    /// The line of this one.
    pub(super) pv: Vec<Move>,
    /// What it is worth.
    pub(super) score: Score,
    /// Where its line enters the book.
    pub(super) found: Transposition,
}
