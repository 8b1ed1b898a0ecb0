//! What a searcher works with, as one value.

use std::num::NonZero;
use std::str::FromStr;

use thiserror::Error;

use crate::chess::score::Score;
use crate::engine::eval::Evaluation;
use crate::engine::tablebase::Tables;
use crate::games::book::Book;

/// What a searcher works with. Two are equal if searches by them are the same.
///
/// It is handed over whole, to [`Searcher::configure`](super::Searcher::configure): an option of the
/// search is a field here and the place where the search reads it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// What the transposition table may take, in mebibytes.
    pub memory_mb: usize,
    /// Threads that search, the one that asks among them; at least 1.
    pub threads: usize,
    /// What judges positions. What was learnt by another is forgotten.
    pub evaluation: Evaluation,
    /// The endgame tables that are asked at the root and at every capture and pawn move.
    pub endgames: Option<Tables>,
    /// The book that the tree is compared with.
    pub book: Option<Book>,
    /// What a position of the book does to the search.
    pub book_search: BookSearch,
    /// What may be given up, in centipawns, to lead back into the book ([`BookSearch::Steer`]).
    pub steer_margin: Score,
    /// How a reduced move that turns out better is searched again.
    pub research_order: ResearchOrder,
    /// How many threads may be at work on one tree at a time; `None`: as many as the machine has cores
    /// for. More than that are slower than fewer.
    pub cores: Option<usize>,
}

impl Config {
    /// How many threads may be at work on one tree at a time.
    pub(super) fn cores(&self) -> usize {
        self.cores.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, NonZero::get))
    }
}

/// The default of [`Config::steer_margin`]: less than what one move is worth to a search of a second.
/// Hand-set.
const STEER_MARGIN: Score = 15;

impl Default for Config {
    fn default() -> Self {
        Config {
            memory_mb: 64,
            threads: 1,
            evaluation: Evaluation::default(),
            endgames: None,
            book: None,
            book_search: BookSearch::default(),
            steer_margin: STEER_MARGIN,
            research_order: ResearchOrder::default(),
            cores: None,
        }
    }
}

/// What a node that is in the book does to the search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum BookSearch {
    /// Nothing: the tree is not compared with the book.
    #[default]
    Off,
    /// It ends the search at once, whatever line it is in: for study and comparison.
    First,
    /// It is remembered with its line; the search may end early when its best move, long settled,
    /// leads there by plausible play, unless the book's verdict is bad for us.
    Stop,
    /// As `Stop`; and what an analysis has found of it settles it, as an entry of the transposition
    /// table does: to at least the depth wanted, its score; to less, the move that is searched first.
    Value,
    /// As `Value`; and of moves that are worth about as much as the best, one is played whose best
    /// line leads back into the book.
    Steer,
}

/// A text that names no [`BookSearch`].
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("unknown book search mode `{0}` (expected off, first, stop, value or steer)")]
pub struct ParseBookSearchError(String);

impl BookSearch {
    /// All modes.
    pub const ALL: [BookSearch; 5] = [
        BookSearch::Off,
        BookSearch::First,
        BookSearch::Stop,
        BookSearch::Value,
        BookSearch::Steer,
    ];

    /// Whether what an analysis has found takes part in the search.
    pub const fn takes_values(self) -> bool {
        matches!(self, BookSearch::Value | BookSearch::Steer)
    }

    /// The word for the mode, in options and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            BookSearch::Off => "off",
            BookSearch::First => "first",
            BookSearch::Stop => "stop",
            BookSearch::Value => "value",
            BookSearch::Steer => "steer",
        }
    }
}

impl FromStr for BookSearch {
    type Err = ParseBookSearchError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mode = BookSearch::ALL.into_iter().find(|mode| mode.name() == text);
        mode.ok_or_else(|| ParseBookSearchError(text.to_owned()))
    }
}

/// How a late move is searched again that beats alpha at a PV node with a null window and at
/// reduced depth: two things are to be made good, and one comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ResearchOrder {
    /// The full depth with the null window; then, if it is still better, the open window.
    #[default]
    DepthFirst,
    /// The open window at the reduced depth; then, if it is still better, the full depth.
    WindowFirst,
}

impl ResearchOrder {
    /// Both, the engine's own first.
    pub const ALL: [ResearchOrder; 2] = [ResearchOrder::DepthFirst, ResearchOrder::WindowFirst];

    /// Its name as a setting.
    pub const fn name(self) -> &'static str {
        match self {
            ResearchOrder::DepthFirst => "depth-first",
            ResearchOrder::WindowFirst => "window-first",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_are_read_from_their_names() {
        assert_eq!("steer".parse(), Ok(BookSearch::Steer));
        assert!("always".parse::<BookSearch>().is_err());
    }
}
