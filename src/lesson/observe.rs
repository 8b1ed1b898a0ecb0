//! Watching a search: what it calls at each of its steps.

use super::game::Window;
use crate::score::{Ply, Score};

/// Why a node is searched with the window that it gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// It is the root, or the search knows nothing better than the window it has.
    Open,
    /// A null window: is it better than what there is already?
    Null,
    /// It is, so its value is wanted: once more, with the open window.
    Again,
}

/// Hears of every step of a search. Windows and scores are those of the side to move.
///
/// All methods do nothing unless they are overridden, and searches are compiled for the observer
/// they get: `()`, which overrides none, costs nothing.
pub trait Observer<M> {
    /// A node is entered by `via` (`None` at the root).
    #[inline]
    fn enter(&mut self, _ply: Ply, _via: Option<M>, _window: Window, _why: Why) {}

    /// `mv` has the value `value`, which raises alpha to it.
    #[inline]
    fn raise(&mut self, _ply: Ply, _mv: M, _value: Score) {}

    /// Alpha has reached beta: the moves of `rest` are cut off.
    #[inline]
    fn cutoff(&mut self, _ply: Ply, _alpha: Score, _beta: Score, _rest: &[M]) {}

    /// The node is left with its value and the best line from it; `leaf` tells whether it had no
    /// moves to search.
    #[inline]
    fn leave(&mut self, _ply: Ply, _value: Score, _line: &[M], _leaf: bool) {}
}

/// Nobody watches.
impl<M> Observer<M> for () {}
