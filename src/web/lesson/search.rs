//! Minimax, alpha-beta and principal variation search in textbook form. They use negamax and,
//! optionally, a transposition table, but no reductions. Each algorithm is one function.
//!
//! Sources: D. Knuth and R. Moore, "An Analysis of Alpha-Beta Pruning" (1975); T. A. Marsland and
//! M. Campbell, "Parallel Search of Strongly Ordered Game Trees" (1982); A. Reinefeld, "An
//! Improvement to the Scout Tree-Search Algorithm" (1983).
//!
//! ```
//! use tabia::lesson::chess::Chess;
//! use tabia::lesson::game::Window;
//! use tabia::lesson::search::{Algorithm, Search};
//! use tabia::position::Position;
//!
//! let (root, mut observer) = (Position::start(), ());
//! let mut chess = Chess::new(&root);
//! let mut search = Search::new(&mut chess, &mut observer, &[]);
//! let (_, line) = search.run(Algorithm::Pvs, &root, 2, Window::FULL);
//! assert_eq!(line.len(), 2);
//! ```

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use super::game::{Window, ZeroSumGame};
use super::observe::{Observer, SearchReason};
use super::table::Table;
use crate::chess::score::{Depth, INFINITY, Ply, Score};
use crate::support::words::named_values;

/// The algorithm of a textbook search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Algorithm {
    /// Searches every node.
    Minimax,
    /// Skips nodes that cannot affect the value.
    AlphaBeta,
    /// Assumes that the first move of each node is the best, and tests the other moves with null
    /// windows.
    Pvs,
}

named_values! { pub Algorithm, "algorithm":
    Minimax = "minimax", AlphaBeta = "alpha-beta", Pvs = "pvs"
}

/// A single-threaded search of a game.
pub struct Search<'a, G: ZeroSumGame, O> {
    /// The game that is searched.
    pub game: &'a mut G,
    /// Receives every step of the search.
    pub observer: &'a mut O,
    /// The number of nodes entered so far. A node that is searched twice is counted twice.
    pub nodes: u64,
    /// Flags that stop the search. Once any flag is set, the values returned by the search are
    /// meaningless.
    pub stops: &'a [&'a AtomicBool],
    /// The transposition table, if any. Minimax ignores it.
    pub table: Option<&'a mut Table>,
}

/// The place of a node in the tree: its distance from the root and the remaining depth, both in
/// plies.
#[derive(Debug, Clone, Copy)]
struct NodePlace {
    ply: Ply,
    depth: Depth,
}

impl NodePlace {
    fn next(self) -> NodePlace {
        NodePlace { ply: self.ply + 1, depth: self.depth - 1 }
    }
}

