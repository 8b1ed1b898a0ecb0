//! The configuration of a searcher.

use std::num::NonZero;
use std::str::FromStr;

use crate::chess::score::Score;
use crate::engine::eval::Evaluation;
use crate::engine::tablebase::Tables;
use crate::games::book::Book;
use crate::support::error::ParseError;

/// The configuration of a searcher. Equal configurations give the same searches.
///
/// Pass it as a whole to [`Searcher::configure`](super::Searcher::configure). Each option of the
/// search is a field here, read where the search uses it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// Memory for the transposition table, in mebibytes.
    pub memory_mb: usize,
    /// Number of search threads, including the calling one; at least 1.
    pub threads: usize,
    /// The evaluation of positions. Changing it discards what was learnt with another.
    pub evaluation: Evaluation,
    /// The endgame tables probed at the root and after every capture and pawn move.
    pub endgames: Option<Tables>,
    /// The book that the tree is compared with.
    pub book: Option<Book>,
    /// Effect of book positions on the search.
    pub book_search: BookSearch,
    /// Largest sacrifice, in centipawns, for a move that leads back into the book
    /// ([`BookSearch::Steer`]).
    pub steer_margin: Score,
    /// Order of the re-searches of a reduced move that beats alpha.
    pub research_order: ResearchOrder,
    /// Number of threads that may work on one tree at a time; `None` for one per core. More than
    /// that slow the search down.
    pub cores: Option<usize>,
}

impl Config {
    pub(super) fn cores(&self) -> usize {
        self.cores.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, NonZero::get))
    }
}

/// The default of [`Config::steer_margin`]: less than one move is worth to a search of a second.
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

/// Effect of a book position in the tree on the search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum BookSearch {
    /// None: the tree is not compared with the book.
    #[default]
    Off,
    /// It ends the search at once, whatever the line: for study and comparison.
    First,
    /// It is stored with its line. The search may end early when its long-settled best move leads
    /// there by plausible play, unless the book's verdict is bad for the side to move at the root.
    Stop,
    /// As `Stop`, and its analysis is used like an entry of the transposition table: at sufficient
    /// depth its score is used, otherwise its move is searched first.
    Value,
    /// As `Value`. In addition, among moves worth about as much as the best, one is played whose
    /// best line leads back into the book.
    Steer,
}

impl BookSearch {
    /// All modes.
    pub const ALL: [BookSearch; 5] = [
        BookSearch::Off,
        BookSearch::First,
        BookSearch::Stop,
        BookSearch::Value,
        BookSearch::Steer,
    ];

    /// Whether the search uses the book's analyses.
    pub const fn takes_values(self) -> bool {
        matches!(self, BookSearch::Value | BookSearch::Steer)
    }

    /// Returns the name of the mode in options and on the command line.
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
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mode = BookSearch::ALL.into_iter().find(|mode| mode.name() == text);
        mode.ok_or_else(|| {
            let names = BookSearch::ALL.map(BookSearch::name).join(", ");
            ParseError(format!("unknown book search mode {text:?}: expected one of {names}"))
        })
    }
}

/// Order of the re-searches of a late move that beats alpha at a PV node.
///
/// The first search has a null window and a reduced depth. Both must be undone, one of them first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ResearchOrder {
    /// First full depth with the null window, then, if it is still better, the open window.
    #[default]
    DepthFirst,
    /// First the open window at the reduced depth, then, if it is still better, the full depth.
    WindowFirst,
}

impl ResearchOrder {
    /// Both orders, the default first.
    pub const ALL: [ResearchOrder; 2] = [ResearchOrder::DepthFirst, ResearchOrder::WindowFirst];

    /// Returns the name of the order in settings.
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
    fn book_search_modes_are_parsed_by_name() {
        assert_eq!("steer".parse(), Ok(BookSearch::Steer));
        assert!("always".parse::<BookSearch>().is_err());
    }
}
