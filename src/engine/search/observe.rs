//! Observing the engine's own search, step by step.
//!
//! A `Worker` is generic over its observer. That of the search that plays is `()`: no step is made for
//! it, and the search takes as many instructions as without steps, to a thousandth
//! (docs/lessons.md, "The engine's own search", has the figures).

use serde::Serialize;

use crate::chess::position::{Move, Position};
use crate::chess::score::{Depth, Ply, Score};

/// The visit that a thread is in, as its observer records it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct VisitRef {
    /// The innermost visit that is written down, by its number; 0 for none.
    pub visit: u64,
    /// Whether it is that of the node itself, and what is below may be written down too.
    pub open: bool,
}

/// Why a node is searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SearchReason {
    /// It is the root: an iteration begins, or its window has failed.
    Root,
    /// By the first move of a node: with the node's window.
    First,
    /// By a later move: with a null window, so many plies less deeply.
    Late {
        /// The reduction, in plies.
        reduction: Depth,
    },
    /// A reduced move is better than thought: again, to the full depth.
    Deeper,
    /// A move is better than alpha at a PV node: again, with the open window.
    Open,
    /// After passing: is the position good enough even so?
    NullMove,
    /// The same node without null moves: was that no zugzwang?
    NullMoveVerification,
    /// The same node without the table's move: is that the only good one?
    Singularity,
    /// A capture that may beat beta by a margin, to a reduced depth.
    Probcut,
    /// By a capture, promotion or flight from check at the end of the depth.
    Noisy,
    /// The end of a line that leads into the book: is it as good as the search thinks?
    BookLine,
}

impl SearchReason {
    /// In a word or two.
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

/// What settled a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum NodeEnd {
    /// Its moves were searched.
    Moves,
    /// It has no legal moves.
    NoMoves,
    /// It is drawn by rule, or nearly so.
    Draw,
    /// No line from here can matter: a shorter mate is known, or a draw can be had.
    Closed,
    /// The transposition table knew it.
    Table,
    /// The endgame tables knew it.
    Endgames,
    /// The results of the book's games were taken for its value.
    BookScore,
    /// An analysis of the book knew it.
    BookValue,
    /// The evaluation is so far above beta that few plies will not change it.
    ReverseFutility,
    /// Passing was good enough.
    NullMove,
    /// A capture beat beta by a margin.
    Probcut,
    /// Several moves would fail high.
    MultiCut,
    /// In quiescence: not to move at all is good enough.
    StandPat,
    /// Only mates count, and there is none within the depth.
    NoMate,
    /// The line is as long as lines may be.
    Longest,
    /// The search was told to stop before it was counted.
    Stopped,
}

/// Why a move was not searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PruneReason {
    /// Enough quiet moves were searched before it (late move pruning).
    Late,
    /// The evaluation is too low for it to raise alpha (futility).
    Futile,
    /// It hardly ever helped (history).
    History,
    /// It loses material (static exchange evaluation).
    Exchange,
}

/// Events that the search itself counts. The sums of an observer agree with them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Counters {
    /// Nodes, as reports have them.
    pub nodes: u64,
    /// Nodes whose moves were searched, and one failed high.
    pub cutoffs: u64,
    /// Reduced moves searched again to the full depth.
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
    /// The move that led here; `None` at the root and after passing.
    pub via: Option<Move>,
    /// Plies left; 0 in quiescence.
    pub depth: Depth,
    /// What the side to move has already.
    pub alpha: Score,
    /// What the opponent will not allow to be exceeded.
    pub beta: Score,
    /// Whether captures alone are searched.
    pub quiescence: bool,
}

/// A step of a search. Those that name no node are about the one entered last and not left.
#[derive(Debug, Clone, Copy)]
pub enum SearchStep<'a> {
    /// An iteration to so many plies begins; the main thread's.
    Iteration(Depth),
    /// The next best line is searched for, from 1.
    Line(usize),
    /// Why the node that comes next is entered.
    Next(SearchReason),
    /// A node is entered.
    Enter(Entry<'a>),
    /// Its window is narrower than was asked for: a mate bounds it, or a draw that can be had.
    Narrowed {
        /// The lower bound.
        alpha: Score,
        /// The upper bound.
        beta: Score,
    },
    /// What is known of it before its moves are searched.
    Assessed {
        /// The static evaluation; `None` in check.
        eval: Option<Score>,
        /// Whether the table has something of it.
        hit: bool,
    },
    /// It is in the book, which so many games reached.
    BookMatch {
        /// Games.
        games: u64,
    },
    /// The last move was reduced, and has made more of the evaluation than was thought: the node is searched so
    /// many plies less deeply.
    Hindsight(Depth),
    /// Its table move is searched by so many plies more, or less if negative.
    Extended(Move, Depth),
    /// A move is not searched.
    PruneReason(Move, PruneReason),
    /// Enough quiet moves were searched: none of the others is.
    QuietsLeftOut,
    /// A move has been searched; it raises alpha if it is above it, and fails high from beta on.
    Scored {
        /// The move.
        mv: Move,
        /// What it is worth.
        score: Score,
        /// Alpha by then.
        alpha: Score,
    },
    /// Its other moves are shared out among the threads.
    Split,
    /// This thread takes moves of a node that another thread has shared out.
    Join {
        /// Where that thread is.
        place: VisitRef,
        /// The position of the node.
        position: &'a Position,
        /// Its plies from the root.
        ply: Ply,
    },
    /// It has none left there to take.
    Part,
    /// What settles it, unless its moves do.
    Ended(NodeEnd),
    /// It is left.
    Leave {
        /// Its value for the side to move; meaningless if the search was stopped.
        score: Score,
        /// Whether it was.
        stopped: bool,
    },
    /// The thread has done its part of the search, and counted so many.
    Done(Counters),
}

/// Receives every step of one thread of a search.
pub trait Observer: Send {
    /// Called for each step.
    fn on_step(&mut self, step: &SearchStep<'_>);

    /// The visit that the thread is in; threads that join it refer to that.
    fn place(&self) -> VisitRef;
}

/// The observer that a search is compiled for: an [`Observer`], or `()` for none.
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
