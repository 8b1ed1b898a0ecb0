//! Observation of the engine's search, step by step.
//!
//! A `Worker` is generic over its `OptionalObserver`. In normal play, this is `()`, for which the
//! `show` method compiles to nothing. The number of instructions differs by less than a thousandth
//! from that of a search without this code (see "The engine's own search" in docs/lessons.md). The
//! program contains a second instance of the search for a boxed observer.
//!
//! `trace` stores the visits. Each thread takes visit numbers from a shared counter and records the
//! number of the parent visit. A `SplitPoint` contains that number as a `VisitRef`, so that the
//! visits of its helpers can be attached to the tree at the end. The search also keeps its own
//! `Counters`, which must equal the totals of the reported steps.
//!
//! ```
//! use tabia::position::Game;
//! use tabia::search::observe::{Observer, SearchStep, VisitRef};
//! use tabia::search::{Config, Control, Limits, Searcher};
//!
//! /// Ignores all steps.
//! struct Blind;
//!
//! impl Observer for Blind {
//!     fn on_step(&mut self, _: &SearchStep<'_>) {}
//!
//!     fn place(&self) -> VisitRef {
//!         VisitRef::default()
//!     }
//! }
//!
//! let mut searcher = Searcher::new(Config { memory_mb: 1, ..Config::default() });
//! let (game, limits, control) = (Game::default(), Limits::depth(2), Control::new());
//! let result =
//!     searcher.search_observed(&game, &limits, &control, &mut |_| {}, &mut |_| Box::new(Blind));
//! assert!(result.best.is_some());
//! ```

use serde::Serialize;

use crate::chess::position::{Move, Position};
use crate::chess::score::{Depth, Ply, Score};

/// A thread's current visit to a node, as recorded by its observer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct VisitRef {
    /// Number of the innermost recorded visit on the path to the current node, or 0 if no visit on
    /// this path is recorded.
    pub visit: u64,
    /// Whether visits to nodes below the current node may be recorded too. If so, `visit` is the
    /// visit to the current node itself.
    pub open: bool,
}

/// The reason why a node is searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SearchReason {
    /// Root of an iteration, or the re-search of the root after a failed aspiration window.
    Root,
    /// The first move at a node, searched with the node's window.
    First,
    /// A later move, searched with a null window and possibly at reduced depth.
    Late {
        /// Reduction in plies.
        reduction: Depth,
    },
    /// Re-search of a reduced move at full depth, after the reduced search beat alpha.
    Deeper,
    /// Re-search of a move at a PV node with the open window, after its null window search beat
    /// alpha.
    Open,
    /// Search after a null move, to test whether the score reaches beta even if the side to move
    /// passes.
    NullMove,
    /// Verification of a null move: the same node, searched without null moves to rule out
    /// zugzwang.
    NullMoveVerification,
    /// Singularity test: the same node, searched without the table move to test whether that move
    /// is the only good one.
    Singularity,
    /// Probcut: a capture, searched at reduced depth to test whether it beats beta by a margin.
    Probcut,
    /// A capture, promotion or evasion in the quiescence search.
    Noisy,
    /// A position on a line into the book, searched to verify the value of the line.
    BookLine,
}

impl SearchReason {
    /// Returns a short description of the reason.
    pub fn name(self) -> &'static str {
        match self {
            SearchReason::Root => "root",
            SearchReason::First => "first",
            SearchReason::Late { .. } => "late",
            SearchReason::Deeper => "again, deeper",
            SearchReason::Open => "again, open window",
            SearchReason::NullMove => "null move",
            SearchReason::NullMoveVerification => "null move verified",
            SearchReason::Singularity => "singularity",
            SearchReason::Probcut => "probcut",
            SearchReason::Noisy => "noisy",
            SearchReason::BookLine => "line into the book",
        }
    }
}

