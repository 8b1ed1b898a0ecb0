//! A two-player game as the textbook searches see it: states, moves, and what the leaves are worth.

use std::fmt;

use crate::chess::notation::bound;
use crate::chess::score::{Depth, INFINITY, Ply, Score};

/// A game of two players and no chance in which one's gain is the other's loss.
pub trait ZeroSumGame {
    /// A node of the game tree.
    type State: Clone;
    /// What leads from one node to the next.
    type Move: Copy + PartialEq;

    /// The moves of `state` in the order in which they are to be searched; none at a leaf.
    fn moves(&mut self, state: &Self::State) -> Vec<Self::Move>;

    /// The state after `mv`, which must be one of [`ZeroSumGame::moves`].
    fn play(&self, state: &Self::State, mv: Self::Move) -> Self::State;

    /// The value of a leaf, or of a state at the end of the depth, for the side to move. It may be
    /// a bound where the true value lies outside `window`; with the full window it is exact.
    fn value(&mut self, state: &Self::State, ply: Ply, window: Window) -> Score;

    /// Whether `value` is exact whatever the window for a state with `depth` plies left. A null
    /// window search of such a leaf need not be repeated.
    fn is_exact(&mut self, state: &Self::State, depth: Depth) -> bool;

    /// What tells positions apart: the same for two states from which the same can happen.
    fn key(&self, state: &Self::State) -> u64;

    /// Whether [`ZeroSumGame::value`] only estimates what `state` is worth, since the game goes on.
    /// What is told as plain fact where this is false is told as an estimate where it is true.
    fn is_estimate(&self, _state: &Self::State) -> bool {
        false
    }

    /// The position as FEN, if there is a board to be shown.
    fn fen(&self, _state: &Self::State) -> Option<String> {
        None
    }

    /// Whether the side to move maximises, as the reader looks at it.
    fn maximises(&self, state: &Self::State) -> bool;

    /// What `mv` of `state` is called.
    fn name(&self, state: &Self::State, mv: Self::Move) -> String;
}

/// The bounds of a search, for the side to move: values at or below `alpha` and at or above
/// `beta` need not be exact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// What the side to move has already.
    pub alpha: Score,
    /// What the opponent will not allow to be exceeded.
    pub beta: Score,
}

impl Window {
    /// Everything is of interest.
    pub const FULL: Window = Window { alpha: -INFINITY, beta: INFINITY };

    /// The window between two bounds.
    pub fn new(alpha: Score, beta: Score) -> Self {
        Window { alpha, beta }
    }

    /// The null window that asks whether the value is above `alpha`.
    pub fn null(alpha: Score) -> Self {
        Window { alpha, beta: alpha + 1 }
    }

    /// Whether no value fits between the bounds.
    pub fn is_null(self) -> bool {
        self.beta - self.alpha <= 1
    }

    /// The same window as the opponent sees it.
    #[must_use]
    pub fn flip(self) -> Self {
        Window { alpha: -self.beta, beta: -self.alpha }
    }

    /// The window as the reader sees it: from the side of the player who maximises.
    #[must_use]
    pub fn seen(self, maximises: bool) -> Self {
        if maximises { self } else { self.flip() }
    }
}

/// `(5, +∞)`.
impl fmt::Display for Window {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({}, {})", bound(self.alpha), bound(self.beta))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_are_shown_from_one_side() {
        let window = Window::new(-6, -5);
        assert_eq!(window.seen(false).to_string(), "(5, 6)");
        assert_eq!(Window::FULL.to_string(), "(-∞, +∞)");
        assert_eq!(Window::new(5, INFINITY).flip().to_string(), "(-∞, -5)");
        assert!(Window::null(3).is_null() && !Window::FULL.is_null());
    }
}
