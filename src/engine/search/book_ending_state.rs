//! State of the book matches by which a search may end.

use std::collections::HashSet;

use super::job::RootMove;
use super::report::Transposition;
use super::table::TableEntry;
use crate::chess::position::Move;
use crate::chess::score::{Depth, Score};

/// Largest difference, in centipawns, between the value of a plausible line and that of the root.
/// Also the most that the root's value may fall afterwards.
pub(super) const PLAUSIBLE_MARGIN: Score = 60;

/// The book matches of a search so far.
#[derive(Debug, Default)]
pub(super) struct BookEndingState {
    /// Lines by which the search may end: one for each move that was the best at some time.
    pub(super) ending_lines: Vec<EndingLine>,
    /// The line by which the search may end until the next iteration is complete.
    pub(super) ready: Option<EndingLine>,
    /// Whether the search was stopped because of `ready`.
    pub(super) ended: bool,
    /// The book analysis of the root.
    pub(super) known: Option<TableEntry>,
    /// Up to this iteration, the move of the (deeper) analysis stays the move to play. 0 if there
    /// is none.
    pub(super) settled: Depth,
    /// A move that leads back into the book, played instead of the best one (`Steer`).
    pub(super) book_return: Option<BookReturn>,
    /// First moves of the reported lines.
    pub(super) reported: HashSet<Move>,
}

/// A line into the book below the best move in which neither side gave anything away.
///
/// Later iterations need not agree on the line, only on its first move, whose score must not fall.
#[derive(Debug, Clone)]
pub(super) struct EndingLine {
    pub(super) found: Transposition,
    /// Score of the root when the line was found.
    pub(super) score: Score,
}

impl EndingLine {
    /// Whether the line still applies with `best` as the best move.
    pub(super) fn holds(&self, best: &RootMove) -> bool {
        self.first() == Some(best.mv) && best.score >= self.score - PLAUSIBLE_MARGIN
    }

    pub(super) fn first(&self) -> Option<Move> {
        self.found.line.first().copied()
    }
}

/// A move that leads back into the book, played instead of the best one.
#[derive(Debug, Clone)]
pub(super) struct BookReturn {
    /// The best move.
    pub(super) instead_of: Move,
    /// The line of the move played.
    pub(super) pv: Vec<Move>,
    /// The score of the move played.
    pub(super) score: Score,
    /// Where the line enters the book.
    pub(super) found: Transposition,
}
