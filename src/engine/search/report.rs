//! What a search tells while it runs and when it ends, and what goes wrong with it.

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

/// News from a running search.
#[derive(Debug, Clone)]
pub enum SearchEvent {
    /// An iteration, or an aspiration window within it, has ended.
    Iteration(Report),
    /// Within an iteration another move has become the best; or the search is about to end with
    /// another move than the one told last.
    NewBest(Report),
    /// A line of the search has transposed into the book, or an analysis knows the root; at the end
    /// of a search: what ended it, or what its move rests on.
    Transposition(Transposition),
    /// A root move's turn has come (told once the search has run for a while).
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
    /// The principal variation; empty where the root has no legal move.
    pub pv: Vec<Move>,
    /// Which of the best lines this is, from 1.
    pub multi_pv: usize,
    /// How much of the transposition table this search has filled, in thousandths.
    pub hash_full: u32,
    /// Successful tablebase probes.
    pub tablebase_hits: u64,
    /// Where the principal variation enters the book, if it does.
    pub book: Option<Transposition>,
}

/// A line that leads into the book.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transposition {
    /// The moves from the root to the position that the book knows; none where that is the root.
    pub line: Vec<Move>,
    /// The results of the games that reached that position, by any order of moves.
    pub counts: Counts,
    /// What an analysis has found of it, if the search takes that.
    pub value: Option<BookValue>,
}

impl Transposition {
    /// This, as reported of a line that begins in `position`.
    pub(crate) fn describe(&self, position: &Position) -> String {
        transposition(position, &self.line, self.counts, self.value.as_ref())
    }
}

/// How the threads of a search worked together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Sharing {
    /// Nodes whose moves were shared out.
    pub splits: u64,
    /// Those of them at which another thread has searched a move.
    pub joined: u64,
    /// How often a thread came to a node to help there.
    pub joins: u64,
    /// How long threads had nothing to do, all of them together, from the begin of the search to its end.
    pub waiting: Duration,
}

/// The result of a search.
#[derive(Debug, Clone, Default)]
pub struct SearchResult {
    /// The move to play; `None` only where there is no legal one.
    pub best: Option<Move>,
    /// The reply that the search expects.
    pub ponder: Option<Move>,
    /// The last exact score for the side to move, never a bound: where the search was stopped after
    /// its window had failed, the score of the iteration before. The static evaluation if no
    /// iteration has a score.
    pub score: Score,
    /// The last completed iteration, in plies.
    pub depth: Depth,
    /// Nodes of all threads.
    pub nodes: u64,
    /// Time taken.
    pub elapsed: Duration,
    /// How the threads worked together.
    pub sharing: Sharing,
    /// The line into the book by which the search ended early; without a line: the analysis by which
    /// the move was chosen.
    pub book: Option<Transposition>,
}

/// What the system does not give, or what broke. The searcher goes on with what it has.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SearchFault {
    /// There is no memory for a larger table.
    #[error("there is no memory for a transposition table of {wanted} MB: it has {kept} MB")]
    Memory {
        /// The megabytes asked for.
        wanted: usize,
        /// Those of the table there is.
        kept: usize,
    },
    /// Not all threads could be started.
    #[error("the system starts no more than {searching} of {wanted} search threads: those search")]
    Threads {
        /// The threads asked for.
        wanted: usize,
        /// Those that there are.
        searching: usize,
    },
    /// A search thread has panicked; the search ended with what it had found by then.
    #[error(
        "search thread {thread} has crashed ({why}): the search ends early, the next is whole again"
    )]
    Crash {
        /// Its number, from 0.
        thread: usize,
        /// What it said.
        why: String,
    },
    /// An endgame table is damaged; in words.
    #[error("{0}")]
    Endgames(String),
}
