//! The state of the book lines that can end a search.

use std::collections::HashSet;

use super::job::RootMove;
use super::report::Transposition;
use super::table::TableEntry;
use crate::chess::position::Move;
use crate::chess::score::{Depth, Score};

/// Maximum difference, in centipawns, between the root's value and the values along a plausible
/// line. The line becomes invalid if the root's value later falls by more than this.
pub(super) const PLAUSIBLE_MARGIN: Score = 60;

#[derive(Debug, Default)]
pub(super) struct BookEndingState {
    /// Book lines that may end the search, at most one for each root move that has been the best
    /// move.
    pub(super) ending_lines: Vec<EndingLine>,
    /// The book line that may end the search now. It is replaced after each completed iteration.
    pub(super) ready: Option<EndingLine>,
    pub(super) ended: bool,
    /// The book's analysis of the root, converted to a table entry.
    pub(super) known: Option<TableEntry>,
    /// Iterations up to this depth cannot replace the move from the book's analysis, because they
    /// are no deeper than the analysis; 0 if every iteration can replace it.
    pub(super) settled: Depth,
    /// A move back into the book that is played instead of the best move (`BookSearch::Steer`).
    pub(super) book_return: Option<BookReturn>,
    pub(super) reported: HashSet<Move>,
}

#[derive(Debug, Clone)]
pub(super) struct EndingLine {
    pub(super) found: Transposition,
    /// Score of the root when the line was found, in centipawns for the side to move at the root.
    pub(super) score: Score,
}

impl EndingLine {
    pub(super) fn holds(&self, best: &RootMove) -> bool {
        self.first() == Some(best.mv) && best.score >= self.score - PLAUSIBLE_MARGIN
    }

    pub(super) fn first(&self) -> Option<Move> {
        self.found.line.first().copied()
    }
}

#[derive(Debug, Clone)]
pub(super) struct BookReturn {
    pub(super) instead_of: Move,
    pub(super) pv: Vec<Move>,
    pub(super) score: Score,
    pub(super) found: Transposition,
}
