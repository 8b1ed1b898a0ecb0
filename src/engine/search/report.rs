//! Search events, reports, results and faults.

use std::time::Duration;

use thiserror::Error;

use crate::chess::position::{Move, Position};
use crate::chess::score::{Depth, Ply, Score};
use crate::games::book::{BookValue, Counts, transposition};

/// Whether a score is exact or a bound on the true value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bound {
    /// The value is at most the score. The search failed low.
    Upper,
    /// The value is at least the score. The search failed high.
    Lower,
    /// The score is the exact value.
    Exact,
}

/// An event reported by a running search.
#[derive(Debug, Clone)]
pub enum SearchEvent {
    /// An iteration has finished for one line, or one of its aspiration windows has failed high or
    /// low.
    Iteration(Report),
    /// A new best move was found during an iteration, the order of the lines changed, or the move
    /// about to be returned differs from the one last reported.
    NewBest(Report),
    /// The search found a line that transposes into the book, or the book contains an analysis of
    /// the root. Sent again at the end of the search if the line or analysis determined the result.
    Transposition(Transposition),
    /// The search of a root move is starting. Not sent in the first second, because root moves
    /// change too quickly at first.
    RootMove {
        /// The move whose search is starting.
        mv: Move,
        /// 1-based position of the move in the search order.
        number: usize,
        /// Number of root moves in total.
        of: usize,
        /// Depth of the iteration, in plies.
        depth: Depth,
        /// Nodes searched since the start of the search.
        nodes: u64,
        /// Time since the start of the search.
        elapsed: Duration,
    },
}

/// A progress report on one line of the search, sent for example after an iteration.
#[derive(Debug, Clone)]
pub struct Report {
    /// Depth of the iteration, in plies.
    pub depth: Depth,
    /// Length of the longest line searched in this iteration, in plies.
    pub selective_depth: Ply,
    /// Score of the line in centipawns, from the point of view of the side to move at the root.
    pub score: Score,
    /// Whether the score is exact or a bound.
    pub bound: Bound,
    /// Time since the start of the search.
    pub elapsed: Duration,
    /// Number of nodes searched by all threads since the start of the search.
    pub nodes: u64,
    /// The principal variation. Empty if the root has no legal moves.
    pub pv: Vec<Move>,
    /// 1-based rank of the line.
    pub multi_pv: usize,
    /// How full the transposition table is, in permille, counting only the entries of this search.
    pub hash_full: u32,
    /// Number of successful tablebase probes.
    pub tablebase_hits: u64,
    /// The line that leads from the root into the book, if the principal variation enters it.
    pub book: Option<Transposition>,
}

/// A line of moves that leads into the book.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transposition {
    /// The moves from the root to the book position. Empty if the root itself is in the book.
    pub line: Vec<Move>,
    /// Results of the games that reached the book position, via any move order.
    pub counts: Counts,
    /// The book's analysis of the position, if there is one and the search uses analyses.
    pub value: Option<BookValue>,
}

impl Transposition {
    /// Describes the line in words. `position` is the root, from which the line starts.
    pub(crate) fn describe(&self, position: &Position) -> String {
        transposition(position, &self.line, self.counts, self.value.as_ref())
    }
}

/// Statistics on how the threads of a search shared their work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Sharing {
    /// Number of nodes whose moves were shared among threads (split points).
    pub splits: u64,
    /// Number of shared nodes at which another thread searched at least one move.
    pub joined: u64,
    /// Number of times a thread joined a node shared by another thread.
    pub joins: u64,
    /// Total idle time of all threads during the search.
    pub waiting: Duration,
}

/// The result of a completed or stopped search.
#[derive(Debug, Clone, Default)]
pub struct SearchResult {
    /// The move to play, or `None` if there are no legal moves.
    pub best: Option<Move>,
    /// The expected reply, if known.
    pub ponder: Option<Move>,
    /// The last exact score (never a bound), in centipawns from the side to move's point of view.
    ///
    /// If the search was stopped after a fail high or fail low, this is the score from the previous
    /// iteration. If no iteration has produced a score, this is the static evaluation.
    pub score: Score,
    /// Depth of the last completed iteration, in plies.
    pub depth: Depth,
    /// Total number of nodes searched by all threads.
    pub nodes: u64,
    /// Time that the search took.
    pub elapsed: Duration,
    /// Time since the start of the search or the ponder hit, capped at the hard time limit. Any
    /// time beyond the limit is a delay caused by the machine.
    pub planned: Duration,
    /// Statistics on how the threads shared their work.
    pub sharing: Sharing,
    /// The transposition into the book that determined the result, if any. Its line is empty if the
    /// result is the book's analysis of the root.
    pub book: Option<Transposition>,
}

/// An unavailable resource, or a failure during a search. The searcher carries on with whatever
/// resources it has.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SearchFault {
    /// There is not enough memory for a transposition table of the requested size.
    #[error(
        "cannot set the transposition table to {wanted} MB: not enough memory; it has {kept} MB"
    )]
    Memory {
        /// Requested size, in megabytes.
        wanted: usize,
        /// Actual size, in megabytes.
        kept: usize,
    },
    /// Not all threads could be started.
    #[error("cannot start {wanted} search threads: the system allows {searching}, which are used")]
    Threads {
        /// Requested number of threads.
        wanted: usize,
        /// Actual number of threads.
        searching: usize,
    },
    /// A search thread panicked or could not be started. The search ended early with the results
    /// found so far.
    #[error(
        "search thread {thread} has crashed ({why}); this search ends early, the next uses all \
         threads"
    )]
    Crash {
        /// Thread number, counted from 0.
        thread: usize,
        /// The panic message, or the operating system's error if the thread could not be started.
        why: String,
    },
    /// An endgame table is damaged. Contains a description of the damage.
    #[error("{0}")]
    Endgames(String),
}
