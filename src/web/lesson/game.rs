//! The interface between textbook searches and two-player games: states, moves and leaf values.
//!
//! ```
//! use tabia::lesson::game::Window;
//!
//! let window = Window::new(-10, 30);
//! assert_eq!(window.flip(), Window::new(-30, 10));
//! assert!(Window::null(5).is_null());
//! ```

use std::fmt;

use crate::chess::notation::bound;
use crate::chess::score::{Depth, INFINITY, Ply, Score};

/// A two-player zero-sum game without chance.
pub trait ZeroSumGame {
    /// A node of the game tree.
    type State: Clone;
    /// An edge from a node to one of its children.
    type Move: Copy + PartialEq;

    /// Returns the moves of `state` in search order. If `state` is a leaf, the list is empty.
    fn moves(&mut self, state: &Self::State) -> Vec<Self::Move>;

    /// Returns the state after `mv`, which must be one of [`ZeroSumGame::moves`].
    fn play(&self, state: &Self::State, mv: Self::Move) -> Self::State;

    /// Returns the value of a leaf or of a state at the depth limit, from the side to move's point
    /// of view. If the exact value is outside `window`, the method may return a bound on it
    /// instead.
    fn value(&mut self, state: &Self::State, ply: Ply, window: Window) -> Score;

    /// Returns true if a search of `state` with `depth` plies left gives the exact value, whatever
    /// the window.
    fn is_exact(&mut self, state: &Self::State, depth: Depth) -> bool;

    /// Returns a key for the transposition table. States with the same continuations have the same
    /// key, even if they were reached by different moves.
    fn key(&self, state: &Self::State) -> u64;

    /// Returns true if [`ZeroSumGame::value`] is only an estimate because the game is not over.
    fn is_estimate(&self, _state: &Self::State) -> bool {
        false
    }

    /// Returns the position as FEN, or `None` if the game is not played on a chessboard.
    fn fen(&self, _state: &Self::State) -> Option<String> {
        None
    }

    /// Returns true if the maximising player is to move.
    fn maximises(&self, state: &Self::State) -> bool;

    /// Returns the name of the move `mv` in `state`.
    fn name(&self, state: &Self::State, mv: Self::Move) -> String;
}

/// The alpha-beta window of a search, from the side to move's point of view. A search need not
/// return exact values outside the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// The value that the side to move can already achieve with another move.
    pub alpha: Score,
    /// The value from which the opponent avoids the node, because another move is at least as good
    /// for the opponent.
    pub beta: Score,
}

impl Window {
    /// The window that contains every value.
    pub const FULL: Window = Window { alpha: -INFINITY, beta: INFINITY };

    /// Creates the window between two bounds.
    pub fn new(alpha: Score, beta: Score) -> Self {
        Window { alpha, beta }
    }

    /// Creates a null window, which tests whether the value is greater than `alpha`.
    pub fn null(alpha: Score) -> Self {
        Window { alpha, beta: alpha + 1 }
    }

    /// Returns true if this is a null window: no value lies strictly between its bounds.
    pub fn is_null(self) -> bool {
        self.beta - self.alpha <= 1
    }

    /// Returns the same window from the opponent's point of view.
    #[must_use]
    pub fn flip(self) -> Self {
        Window { alpha: -self.beta, beta: -self.alpha }
    }

    /// Returns the window from the maximising player's point of view. `maximises` must be true if
    /// that player is to move.
    #[must_use]
    pub fn seen(self, maximises: bool) -> Self {
        if maximises { self } else { self.flip() }
    }
}

/// Formats the window as `(5, +∞)`.
impl fmt::Display for Window {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({}, {})", bound(self.alpha), bound(self.beta))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_are_shown_from_the_given_side() {
        let window = Window::new(-6, -5);
        assert_eq!(window.seen(false).to_string(), "(5, 6)");
        assert_eq!(Window::FULL.to_string(), "(-∞, +∞)");
        assert_eq!(Window::new(5, INFINITY).flip().to_string(), "(-∞, -5)");
        assert!(Window::null(3).is_null() && !Window::FULL.is_null());
    }
}
