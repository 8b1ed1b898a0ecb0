//! What the engine tells.

use crate::chess::position::{Move, Outcome, Position};
use crate::engine::search::{Report, SearchResult, Transposition};
use crate::games::book::{BookValue, Choice, UnrefutedMove};

/// Something the engine tells on its own account.
#[derive(Debug, Clone)]
pub(crate) enum Event {
    /// How far a search has come.
    Report(SearchProgress),
    /// A line of the search has transposed into the book.
    Transposed(Transposed),
    /// What was learnt keeps moves of the book from being played; which, and why.
    Vetoed(String),
    /// The engine has moved.
    Moved(Moved),
    /// The engine begins to think on its opponent's time.
    Pondering(Expected),
    /// A search that was ordered with bounds of its own has ended.
    OrderedResult(OrderedResult),
    /// The game is over by the rules.
    Over(Outcome),
    /// The engine offers a draw, or takes the one that was offered.
    OfferDraw,
    /// The engine gives up.
    Resigned,
    /// What came before the ping of this number is done.
    Pong(u64),
    /// The book could not be opened; why.
    BookFailed(String),
    /// Something that was asked for is not to be had, or broke; in words. The engine goes on.
    Fault(String),
}

/// A report of a search, with what is needed to show it.
#[derive(Debug, Clone)]
pub(crate) struct SearchProgress {
    /// Where the game stands.
    pub position: Position,
    /// The move that the opponent is expected to make, when pondering; the report's line begins
    /// after it.
    pub expected: Option<Move>,
    /// The report, from the view of the side to move after the expected move.
    pub report: Report,
}

/// A line that has transposed into the book.
#[derive(Debug, Clone)]
pub(crate) struct Transposed {
    /// Where the line begins.
    pub position: Position,
    /// The line, and the games that reached its end.
    pub found: Transposition,
    /// The last report of the search, if there was one.
    pub report: Option<Report>,
    /// What else the book knows of the line's end, for those who study it; empty in play.
    pub more: String,
}

impl Transposed {
    /// This in a line.
    pub(crate) fn describe(&self) -> String {
        let found = self.found.describe(&self.position);
        if self.more.is_empty() { found } else { format!("{found}; {}", self.more) }
    }
}

/// A move of the engine.
#[derive(Debug, Clone)]
pub(crate) struct Moved {
    /// Where it was made.
    pub position: Position,
    /// The move.
    pub mv: Move,
    /// What it rests on.
    pub move_reason: MoveReason,
}

/// The reply that a search on the opponent's time reckons with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Expected {
    /// Where the game stands.
    pub position: Position,
    /// The reply.
    pub mv: Move,
}

/// What a move rests on.
#[derive(Debug, Clone)]
pub(crate) enum MoveReason {
    /// The book.
    Book(Choice),
    /// What an analysis of the book has found of the position.
    Analysed(BookValue),
    /// What a search of the same position found in another game.
    Learned(UnrefutedMove),
    /// A search.
    Search(SearchResult),
}

/// What a search with bounds of its own has found.
#[derive(Debug, Clone)]
pub(crate) struct OrderedResult {
    /// The best move; `None` where there is none.
    pub mv: Option<Move>,
    /// The reply that is expected.
    pub ponder: Option<Move>,
    /// What the move rests on.
    pub move_reason: MoveReason,
}