impl<'a, G: ZeroSumGame, O: Observer<G::Move>> Search<'a, G, O> {
    /// Creates a search without a transposition table. Setting any of the flags in `stops` stops
    /// the search.
    pub fn new(game: &'a mut G, observer: &'a mut O, stops: &'a [&'a AtomicBool]) -> Self {
        Search { game, observer, nodes: 0, stops, table: None }
    }

    /// Adds a transposition table to the search.
    #[must_use]
    pub fn with_table(self, table: &'a mut Table) -> Self {
        Search { table: Some(table), ..self }
    }

    /// Searches `state` to a depth of `depth` plies. Returns the value for the side to move and the
    /// principal variation.
    pub fn run(
        &mut self,
        algorithm: Algorithm,
        state: &G::State,
        depth: Depth,
        window: Window,
    ) -> (Score, Vec<G::Move>) {
        self.run_below(algorithm, state, 0, depth, window)
    }

    /// Like [`Search::run`], but for a `state` that is already `ply` plies from the root.
    pub fn run_below(
        &mut self,
        algorithm: Algorithm,
        state: &G::State,
        ply: Ply,
        depth: Depth,
        window: Window,
    ) -> (Score, Vec<G::Move>) {
        let mut line = Vec::new();
        let place = NodePlace { ply, depth };
        self.observer.enter(ply, None, window, SearchReason::Open);
        let value = self.search(algorithm, state, place, window, &mut line);
        (value, line)
    }

    /// Returns true if one of the flags in `stops` is set.
    pub fn is_stopped(&self) -> bool {
        self.stops.iter().any(|stop| stop.load(Relaxed))
    }

    fn search(
        &mut self,
        algorithm: Algorithm,
        state: &G::State,
        place: NodePlace,
        window: Window,
        line: &mut Vec<G::Move>,
    ) -> Score {
        match algorithm {
            Algorithm::Minimax => self.negamax(state, place, line),
            Algorithm::AlphaBeta => self.alpha_beta(state, place, window, line),
            Algorithm::Pvs => self.pvs(state, place, window, line),
        }
    }

    /// Returns the exact value of the node: the maximum of the negated values of its children. The
    /// values are negated because each child's value is from the opponent's point of view.
    /// <https://www.chessprogramming.org/Negamax>
    fn negamax(&mut self, state: &G::State, place: NodePlace, line: &mut Vec<G::Move>) -> Score {
        let Some(moves) = self.expand(state, place) else {
            return self.leaf(state, place, Window::FULL, line);
        };
        let (mut best, mut rest) = (-INFINITY, Vec::new());
        line.clear();
        for &mv in &moves {
            self.observer.enter(place.ply + 1, Some(mv), Window::FULL, SearchReason::Open);
            let value = -self.negamax(&self.game.play(state, mv), place.next(), &mut rest);
            if value > best {
                best = value;
                set_line(line, mv, &rest);
                self.observer.raise(place.ply, mv, value);
            }
        }
        self.observer.leave(place.ply, best, line, false);
        best
    }

    /// Returns the value of the node. If the value is outside `window`, the result is only a bound
    /// on it. <https://www.chessprogramming.org/Alpha-Beta>
    fn alpha_beta(
        &mut self,
        state: &G::State,
        place: NodePlace,
        window: Window,
        line: &mut Vec<G::Move>,
    ) -> Score {
        let Some(mut moves) = self.expand(state, place) else {
            return self.leaf(state, place, window, line);
        };
        if let Some(value) = self.probe_table(state, place, window, &mut moves, line) {
            return value;
        }
        let (mut alpha, mut best, mut rest) = (window.alpha, -INFINITY, Vec::new());
        line.clear();
        for (index, &mv) in moves.iter().enumerate() {
            let child_window = Window::new(alpha, window.beta).flip();
            self.observer.enter(place.ply + 1, Some(mv), child_window, SearchReason::Open);
            let next = self.game.play(state, mv);
            let value = -self.alpha_beta(&next, place.next(), child_window, &mut rest);
            best = best.max(value);
            if value > alpha {
                alpha = value;
                set_line(line, mv, &rest);
                self.observer.raise(place.ply, mv, value);
            }
            if alpha >= window.beta {
                self.observer.cutoff(place.ply, alpha, window.beta, &moves[index + 1..]);
                break;
            }
        }
        self.store_result(state, place, window, best, line);
        self.observer.leave(place.ply, best, line, false);
        best
    }

    /// Searches the first move with the full `window`, as alpha-beta does, and every other move
    /// with a null window. If a move turns out to be better than the best one so far, it is
    /// searched again with the open window.
    /// <https://www.chessprogramming.org/Principal_Variation_Search>
    fn pvs(
        &mut self,
        state: &G::State,
        place: NodePlace,
        window: Window,
        line: &mut Vec<G::Move>,
    ) -> Score {
        let Some(mut moves) = self.expand(state, place) else {
            return self.leaf(state, place, window, line);
        };
        if let Some(value) = self.probe_table(state, place, window, &mut moves, line) {
            return value;
        }
        let (mut alpha, mut best, mut rest) = (window.alpha, -INFINITY, Vec::new());
        line.clear();
        for (index, &mv) in moves.iter().enumerate() {
            let open = Window::new(alpha, window.beta);
            let next = self.game.play(state, mv);
            let value = match index {
                0 => self.child(&next, mv, place.next(), open, SearchReason::Open, &mut rest),
                _ => self.null_window_first(&next, mv, place.next(), open, &mut rest),
            };
            best = best.max(value);
            if value > alpha {
                alpha = value;
                set_line(line, mv, &rest);
                self.observer.raise(place.ply, mv, value);
            }
            if alpha >= window.beta {
                self.observer.cutoff(place.ply, alpha, window.beta, &moves[index + 1..]);
                break;
            }
        }
        self.store_result(state, place, window, best, line);
        self.observer.leave(place.ply, best, line, false);
        best
    }

    /// Searches a move other than the first with a null window and then, if necessary, with `open`.
    /// No second search is needed at a leaf, or if the first search returns at least beta (an
    /// improvement by Reinefeld).
    fn null_window_first(
        &mut self,
        next: &G::State,
        mv: G::Move,
        place: NodePlace,
        open: Window,
        rest: &mut Vec<G::Move>,
    ) -> Score {
        if open.is_null() {
            return self.child(next, mv, place, open, SearchReason::Null, rest);
        }
        let value = self.child(next, mv, place, Window::null(open.alpha), SearchReason::Null, rest);
        let better = value > open.alpha && value < open.beta;
        if better && !self.game.is_exact(next, place.depth) && !self.is_stopped() {
            return self.child(next, mv, place, open, SearchReason::Again, rest);
        }
        value
    }

    /// Searches `next`, the state after `mv`. `window` and the returned value are from the parent's
    /// point of view.
    fn child(
        &mut self,
        next: &G::State,
        mv: G::Move,
        place: NodePlace,
        window: Window,
        why: SearchReason,
        rest: &mut Vec<G::Move>,
    ) -> Score {
        self.observer.enter(place.ply, Some(mv), window.flip(), why);
        -self.pvs(next, place, window.flip(), rest)
    }

    /// Counts a node and returns the moves to search. Returns `None` if the node is a leaf or at
    /// the depth limit, or if the search was stopped.
    fn expand(&mut self, state: &G::State, place: NodePlace) -> Option<Vec<G::Move>> {
        self.nodes += 1;
        if place.depth <= 0 || self.is_stopped() {
            return None;
        }
        let moves = self.game.moves(state);
        (!moves.is_empty()).then_some(moves)
    }

    /// Probes the transposition table. If it contains a value that is deep enough and usable with
    /// `window`, reports the hit to the observer and returns the value. Otherwise, puts the table's
    /// best move first.
    fn probe_table(
        &mut self,
        state: &G::State,
        place: NodePlace,
        window: Window,
        moves: &mut [G::Move],
        line: &mut Vec<G::Move>,
    ) -> Option<Score> {
        let table = self.table.as_deref()?;
        let key = self.game.key(state);
        if let Some(value) = table.value(key, place.depth, window) {
            line.clear();
            self.observer.hit(place.ply);
            self.observer.leave(place.ply, value, line, false);
            return Some(value);
        }
        let best = table.best(key)?;
        let leads_there = |mv: &G::Move| self.game.key(&self.game.play(state, *mv)) == best;
        if let Some(at) = moves.iter().position(leads_there).filter(|&at| at > 0) {
            moves[..=at].rotate_right(1);
            self.observer.first(place.ply, moves[0]);
        }
        None
    }

    fn store_result(
        &mut self,
        state: &G::State,
        place: NodePlace,
        window: Window,
        value: Score,
        line: &[G::Move],
    ) {
        if self.table.is_none() || self.is_stopped() {
            return;
        }
        let best = line.first().map(|&mv| self.game.key(&self.game.play(state, mv)));
        let key = self.game.key(state);
        if let Some(table) = self.table.as_deref_mut() {
            table.store(key, place.depth, window, value, best);
        }
    }

    fn leaf(
        &mut self,
        state: &G::State,
        place: NodePlace,
        window: Window,
        line: &mut Vec<G::Move>,
    ) -> Score {
        line.clear();
        let value = if self.is_stopped() { 0 } else { self.game.value(state, place.ply, window) };
        self.observer.leave(place.ply, value, line, true);
        value
    }
}

fn set_line<M: Copy>(line: &mut Vec<M>, mv: M, rest: &[M]) {
    line.clear();
    line.push(mv);
    line.extend_from_slice(rest);
}
