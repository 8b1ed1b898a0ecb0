//! The interface by which searches report their steps.
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

/// Why a node is searched with its window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SearchReason {
    /// The node is the root, or the search has no better bound.
    Open,
    /// A null window tests whether the move is better than the best one so far.
    Null,
    /// The null window failed high, so the node is searched again with the open window.
    Again,
}

/// Observes every step of a search. Windows and scores are those of the side to move.
///
/// All methods do nothing unless they are overridden. Searches are compiled for their observer, so
/// `()`, which overrides none, costs nothing.
pub trait Observer<M> {
    /// An iteration to `depth` plies begins.
    #[inline]
    fn iteration(&mut self, _depth: Depth) {}

    /// A node is entered by `via` (`None` at the root).
    #[inline]
    fn enter(&mut self, _ply: Ply, _via: Option<M>, _window: Window, _why: SearchReason) {}

    /// The table provides the value of the node, which is left next.
    #[inline]
    fn hit(&mut self, _ply: Ply) {}

    /// The table provides `mv`, which is searched first.
    #[inline]
    fn first(&mut self, _ply: Ply, _mv: M) {}

    /// `mv` has the value `value`, which raises alpha to it.
    #[inline]
    fn raise(&mut self, _ply: Ply, _mv: M, _value: Score) {}

    /// Alpha has reached beta: the moves of `rest`, if there are any, are cut off.
    #[inline]
    fn cutoff(&mut self, _ply: Ply, _alpha: Score, _beta: Score, _rest: &[M]) {}

    /// The node is left with its value and its best line; `leaf` states whether it had no moves to
    /// search.
    #[inline]
    fn leave(&mut self, _ply: Ply, _value: Score, _line: &[M], _leaf: bool) {}
}

/// Observes nothing.
impl<M> Observer<M> for () {}

/// An [`Observer`] that only counts.
#[derive(Debug, Clone, Default)]
pub struct Counter {
    /// Nodes entered; one that is searched again counts again.
    pub nodes: u64,
    /// Nodes left, by [`NodeType`].
    pub types: [u64; 3],
    /// Cutoffs: how often alpha reached beta with moves left.
    pub cutoffs: u64,
    /// Re-searches with the open window.
    pub researches: u64,
    /// Nodes whose value the table provided.
    pub hits: u64,
    /// The windows of the open nodes.
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
