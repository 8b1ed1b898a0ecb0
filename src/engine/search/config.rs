//! Configuration of a searcher: resources, evaluation, and how the book is used.

use crate::chess::score::Score;
use crate::engine::eval::Evaluation;
use crate::engine::tablebase::Tables;
use crate::games::book::Book;
use crate::support::threads::cores;
use crate::support::words::named_values;

/// The configuration of a searcher. With one thread and no time limit, searchers with the same
/// configuration search identically.
///
/// Pass it to [`Searcher::configure`](super::Searcher::configure).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// Memory for the transposition table, in mebibytes.
    pub memory_mb: usize,
    /// Number of search threads, including the main one; at least 1.
    pub threads: usize,
    /// The evaluation to use. Changing it clears the transposition table and the histories, as for
    /// a new game.
    pub evaluation: Evaluation,
    /// Endgame tables. They are probed at the root and after every capture or pawn move.
    pub endgames: Option<Tables>,
    /// The book in which the search looks up the nodes of its tree.
    pub book: Option<Book>,
    /// What the search does at book positions.
    pub book_search: BookSearch,
    /// Maximum number of centipawns that the search may give up for a move back into the book
    /// ([`BookSearch::Steer`]).
    pub steer_margin: Score,
    /// Order of the re-searches when the reduced search of a late move scores above alpha.
    pub research_order: ResearchOrder,
    /// Maximum number of threads that work on one tree at a time; `None` for one per core. More
    /// threads than cores would slow the search down.
    pub cores: Option<usize>,
}

impl Config {
    pub(super) fn cores(&self) -> usize {
        self.cores.unwrap_or_else(cores)
    }
}

/// Default of [`Config::steer_margin`], chosen by hand to be less than the value of a tempo in a
/// one-second search.
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

/// What the search does at book positions in its tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum BookSearch {
    /// The search does not look up nodes in the book.
    #[default]
    Off,
    /// The first node found in the book ends the search immediately, however bad the line to it is.
    /// This mode is for study and comparison.
    First,
    /// A book position below the best move may end the search early once that move has been stable
    /// for several iterations. The line to the book position must be plausible, and the book's
    /// results must not be bad for the side to move at the root.
    Stop,
    /// Like [`BookSearch::Stop`], but the search also uses the book's analyses like table entries:
    /// it uses the score of an analysis that is deep enough, and otherwise only the move.
    Value,
    /// Like [`BookSearch::Value`], but the search also prefers a move whose best line leads back
    /// into the book, provided that it is about as good as the best move.
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

/// Order of the re-searches after a reduced late move has beaten alpha at a PV node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ResearchOrder {
    /// Re-searches at full depth with a null window first, and then with the open window.
    #[default]
    DepthFirst,
    /// Re-searches at reduced depth with the open window first, and then at full depth.
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
