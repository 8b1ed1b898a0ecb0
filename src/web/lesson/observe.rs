//! The interface through which searches report their steps.
//!
//! The engine's search uses another observer, [`tabia::search::observe`](crate::search::observe),
//! because its steps refer to positions, threads and pruning. The searches of the lessons have no
//! threads and no pruning, and they also search trees that are not chess games.
//!
//! ```
//! use tabia::lesson::chess::Chess;
//! use tabia::lesson::game::Window;
//! use tabia::lesson::observe::Counter;
//! use tabia::lesson::search::{Algorithm, Search};
//! use tabia::position::Position;
//!
//! let (root, mut counter) = (Position::start(), Counter::default());
//! let mut chess = Chess::new(&root);
//! Search::new(&mut chess, &mut counter, &[]).run(Algorithm::AlphaBeta, &root, 2, Window::FULL);
//! assert!(counter.cutoffs > 0);
//! ```

use super::game::Window;
use crate::chess::score::{Depth, Ply, Score};

pub use crate::engine::search::trace::NodeType;

/// The reason why a node is searched with an open window or a null window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SearchReason {
    /// The window extends from alpha to beta. This is the case at the root, for the first move in
    /// PVS, and for every move in the other algorithms.
    Open,
    /// A null window tests whether the move that leads to the node is better than the best move so
    /// far.
    Null,
    /// The null-window search failed high, so the node is searched again with the window from alpha
    /// to beta.
    Again,
}

/// Observes every step of a search. Windows and scores are from the point of view of the side to
/// move at the node. Searches are compiled separately for each type of observer, so an observer of
/// type `()` costs nothing.
pub trait Observer<M> {
    /// Called at the start of an iteration of iterative deepening. `_depth` is the depth of the
    /// iteration in plies.
    #[inline]
    fn iteration(&mut self, _depth: Depth) {}

    /// Called on entering a node. `_via` is the move that led to the node, or `None` at the root.
    #[inline]
    fn enter(&mut self, _ply: Ply, _via: Option<M>, _window: Window, _why: SearchReason) {}

    /// Called if the table provides the value of a node. The search then leaves the node
    /// immediately.
    #[inline]
    fn hit(&mut self, _ply: Ply) {}

    /// Called if the table's best move for the node is moved to the front of the move list.
    #[inline]
    fn first(&mut self, _ply: Ply, _mv: M) {}

    /// Called when the move `_mv` raises alpha to `_value`.
    #[inline]
    fn raise(&mut self, _ply: Ply, _mv: M, _value: Score) {}

    /// Called when alpha has reached beta. `_rest` contains the moves that are cut off. It is empty
    /// if the last move raised alpha.
    #[inline]
    fn cutoff(&mut self, _ply: Ply, _alpha: Score, _beta: Score, _rest: &[M]) {}

    /// Called on leaving a node. `_leaf` is true if no moves were searched, because the node is a
    /// leaf or at the depth limit.
    #[inline]
    fn leave(&mut self, _ply: Ply, _value: Score, _line: &[M], _leaf: bool) {}
}

impl<M> Observer<M> for () {}

/// An [`Observer`] that only counts steps.
#[derive(Debug, Clone, Default)]
pub struct Counter {
    /// The number of nodes entered. A node is counted each time it is searched.
    pub nodes: u64,
    /// The number of nodes of each [`NodeType`]. The type of a node is determined when the search
    /// leaves it.
    pub types: [u64; 3],
    /// The number of cutoffs. If alpha reaches beta at the last move, nothing is cut off and no
    /// cutoff is counted.
    pub cutoffs: u64,
    /// The number of nodes searched again with the open window after a null-window search failed
    /// high.
    pub researches: u64,
    /// The number of nodes whose value was provided by the table.
    pub hits: u64,
    /// The windows of the nodes on the path from the root to the current node.
    windows: Vec<Window>,
}

impl<M> Observer<M> for Counter {
    fn enter(&mut self, _ply: Ply, _via: Option<M>, window: Window, why: SearchReason) {
        self.nodes += 1;
        self.researches += u64::from(why == SearchReason::Again);
        self.windows.push(window);
    }

    fn hit(&mut self, _ply: Ply) {
        self.hits += 1;
    }

    fn cutoff(&mut self, _ply: Ply, _alpha: Score, _beta: Score, rest: &[M]) {
        self.cutoffs += u64::from(!rest.is_empty());
    }

    fn leave(&mut self, _ply: Ply, value: Score, _line: &[M], _leaf: bool) {
        if let Some(window) = self.windows.pop() {
            self.types[NodeType::of(value, (window.alpha, window.beta)) as usize] += 1;
        }
    }
}
