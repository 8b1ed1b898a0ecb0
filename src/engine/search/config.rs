//! Configuration of a searcher: resources, evaluation, and the use of the book.

use std::num::NonZero;

use crate::chess::score::Score;
use crate::engine::eval::Evaluation;
use crate::engine::tablebase::Tables;
use crate::games::book::Book;
use crate::support::words::named_values;

/// The configuration of a searcher. Single-threaded searches with equal configurations are
/// identical.
///
/// Pass it as a whole to [`Searcher::configure`](super::Searcher::configure). Each option of the
/// search is a field, which the search reads where it needs the value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// Memory for the transposition table, in mebibytes.
    pub memory_mb: usize,
    /// Number of search threads, including the main one; at least 1.
    pub threads: usize,
    /// Evaluation of positions. A change discards what was learned with the previous evaluation.
    pub evaluation: Evaluation,
    /// Endgame tables, probed at the root and after every capture or pawn move.
    pub endgames: Option<Tables>,
    /// The book in which the nodes of the tree are looked up.
    pub book: Option<Book>,
    /// The effect of book positions on the search.
    pub book_search: BookSearch,
    /// Maximum loss in centipawns for a move that leads back into the book ([`BookSearch::Steer`]).
    pub steer_margin: Score,
    /// The order of the re-searches after a reduced move beats alpha.
    pub research_order: ResearchOrder,
    /// Maximum number of threads that work on one tree at a time; `None` for one per core. Using
    /// more threads than cores slows the search down.
    pub cores: Option<usize>,
}

impl Config {
    pub(super) fn cores(&self) -> usize {
        self.cores.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, NonZero::get))
    }
}

/// Default of [`Config::steer_margin`], in centipawns. It is less than a tempo is worth in a search
/// of one second. Hand-set.
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

/// The effect that book positions in the tree have on the search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum BookSearch {
    /// The nodes of the tree are not looked up in the book.
    #[default]
    Off,
    /// A match ends the search immediately, whatever the line. Intended for study and comparison.
    First,
    /// A match is stored with its line. The search may end early if its long-settled best move
    /// leads to the match by plausible play, unless the book's verdict is bad for the side to move
    /// at the root.
    Stop,
    /// Like [`BookSearch::Stop`]. In addition, the match's analysis is used like a transposition
    /// table entry: at sufficient depth its score is used; otherwise its move is searched first.
    Value,
    /// Like [`BookSearch::Value`]. In addition, among moves about as good as the best one, the
    /// search plays one whose best line leads back into the book.
    Steer,
}

impl BookSearch {
    /// Whether the search uses the analyses in the book.
    pub const fn takes_values(self) -> bool {
        matches!(self, BookSearch::Value | BookSearch::Steer)
    }
}

named_values! { pub BookSearch, "book search mode":
    Off = "off", First = "first", Stop = "stop", Value = "value", Steer = "steer"
}

/// Order of the re-searches after a late move beats alpha at a PV node.
///
/// The first search has a null window and a reduced depth. The re-searches undo these two
/// restrictions one after the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ResearchOrder {
    /// First searches at full depth with the null window. If the move still beats alpha, searches
    /// with the open window.
    #[default]
    DepthFirst,
    /// First searches with the open window at the reduced depth. If the move still beats alpha,
    /// searches at full depth.
    WindowFirst,
}

named_values! { pub ResearchOrder, "re-search order":
    DepthFirst = "depth-first", WindowFirst = "window-first"
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
