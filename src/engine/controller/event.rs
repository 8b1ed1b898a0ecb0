use std::time::Duration;

use crate::chess::position::{Move, Outcome, Position};
use crate::engine::search::{Report, SearchResult, Transposition};
use crate::games::book::{BookValue, Choice, UnrefutedMove};

#[derive(Debug, Clone)]
pub(crate) enum Event {
    Report(SearchProgress),
    Transposed(Transposed),
    /// A note that explains where the embedded book's counts come from. Sent once per game, before
    /// such counts are first shown.
    Note(&'static str),
    /// Learned results have vetoed book moves. Contains a description.
    Vetoed(String),
    Moved(Moved),
    Pondering(Expected),
    OrderedResult(OrderedResult),
    Over(Outcome),
    OfferDraw,
    Resigned,
    /// All requests before the ping with this number are complete.
    Pong(u64),
    /// The book could not be opened. Contains the reason.
    BookFailed(String),
    /// A resource is unavailable or an operation has failed, but the engine continues. Contains a
    /// description.
    Fault(String),
}

#[derive(Debug, Clone)]
pub(crate) struct SearchProgress {
    /// The current position of the game. While the engine is pondering, this is the position before
    /// the expected move.
    pub position: Position,
    /// The expected move if the engine is pondering. The line in `report` starts after this move.
    pub expected: Option<Move>,
    /// The search report. If the engine is pondering, its scores are from the point of view of the
    /// side to move after the expected move.
    pub report: Report,
}

#[derive(Debug, Clone)]
pub(crate) struct Transposed {
    pub position: Position,
    pub found: Transposition,
    pub report: Option<Report>,
    /// During analysis, additional book data about the position at the end of the line. Empty
    /// during play.
    pub more: String,
}

impl Transposed {
    pub(crate) fn describe(&self) -> String {
        let found = self.found.describe(&self.position);
        if self.more.is_empty() { found } else { format!("{found}; {}", self.more) }
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Moved {
    pub position: Position,
    pub mv: Move,
    pub move_reason: MoveReason,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Expected {
    pub position: Position,
    pub mv: Move,
}

#[derive(Debug, Clone)]
pub(crate) enum MoveReason {
    Book(Choice),
    Analysed(BookValue),
    /// The move was learned from a search of the same position in another game.
    Learned(UnrefutedMove),
    Search(SearchResult),
}

impl MoveReason {
    /// Returns the time that the engine planned to spend on the move, not counting delays caused by
    /// the machine.
    pub(crate) fn planned(&self) -> Duration {
        match self {
            MoveReason::Search(result) => result.planned,
            MoveReason::Book(_) | MoveReason::Analysed(_) | MoveReason::Learned(_) => {
                Duration::ZERO
            }
        }
    }
}

#[derive(Debug, Clone)]
pub(crate) struct OrderedResult {
    pub mv: Option<Move>,
    pub ponder: Option<Move>,
    pub move_reason: MoveReason,
}
