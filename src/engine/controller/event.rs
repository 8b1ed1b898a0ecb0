use crate::chess::position::{Move, Outcome, Position};
use crate::engine::search::{Report, SearchResult, Transposition};
use crate::games::book::{BookValue, Choice, UnrefutedMove};

#[derive(Debug, Clone)]
pub(crate) enum Event {
    /// A search has made progress.
    Report(SearchProgress),
    /// A line in the search has transposed into the book.
    Transposed(Transposed),
    /// A note about the counts in the book. It is sent before the first counts in a game.
    Note(&'static str),
    /// Learned results vetoed book moves; contains a description.
    Vetoed(String),
    /// The engine has played a move.
    Moved(Moved),
    /// The engine has started to ponder.
    Pondering(Expected),
    /// A search that was requested with explicit limits has ended.
    OrderedResult(OrderedResult),
    /// The game is over according to the rules.
    Over(Outcome),
    /// The engine offers or accepts a draw.
    OfferDraw,
    Resigned,
    /// All requests before the ping with this number are complete.
    Pong(u64),
    /// The book could not be opened; contains the reason.
    BookFailed(String),
    /// A resource is unavailable or something failed; contains a description. The engine continues.
    Fault(String),
}

/// A search report with the data needed to display it.
#[derive(Debug, Clone)]
pub(crate) struct SearchProgress {
    /// The current position of the game, before the expected move.
    pub position: Position,
    /// The expected move if the engine is pondering. The line in the report starts after this
    /// move.
    pub expected: Option<Move>,
    /// The report. Scores are for the side to move after the expected move.
    pub report: Report,
}

/// A line that transposed into the book.
#[derive(Debug, Clone)]
pub(crate) struct Transposed {
    /// The position at the start of the line.
    pub position: Position,
    /// The line, and the games that reached the position at its end.
    pub found: Transposition,
    /// The last report of the search, if any.
    pub report: Option<Report>,
    /// Additional book data about the position at the end of the line, for analysis. Empty during
    /// play.
    pub more: String,
}

impl Transposed {
    /// Describes the transposition in one line of text.
    pub(crate) fn describe(&self) -> String {
        let found = self.found.describe(&self.position);
        if self.more.is_empty() { found } else { format!("{found}; {}", self.more) }
    }
}

/// A move played by the engine.
#[derive(Debug, Clone)]
pub(crate) struct Moved {
    /// The position in which the move was played.
    pub position: Position,
    pub mv: Move,
    pub move_reason: MoveReason,
}

/// The reply that the engine expects and ponders on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Expected {
    /// The current position of the game, before the expected reply.
    pub position: Position,
    /// The expected reply.
    pub mv: Move,
}

/// The origin of a move.
#[derive(Debug, Clone)]
pub(crate) enum MoveReason {
    /// The games in the book.
    Book(Choice),
    /// An analysis of the position, stored in the book.
    Analysed(BookValue),
    /// The result of a search of the same position in another game.
    Learned(UnrefutedMove),
    Search(SearchResult),
}

/// The result of a search that was requested with explicit limits.
#[derive(Debug, Clone)]
pub(crate) struct OrderedResult {
    /// The best move, or `None` if there are no legal moves.
    pub mv: Option<Move>,
    /// The expected reply, if known.
    pub ponder: Option<Move>,
    /// The origin of the move.
    pub move_reason: MoveReason,
}
