//! The state of the book matches that can end a search.

use std::collections::HashSet;

use super::job::RootMove;
use super::report::Transposition;
use super::table::TableEntry;
use crate::chess::position::Move;
use crate::chess::score::{Depth, Score};

/// Maximum difference, in centipawns, between the values of a plausible line and the root. It is
/// also the maximum amount by which the value of the root may fall afterwards.
pub(super) const PLAUSIBLE_MARGIN: Score = 60;

/// The book matches of a search.
#[derive(Debug, Default)]
pub(super) struct BookEndingState {
    /// Lines that may end the search. There is one for each move that has been the best move.
    pub(super) ending_lines: Vec<EndingLine>,
    /// The line that may end the search until the next iteration is complete.
    pub(super) ready: Option<EndingLine>,
    /// Whether the search was stopped because of `ready`.
    pub(super) ended: bool,
    /// The book's analysis of the root, as a table entry.
    pub(super) known: Option<TableEntry>,
    /// The last iteration for which the move from the analysis remains the move to play; 0 if
    /// there is no such move.
    pub(super) settled: Depth,
    /// A move that leads back into the book and is played instead of the best move
    /// (`BookSearch::Steer`).
    pub(super) book_return: Option<BookReturn>,
    /// The first moves of the reported lines.
    pub(super) reported: HashSet<Move>,
}

/// A plausible line into the book that starts with the best move.
///
/// Later iterations may find a different line. However, they must choose the same first move, and
/// the score of this move must not fall.
#[derive(Debug, Clone)]
pub(super) struct EndingLine {
    pub(super) found: Transposition,
    /// Score of the root, in centipawns for the side to move, at the time when the line was found.
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

/// A move that leads back into the book and is played instead of the best move.
#[derive(Debug, Clone)]
pub(super) struct BookReturn {
    /// The best move, which is not played.
    pub(super) instead_of: Move,
    /// The principal variation of the move played.
    pub(super) pv: Vec<Move>,
    /// The score of the move played, in centipawns.
    pub(super) score: Score,
    /// The line, and the position at which it enters the book.
    pub(super) found: Transposition,
}