/// The rule or step that determined a node's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum NodeEnd {
    /// The node's moves were searched.
    Moves,
    /// There were no moves to search, usually because of mate or stalemate.
    NoMoves,
    /// A draw by the rules of chess, or because a position was repeated within the search.
    Draw,
    /// The window became empty, because a shorter mate or a draw is already available and this node
    /// cannot affect the result.
    EmptyWindow,
    /// An entry of the transposition table.
    Table,
    /// A result from the endgame tables.
    Endgames,
    /// The position is in the book, which ends the search
    /// ([`BookSearch::First`](super::BookSearch::First)).
    BookMatch,
    /// An analysis from the book.
    BookValue,
    /// Reverse futility: the evaluation is too far above beta to fall below it within a few plies.
    ReverseFutility,
    /// Null move pruning: the score reached beta although the side to move passed.
    NullMove,
    /// Probcut: a capture beat beta by a margin in a search at reduced depth.
    Probcut,
    /// Multi-cut: a reduced search without the table move indicates that several moves would fail
    /// high.
    MultiCut,
    /// Stand pat in the quiescence search: the static evaluation reaches beta, so no move needs to
    /// be searched.
    StandPat,
    /// A search for mates reached its depth limit without finding a mate on this line.
    NoMate,
    /// The maximum length of a line.
    MaxPly,
    /// The search was stopped or a node above was cut off, before this node was counted.
    Stopped,
    /// The search was stopped or a node above was cut off, while this node was being searched.
    Interrupted,
}

impl NodeEnd {
    /// Whether the visit ended before the node's value was known.
    pub fn is_early(self) -> bool {
        matches!(self, NodeEnd::Stopped | NodeEnd::Interrupted)
    }

    /// Returns a description in a few words.
    pub fn name(self) -> &'static str {
        match self {
            NodeEnd::Moves => "moves searched",
            NodeEnd::NoMoves => "no moves",
            NodeEnd::Draw => "draw",
            NodeEnd::EmptyWindow => "no better score possible",
            NodeEnd::Table => "transposition table",
            NodeEnd::Endgames => "endgame tables",
            NodeEnd::BookMatch => "results in the book",
            NodeEnd::BookValue => "analysis in the book",
            NodeEnd::ReverseFutility => "reverse futility",
            NodeEnd::NullMove => "null move",
            NodeEnd::Probcut => "probcut",
            NodeEnd::MultiCut => "multi-cut",
            NodeEnd::StandPat => "stand pat",
            NodeEnd::NoMate => "no mate within the depth",
            NodeEnd::MaxPly => "longest line",
            NodeEnd::Stopped => "stopped",
            NodeEnd::Interrupted => "interrupted",
        }
    }
}

/// The reason why a move was not searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PruneReason {
    /// Late move pruning: enough quiet moves have been searched before this one.
    Late,
    /// Futility: the evaluation is too low for the move to raise alpha.
    Futile,
    /// History: the move has failed too often in the past.
    History,
    /// Static exchange evaluation: the move loses material.
    Exchange,
}

impl PruneReason {
    /// Returns a description in a few words.
    pub fn name(self) -> &'static str {
        match self {
            PruneReason::Late => "late move pruning",
            PruneReason::Futile => "futility",
            PruneReason::History => "history",
            PruneReason::Exchange => "exchange",
        }
    }
}

/// Event counts kept by the search itself, which must match the totals of an observer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Counters {
    /// Number of nodes, as shown in search reports.
    pub nodes: u64,
    /// Number of nodes at which a move failed high.
    pub cutoffs: u64,
    /// Number of reduced moves searched again at full depth.
    pub deeper: u64,
    /// Number of moves at PV nodes that were searched again with the open window.
    pub open: u64,
}

/// A node that the search enters. The window is from the point of view of the side to move.
#[derive(Debug, Clone, Copy)]
pub struct Entry<'a> {
    /// The node's position.
    pub position: &'a Position,
    /// Distance from the root in plies.
    pub ply: Ply,
    /// The move that led to the node; `None` at the root and after a null move.
    pub via: Option<Move>,
    /// Remaining depth in plies; 0 in quiescence.
    pub depth: Depth,
    /// Lower bound of the window. The side to move can already achieve this score elsewhere.
    pub alpha: Score,
    /// Upper bound of the window. If it is reached, the opponent will avoid the node.
    pub beta: Score,
    /// Whether the node belongs to the quiescence search.
    pub quiescence: bool,
}

