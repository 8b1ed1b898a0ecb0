//! Observation of the engine's search, step by step.
//!
//! A `Worker` is generic over its observer. In normal play that is `()`: no steps are created, and
//! the search takes the same number of instructions as without observation, to a thousandth
//! (figures in docs/lessons.md, "The engine's own search").
//!
//! A `Worker` is generic over its `OptionalObserver`; for `()` the method `show` compiles to
//! nothing. The program contains two instances of the search: this one and one for a boxed
//! observer. `trace` stores the visits: each thread numbers them from one counter and records the
//! number of the visit above, so the work of helpers below a split point is joined at the end
//! (`VisitRef` is part of the `SplitPoint`). Nodes are counted at the innermost stored visit and
//! summed upwards. The search increments its own `Counters` where it cuts off and searches again,
//! not where it reports steps; both sums must be equal.
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

/// A thread's current visit, as recorded by its observer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct VisitRef {
    /// Number of the innermost recorded visit; 0 for none.
    pub visit: u64,
    /// Whether that is the visit of the node itself, and visits below may be recorded too.
    pub open: bool,
}

/// Why a node is searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SearchReason {
    /// It is the root: an iteration begins, or its window has failed.
    Root,
    /// First move of a node, with the node's window.
    First,
    /// Later move, with a null window and reduced depth.
    Late {
        /// The reduction, in plies.
        reduction: Depth,
    },
    /// Re-search of a reduced move at full depth, because it beat alpha.
    Deeper,
    /// Re-search of a move at a PV node with the open window, because it beat alpha.
    Open,
    /// Null move: tests whether the position is good enough even after passing.
    NullMove,
    /// Search of the same node without null moves, to rule out zugzwang.
    NullMoveVerification,
    /// Search of the same node without the table's move, to test whether that is the only good one.
    Singularity,
    /// A capture that may beat beta by a margin, to a reduced depth.
    Probcut,
    /// A capture, promotion or evasion in quiescence.
    Noisy,
    /// The end of a line into the book, to verify its value.
    BookLine,
}

impl SearchReason {
    /// Returns the reason in one or two words.
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

/// What determined the value of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum NodeEnd {
    /// The search of its moves.
    Moves,
    /// It has no legal moves.
    NoMoves,
    /// A draw by rule, or a repetition within the search.
    Draw,
    /// No line from here can matter: there is a shorter mate, or a draw is available.
    EmptyWindow,
    /// The transposition table.
    Table,
    /// The endgame tables.
    Endgames,
    /// The results of the book's games.
    BookMatch,
    /// An analysis of the book.
    BookValue,
    /// Reverse futility: the evaluation is so far above beta that a few plies will not change it.
    ReverseFutility,
    /// Null move: passing was good enough.
    NullMove,
    /// Probcut: a capture beat beta by a margin.
    Probcut,
    /// Multi-cut: several moves would fail high.
    MultiCut,
    /// Stand pat in quiescence: not moving is good enough.
    StandPat,
    /// The search is for mates only, and there is none within the depth.
    NoMate,
    /// The line has the maximum length.
    MaxPly,
    /// The search was stopped before the node was counted.
    Stopped,
}

/// Why a move was not searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PruneReason {
    /// Late move pruning: enough quiet moves were searched before it.
    Late,
    /// Futility: the evaluation is too low for it to raise alpha.
    Futile,
    /// History: it hardly ever helped.
    History,
    /// Static exchange evaluation: it loses material.
    Exchange,
}

/// Event counts of the search itself. The sums of an observer agree with them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Counters {
    /// Nodes, as in reports.
    pub nodes: u64,
    /// Nodes at which a searched move failed high.
    pub cutoffs: u64,
    /// Reduced moves searched again at full depth.
    pub deeper: u64,
    /// Moves searched again with the open window.
    pub open: u64,
}

/// A node as it is entered. The window is that of the side to move.
#[derive(Debug, Clone, Copy)]
pub struct Entry<'a> {
    /// The position.
    pub position: &'a Position,
    /// Plies from the root.
    pub ply: Ply,
    /// The move that led here; `None` at the root and after a null move.
    pub via: Option<Move>,
    /// Plies left; 0 in quiescence.
    pub depth: Depth,
    /// Score that the side to move already has.
    pub alpha: Score,
    /// Score above which the opponent avoids the node.
    pub beta: Score,
    /// Whether this is a quiescence node.
    pub quiescence: bool,
}

/// A step of a search. Steps without a node refer to the innermost open one.
#[derive(Debug, Clone, Copy)]
pub enum SearchStep<'a> {
    /// The main thread begins an iteration of this many plies.
    Iteration(Depth),
    /// The search for the next best line begins, from 1.
    Line(usize),
    /// Why the next node is entered.
    Next(SearchReason),
    /// A node is entered.
    Enter(Entry<'a>),
    /// The window was narrowed by a possible mate or an available draw.
    Narrowed {
        /// The lower bound.
        alpha: Score,
        /// The upper bound.
        beta: Score,
    },
    /// Facts of the node before its moves are searched.
    Assessed {
        /// The static evaluation; `None` in check.
        eval: Option<Score>,
        /// Whether the table has an entry.
        hit: bool,
    },
    /// The node is in the book.
    BookMatch {
        /// Number of games that reached it.
        games: u64,
    },
    /// The reduced last move raised the evaluation more than expected: the node is searched this
    /// many plies less deeply.
    Hindsight(Depth),
    /// The table move is extended by this many plies, or reduced if negative.
    Extended(Move, Depth),
    /// A move is not searched.
    Pruned(Move, PruneReason),
    /// Enough quiet moves were searched: the others are skipped.
    QuietsPruned,
    /// A move has been searched. It raises alpha if above it, and fails high from beta on.
    Scored {
        /// The move.
        mv: Move,
        /// Its score.
        score: Score,
        /// Alpha at that time.
        alpha: Score,
    },
    /// The node's other moves are shared among the threads.
    Split,
    /// This thread joins a node that another thread has shared.
    Join {
        /// The visit of the sharing thread.
        place: VisitRef,
        /// The position of the node.
        position: &'a Position,
        /// Its plies from the root.
        ply: Ply,
    },
    /// This thread leaves a shared node without moves left.
    Part,
    /// What determined the node's value, if not its moves.
    Ended(NodeEnd),
    /// The node is left.
    Leave {
        /// Its value for the side to move; meaningless if the search was stopped.
        score: Score,
        /// Whether the search was stopped.
        stopped: bool,
    },
    /// The thread has completed its part of the search, with these counts.
    Done(Counters),
}

/// Receives every step of one thread of a search.
pub trait Observer: Send {
    /// Called for each step.
    fn on_step(&mut self, step: &SearchStep<'_>);

    /// Returns the thread's current visit, for threads that join it.
    fn place(&self) -> VisitRef;
}

/// The observer that a search is compiled for: an [`Observer`], or `()` for none. @89 @90 -
pub(super) trait OptionalObserver {
    /// Whether there is an observer.
    const IS_OBSERVED: bool;

    fn on_step(&mut self, step: &SearchStep<'_>);

    fn place(&self) -> VisitRef;
}

/// No observer.
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
