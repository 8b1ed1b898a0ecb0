//! State of the book matches that may end a search.

use std::collections::HashSet;

use super::job::RootMove;
use super::report::Transposition;
use super::table::TableEntry;
use crate::chess::position::Move;
use crate::chess::score::{Depth, Score};

/// Maximum difference, in centipawns, between the value of a plausible line and that of the root.
/// It is also the maximum amount by which the root's value may fall afterwards.
pub(super) const PLAUSIBLE_MARGIN: Score = 60;

/// The book matches of a search.
#[derive(Debug, Default)]
pub(super) struct BookEndingState {
    /// Lines that may end the search, one for each move that has been the best.
    pub(super) ending_lines: Vec<EndingLine>,
    /// The line that may end the search until the next iteration is complete.
    pub(super) ready: Option<EndingLine>,
    /// Whether the search was stopped because of `ready`.
    pub(super) ended: bool,
    /// The book's analysis of the root, as a table entry.
    pub(super) known: Option<TableEntry>,
    /// The last iteration in which the move of the analysis remains the move to play; 0 if there is
    /// no such move.
    pub(super) settled: Depth,
    /// A move that leads back into the book and replaces the best one (`BookSearch::Steer`).
    pub(super) book_return: Option<BookReturn>,
    /// The first moves of the reported lines.
    pub(super) reported: HashSet<Move>,
}

/// A plausible line into the book below the best move.
///
/// Later iterations may find a different line, but must choose the same first move, and the score
/// of this move must not fall.
#[derive(Debug, Clone)]
pub(super) struct EndingLine {
    pub(super) found: Transposition,
    /// Score of the root when the line was found, in centipawns for the side to move.
    pub(super) score: Score,
}

impl EndingLine {
    /// Whether the line still applies if `best` is the best move.
    pub(super) fn holds(&self, best: &RootMove) -> bool {
        self.first() == Some(best.mv) && best.score >= self.score - PLAUSIBLE_MARGIN
    }

    pub(super) fn first(&self) -> Option<Move> {
        self.found.line.first().copied()
    }
}

/// A move that leads back into the book and replaces the best one.
#[derive(Debug, Clone)]
pub(super) struct BookReturn {
    /// The best move, which is not played.
    pub(super) instead_of: Move,
    /// The principal variation of the move played.
    pub(super) pv: Vec<Move>,
    /// The score of the move played, in centipawns.
    pub(super) score: Score,
    /// The position at which the line enters the book.
    pub(super) found: Transposition,
}
