//! A search's state of its matches with the book, by which it may end.

use hashbrown::HashSet;

use super::job::RootMove;
use super::report::Transposition;
use super::table::TableEntry;
use crate::chess::position::Move;
use crate::chess::score::{Depth, Score};

/// How far, in centipawns, the value of a plausible line may be from the root's, and how far the
/// root's may fall afterwards.
pub(super) const PLAUSIBLE_MARGIN: Score = 60;

/// The matches of a search with the book so far, by which it may end.
#[derive(Debug, Default)]
pub(super) struct BookEndingState {
    /// The lines that the search may end by: one for each move that was the best at some time.
    pub(super) ending_lines: Vec<EndingLine>,
    /// The one that it may end by until the next iteration is complete.
    pub(super) ready: Option<EndingLine>,
    /// Whether it was stopped on account of that.
    pub(super) ended: bool,
    /// What an analysis has found of the root.
    pub(super) known: Option<TableEntry>,
    /// Up to this iteration the move of the analysis, which is deeper, stays the move to play. 0 for
    /// none.
    pub(super) settled: Depth,
    /// A move that leads back into the book, in place of the best one (`Steer`).
    pub(super) book_return: Option<BookReturn>,
    /// First moves of the lines that were reported.
    pub(super) reported: HashSet<Move>,
}

/// A line into the book under the best move in which neither side gave anything away, by the
/// iteration that found it. Later ones need not agree on the line: what they must agree on is the
/// move, and that it is worth no less.
#[derive(Debug, Clone)]
pub(super) struct EndingLine {
    pub(super) found: Transposition,
    /// What the root was worth when the line was found.
    pub(super) score: Score,
}

impl EndingLine {
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
pub(super) struct BookReturn {
    /// The best move.
    pub(super) instead_of: Move,
    /// The line of this one.
    pub(super) pv: Vec<Move>,
    /// What it is worth.
    pub(super) score: Score,
    /// Where its line enters the book.
    pub(super) found: Transposition,
}