/// A step in a search. A step that does not name a node refers to the most recently entered node
/// that the search has not left yet.
#[derive(Debug, Clone, Copy)]
pub enum SearchStep<'a> {
    /// The main thread starts an iteration of this depth, in plies.
    Iteration(Depth),
    /// The search for the multi-PV line with this rank starts (1 for the best line).
    Line(usize),
    /// The next node will be entered for this reason.
    Next(SearchReason),
    /// The search enters a node.
    Enter(Entry<'a>),
    /// The node's window after mate distance pruning and repetition detection, which may have
    /// narrowed it.
    Narrowed {
        /// Lower bound of the window after narrowing.
        alpha: Score,
        /// Upper bound of the window after narrowing.
        beta: Score,
    },
    /// The node's static evaluation and table entry are known, and its moves will be searched next.
    Assessed {
        /// Static evaluation, or `None` if the side to move is in check.
        eval: Option<Score>,
        /// Whether the transposition table has an entry for the node.
        hit: bool,
    },
    /// The node's position is in the book.
    BookMatch {
        /// Number of the book's games that reached the position.
        games: u64,
    },
    /// The node's depth is reduced by this many plies, because the last move was already reduced
    /// and the evaluation has improved for the side to move.
    Hindsight(Depth),
    /// The table move is extended by this many plies, or reduced if the number is negative.
    Extended(Move, Depth),
    /// A move is pruned for this reason.
    Pruned(Move, PruneReason),
    /// Enough quiet moves have been searched, so the node's remaining quiet moves are skipped.
    QuietsPruned,
    /// A move was searched. A score above alpha raises alpha; one that reaches beta fails high.
    Scored {
        /// The move that was searched.
        mv: Move,
        /// Score of the move for the side to move.
        score: Score,
        /// Alpha before the move's score was recorded.
        alpha: Score,
    },
    /// The thread splits the node: its remaining moves are shared with other threads.
    Split,
    /// This thread joins a node that is shared by another thread.
    Join {
        /// The visit in which the other thread split the node.
        place: VisitRef,
        /// The node's position.
        position: &'a Position,
        /// Distance of the node from the root in plies.
        ply: Ply,
    },
    /// This thread leaves the shared node that it joined.
    Part,
    /// The value of the node was determined without searching its moves, or the visit ended before
    /// the value was known.
    Ended(NodeEnd),
    /// The search leaves the node with this value for the side to move. The value is meaningless
    /// if [`NodeEnd::is_early`] is true.
    Leave(Score),
    /// The thread has completed its part of the search. Contains its final counts.
    Done(Counters),
}

/// Receives every step in one thread's search.
pub trait Observer: Send {
    /// Called for every step of the thread, in the order in which the steps occur.
    fn on_step(&mut self, step: &SearchStep<'_>);

    /// Returns this thread's current visit. When the thread splits a node, this value is passed to
    /// the threads that join the node.
    fn place(&self) -> VisitRef;
}

/// The type of observer for which a search is compiled: an [`Observer`], or `()` for none.
pub(super) trait OptionalObserver {
    const IS_OBSERVED: bool;

    fn on_step(&mut self, step: &SearchStep<'_>);

    fn place(&self) -> VisitRef;
}

/// Normal play, without an observer.
impl OptionalObserver for () {
    const IS_OBSERVED: bool = false;

    #[inline]
    fn on_step(&mut self, _step: &SearchStep<'_>) {}

    #[inline]
    fn place(&self) -> VisitRef {
        VisitRef::default()
    }
}

impl OptionalObserver for Box<dyn Observer> {
    const IS_OBSERVED: bool = true;

    fn on_step(&mut self, step: &SearchStep<'_>) {
        self.as_mut().on_step(step);
    }

    fn place(&self) -> VisitRef {
        self.as_ref().place()
    }
}
