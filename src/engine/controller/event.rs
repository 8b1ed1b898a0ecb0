//! Events of the engine.

use crate::chess::position::{Move, Outcome, Position};
use crate::engine::search::{Report, SearchResult, Transposition};
use crate::games::book::{BookValue, Choice, UnrefutedMove};

/// An event reported by the engine.
#[derive(Debug, Clone)]
pub(crate) enum Event {
    /// The progress of a search.
    Report(SearchProgress),
    /// A line of the search has transposed into the book.
    Transposed(Transposed),
    /// A note on the book's counts, sent before the first of them in a game.
    Note(&'static str),
    /// Learnt results veto moves of the book; a description.
    Vetoed(String),
    /// The engine has moved.
    Moved(Moved),
    /// The engine begins to ponder.
    Pondering(Expected),
    /// A requested search with limits of its own has ended.
    OrderedResult(OrderedResult),
    /// The game is over by the rules.
    Over(Outcome),
    /// The engine offers a draw, or accepts one.
    OfferDraw,
    /// The engine resigns.
    Resigned,
    /// Everything before the ping of this number is complete.
    Pong(u64),
    /// The book could not be opened; the reason.
    BookFailed(String),
    /// A resource is unavailable or something failed; a description. The engine continues.
    Fault(String),
}

/// A report of a search, with the data to display it.
#[derive(Debug, Clone)]
pub(crate) struct SearchProgress {
    /// The current position of the game.
    pub position: Position,
    /// The move that the opponent is expected to make, when pondering; the report's line begins
    /// after it.
    pub expected: Option<Move>,
    /// The report, for the side to move after the expected move.
    pub report: Report,
}

/// A line that has transposed into the book.
#[derive(Debug, Clone)]
pub(crate) struct Transposed {
    /// The start of the line.
    pub position: Position,
    /// The line, and the games that reached its end.
    pub found: Transposition,
    /// The last report of the search, if there was one.
    pub report: Option<Report>,
    /// Further book data of the line's end, for analysis; empty in play.
    pub more: String,
}

impl Transposed {
    /// Describes the line in one line of text.
    pub(crate) fn describe(&self) -> String {
        let found = self.found.describe(&self.position);
        if self.more.is_empty() { found } else { format!("{found}; {}", self.more) }
    }
}

/// A move of the engine.
#[derive(Debug, Clone)]
pub(crate) struct Moved {
    /// The position before the move.
    pub position: Position,
    /// The move.
    pub mv: Move,
    /// The source of the move.
    pub move_reason: MoveReason,
}

/// The expected reply that the engine ponders on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Expected {
    /// The current position of the game.
    pub position: Position,
    /// The reply.
    pub mv: Move,
}

/// The source of a move.
#[derive(Debug, Clone)]
pub(crate) enum MoveReason {
    /// The book.
    Book(Choice),
    /// An analysis of the position in the book.
    Analysed(BookValue),
    /// A search of the same position in another game.
    Learned(UnrefutedMove),
    /// A search.
    Search(SearchResult),
}

/// The result of a search with limits of its own.
#[derive(Debug, Clone)]
pub(crate) struct OrderedResult {
    /// The best move; `None` if there is none.
    pub mv: Option<Move>,
    /// The expected reply.
    pub ponder: Option<Move>,
    /// The source of the move.
    pub move_reason: MoveReason,
}
