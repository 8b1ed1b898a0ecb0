//! What a searcher works with, as one value.

use super::book_probe::BookSearch;
use super::limits::ResearchOrder;
use crate::book::Book;
use crate::eval::Evaluation;
use crate::tablebase::Tables;

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
    /// How a reduced move that turns out better is searched again.
    pub research_order: ResearchOrder,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            memory_mb: 64,
            threads: 1,
            evaluation: Evaluation::default(),
            endgames: None,
            book: None,
            book_search: BookSearch::default(),
            research_order: ResearchOrder::default(),
        }
    }
}
