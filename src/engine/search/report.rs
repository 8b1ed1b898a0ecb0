//! Events, results and faults of a search.

use std::time::Duration;

use thiserror::Error;

use crate::chess::position::{Move, Position};
use crate::chess::score::{Depth, Ply, Score};
use crate::games::book::{BookValue, Counts, transposition};

/// How a score relates to the true value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bound {
    /// The value is at most the score: the search failed low.
    Upper,
    /// The value is at least the score: the search failed high.
    Lower,
    /// The score is the value.
    Exact,
}

/// An event of a running search.
#[derive(Debug, Clone)]
pub enum SearchEvent {
    /// An iteration, or an aspiration window within it, has ended.
    Iteration(Report),
    /// Another move has become the best within an iteration, or the search is about to end with a
    /// move other than the last reported.
    NewBest(Report),
    /// A line has transposed into the book, or there is an analysis of the root. At the end of a
    /// search: the line or analysis that determined the result.
    Transposition(Transposition),
    /// A root move's search begins (reported once the search has run for a while).
    RootMove {
        /// The move.
        mv: Move,
        /// Its place in the order, from 1.
        number: usize,
        /// The number of root moves.
        of: usize,
        /// The iteration, in plies.
        depth: Depth,
        /// Nodes so far.
        nodes: u64,
        /// Time so far.
        elapsed: Duration,
    },
}

/// The state of the search after an iteration.
#[derive(Debug, Clone)]
pub struct Report {
    /// The iteration, in plies.
    pub depth: Depth,
    /// The longest line searched, in plies.
    pub selective_depth: Ply,
    /// The score of the line for the side to move.
    pub score: Score,
    /// Whether the score is exact or a bound.
    pub bound: Bound,
    /// Time since the start of the search.
    pub elapsed: Duration,
    /// Nodes of all threads since the start of the search.
    pub nodes: u64,
    /// The principal variation; empty if the root has no legal move.
    pub pv: Vec<Move>,
    /// Rank of the line, from 1.
    pub multi_pv: usize,
    /// Share of the transposition table filled by this search, in thousandths.
    pub hash_full: u32,
    /// Successful tablebase probes.
    pub tablebase_hits: u64,
    /// Where the principal variation enters the book, if it does.
    pub book: Option<Transposition>,
}

/// A line that leads into the book.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transposition {
    /// The moves from the root to the book position; empty if that is the root.
    pub line: Vec<Move>,
    /// The results of the games that reached that position, by any move order.
    pub counts: Counts,
    /// The analysis of that position, if the search uses analyses.
    pub value: Option<BookValue>,
}

impl Transposition {
    /// Describes a line that begins in `position`.
    pub(crate) fn describe(&self, position: &Position) -> String {
        transposition(position, &self.line, self.counts, self.value.as_ref())
    }
}

/// Statistics of work shared among the threads of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Sharing {
    /// Nodes whose moves were shared.
    pub splits: u64,
    /// Shared nodes at which another thread has searched a move.
    pub joined: u64,
    /// How often a thread joined a node of another.
    pub joins: u64,
    /// Total idle time of all threads, from the start of the search to its end.
    pub waiting: Duration,
}

/// The result of a search.
#[derive(Debug, Clone, Default)]
pub struct SearchResult {
    /// The move to play; `None` only if there is no legal one.
    pub best: Option<Move>,
    /// The expected reply.
    pub ponder: Option<Move>,
    /// The last exact score for the side to move, never a bound.
    ///
    /// If the search was stopped after its window had failed, this is the score of the iteration
    /// before. If no iteration has a score, it is the static evaluation.
    pub score: Score,
    /// The last completed iteration, in plies.
    pub depth: Depth,
    /// Nodes of all threads.
    pub nodes: u64,
    /// Time taken.
    pub elapsed: Duration,
    /// Statistics of shared work.
    pub sharing: Sharing,
    /// The line into the book by which the search ended early. An empty line: the analysis by which
    /// the move was chosen.
    pub book: Option<Transposition>,
}

/// A lack of resources or a failure. The searcher continues with what it has.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SearchFault {
    /// There is no memory for a larger table.
    #[error(
        "cannot set the transposition table to {wanted} MB: not enough memory; it has {kept} MB"
    )]
    Memory {
        /// The requested size, in megabytes.
        wanted: usize,
        /// The actual size, in megabytes.
        kept: usize,
    },
    /// Not all threads could be started.
    #[error("cannot start {wanted} search threads: the system allows {searching}, which are used")]
    Threads {
        /// The requested number.
        wanted: usize,
        /// The actual number.
        searching: usize,
    },
    /// A search thread has panicked or did not start; the search ended with its results so far.
    #[error(
        "search thread {thread} has crashed ({why}); this search ends early, the next uses all \
         threads"
    )]
    Crash {
        /// Its number, from 0.
        thread: usize,
        /// The panic message or the system's error message.
        why: String,
    },
    /// An endgame table is damaged; a description.
    #[error("{0}")]
    Endgames(String),
}
