//! Iterative deepening with aspiration windows, using the textbook searches. Reports iterations,
//! changes of the best root move, and failed windows.
//! <https://www.chessprogramming.org/Aspiration_Windows>
//!
//! ```
//! use std::sync::atomic::AtomicBool;
//!
//! use tabia::lesson::chess::Chess;
//! use tabia::lesson::deepening::{Plan, deepen};
//! use tabia::lesson::search::Algorithm;
//! use tabia::position::Position;
//!
//! let root = Position::start();
//! let plan = Plan { algorithm: Algorithm::Pvs, depth: 2, aspiration: Some(15) };
//! let (mut chess, stop) = (Chess::new(&root), AtomicBool::new(false));
//! let (result, ()) = deepen(&mut chess, &root, plan, &stop, &mut || (), &mut |_| {});
//! assert_eq!(result.depth, 2);
//! ```

use std::sync::atomic::AtomicBool;

use super::chess::Chess;
use super::game::Window;
use super::observe::{Observer, SearchReason};
use super::search::{Algorithm, Search};
use crate::chess::notation;
use crate::chess::notation::bound;
use crate::chess::position::{Move, Position};
use crate::chess::score::{Depth, INFINITY, Ply, Score, is_mate};

/// Settings for an iterative deepening search.
#[derive(Debug, Clone, Copy)]
pub struct Plan {
    /// The algorithm used by every iteration.
    pub algorithm: Algorithm,
    /// The depth of the last iteration in plies.
    pub depth: Depth,
    /// Half the width of the aspiration windows, in centipawns. If it is `None`, every iteration
    /// uses a full window.
    pub aspiration: Option<Score>,
}

/// An event during iterative deepening.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DeepeningEvent {
    /// A search of the root starts.
    Begin {
        /// The depth of the iteration in plies.
        depth: Depth,
        /// The window of the search.
        window: Window,
    },
    /// The best move at the root has changed.
    RootMove {
        /// The previous best move, or `None` if this is the first one.
        old: Option<Move>,
        /// The new best move.
        new: Move,
        /// The score of the new best move.
        score: Score,
        /// The value of alpha that the new score exceeds.
        alpha: Score,
    },
    /// The score is outside the aspiration window, so the iteration is repeated with a wider
    /// window.
    Failed {
        /// The bound returned by the search.
        score: Score,
        /// The window of the failed search.
        window: Window,
        /// The window of the next search.
        next: Window,
    },
    /// An iteration is complete.
    Done {
        /// The depth of the iteration in plies.
        depth: Depth,
        /// The score in centipawns, from the point of view of the side to move at the root.
        score: Score,
        /// The principal variation.
        line: Vec<Move>,
        /// The number of nodes in all iterations so far, excluding quiescence.
        nodes: u64,
        /// The number of quiescence nodes so far.
        quiescence: u64,
    },
}

/// The result of iterative deepening.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DeepeningResult {
    /// The score in centipawns, from the point of view of the side to move at the root.
    pub score: Score,
    /// The principal variation.
    pub line: Vec<Move>,
    /// The number of nodes in all iterations, including quiescence nodes.
    pub nodes: u64,
    /// The depth in plies of the last completed iteration, or 0 if none was completed.
    pub depth: Depth,
}

/// Searches `root` as specified by `plan`, and reports events to `on_event`. `observer` creates a
/// new observer for each search of the root. Returns the result and the observer of the last search
/// that was not stopped.
pub fn deepen<O: Observer<Move>>(
    chess: &mut Chess,
    root: &Position,
    plan: Plan,
    stop: &AtomicBool,
    observer: &mut dyn FnMut() -> O,
    on_event: &mut dyn FnMut(DeepeningEvent),
) -> (DeepeningResult, O) {
    let mut found = DeepeningResult::default();
    let mut last = observer();
    let mut tree_nodes = 0;
    let before = chess.quiescence_nodes;
    for depth in 1..=plan.depth {
        let mut window = first_window(plan, depth, found.score);
        loop {
            on_event(DeepeningEvent::Begin { depth, window });
            let old = found.line.first().copied();
            let mut watch = RootObserver { inner: observer(), on_event, best: old, alpha: 0 };
            let stops = [stop];
            let mut search = Search::new(chess, &mut watch, &stops);
            let (score, line) = search.run(plan.algorithm, root, depth, window);
            tree_nodes += search.nodes;
            if search.is_stopped() {
                return (found, last);
            }
            last = watch.inner;
            found.nodes = tree_nodes + chess.quiescence_nodes - before;
            let next = reopened(window, score);
            if next != window {
                on_event(DeepeningEvent::Failed { score, window, next });
                window = next;
                continue;
            }
            chess.expect(root, &line);
            found = DeepeningResult { score, line: line.clone(), depth, ..found };
            let quiescence = chess.quiescence_nodes - before;
            on_event(DeepeningEvent::Done { depth, score, line, nodes: tree_nodes, quiescence });
            break;
        }
    }
    (found, last)
}

fn first_window(plan: Plan, depth: Depth, last: Score) -> Window {
    match plan.aspiration {
        Some(width) if depth > 1 && !is_mate(last) => Window::new(last - width, last + width),
        _ => Window::FULL,
    }
}

/// Removes the bound that the score has reached or passed, if any, so that the window is open on
/// that side.
fn reopened(window: Window, score: Score) -> Window {
    if score >= window.beta && window.beta < INFINITY {
        Window::new(window.alpha, INFINITY)
    } else if score <= window.alpha && window.alpha > -INFINITY {
        Window::new(-INFINITY, window.beta)
    } else {
        window
    }
}

/// Forwards all calls to `inner`, and reports changes of the best root move to `on_event`.
struct RootObserver<'a, O> {
    inner: O,
    on_event: &'a mut dyn FnMut(DeepeningEvent),
    best: Option<Move>,
    alpha: Score,
}

impl<O: Observer<Move>> Observer<Move> for RootObserver<'_, O> {
    fn enter(&mut self, ply: Ply, via: Option<Move>, window: Window, why: SearchReason) {
        if ply == 0 {
            self.alpha = window.alpha;
        }
        self.inner.enter(ply, via, window, why);
    }

    fn hit(&mut self, ply: Ply) {
        self.inner.hit(ply);
    }

    fn first(&mut self, ply: Ply, mv: Move) {
        self.inner.first(ply, mv);
    }

    fn raise(&mut self, ply: Ply, mv: Move, value: Score) {
        if ply == 0 {
            if self.best != Some(mv) {
                let (old, alpha) = (self.best.replace(mv), self.alpha);
                (self.on_event)(DeepeningEvent::RootMove { old, new: mv, score: value, alpha });
            }
            self.alpha = value;
        }
        self.inner.raise(ply, mv, value);
    }

    fn cutoff(&mut self, ply: Ply, alpha: Score, beta: Score, rest: &[Move]) {
        self.inner.cutoff(ply, alpha, beta, rest);
    }

    fn leave(&mut self, ply: Ply, value: Score, line: &[Move], leaf: bool) {
        self.inner.leave(ply, value, line, leaf);
    }
}

impl DeepeningEvent {
    /// Formats the event as a line of text.
    pub fn text(&self, root: &Position) -> String {
        match self {
            DeepeningEvent::Begin { depth, window } => {
                format!("iteration {depth}, window {window}")
            }
            DeepeningEvent::RootMove { old, new, score, alpha } => {
                let old = old.map_or("none".to_owned(), |old| root.san(old));
                let alpha = bound(*alpha);
                format!(
                    "  best move {} (before: {old}), score {score} > alpha {alpha}",
                    root.san(*new)
                )
            }
            DeepeningEvent::Failed { score, window, next } if *score >= window.beta => {
                format!("  fails high: {score} >= beta {}, again with {next}", window.beta)
            }
            DeepeningEvent::Failed { score, window, next } => {
                format!("  fails low: {score} <= alpha {}, again with {next}", window.alpha)
            }
            DeepeningEvent::Done { depth, score, line, nodes, quiescence } => {
                let line = notation::line(root, line);
                format!(
                    "depth {depth}: {score} by {line}; {nodes} nodes, {quiescence} in quiescence"
                )
            }
        }
    }

    /// Formats the event as JSON.
    pub fn json(&self, root: &Position) -> serde_json::Value {
        use serde_json::json;
        match self {
            DeepeningEvent::Begin { depth, window } => {
                json!({ "begin": depth, "alpha": window.alpha, "beta": window.beta })
            }
            DeepeningEvent::RootMove { old, new, score, alpha } => json!({
                "old": old.map(|old| root.san(old)), "new": root.san(*new),
                "score": score, "alpha": alpha,
            }),
            DeepeningEvent::Failed { score, window, next } => json!({
                "fails": if *score >= window.beta { "high" } else { "low" }, "score": score,
                "alpha": window.alpha, "beta": window.beta,
                "next": [next.alpha, next.beta],
            }),
            DeepeningEvent::Done { depth, score, line, nodes, quiescence } => json!({
                "depth": depth, "score": score, "line": notation::line(root, line),
                "nodes": nodes, "quiescence": quiescence,
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::suite::positions::positions;

    fn search(root: &Position, plan: Plan) -> (DeepeningResult, Vec<DeepeningEvent>) {
        let (mut events, stop) = (Vec::new(), AtomicBool::new(false));
        let mut chess = Chess::new(root);
        let (found, ()) =
            deepen(&mut chess, root, plan, &stop, &mut || (), &mut |one| events.push(one));
        (found, events)
    }

    #[test]
    fn aspiration_windows_do_not_change_the_value() {
        for root in positions().iter().step_by(7) {
            let plan = Plan { algorithm: Algorithm::Pvs, depth: 3, aspiration: None };
            let (open, _) = search(root, plan);
            for width in [1, 30] {
                let (narrow, events) = search(root, Plan { aspiration: Some(width), ..plan });
                assert_eq!(narrow.score, open.score, "{root}");
                for one in &events {
                    if let DeepeningEvent::Failed { score, window, next } = one {
                        assert!(*score >= window.beta || *score <= window.alpha);
                        assert!(next.alpha < *score && *score < next.beta, "{one:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn last_root_event_matches_the_result() {
        let root = Position::start();
        let plan = Plan { algorithm: Algorithm::AlphaBeta, depth: 3, aspiration: None };
        let (found, events) = search(&root, plan);
        let best = events.iter().rev().find_map(|one| match one {
            DeepeningEvent::RootMove { new, .. } => Some(*new),
            _ => None,
        });
        assert_eq!(best, found.line.first().copied());
        let done = events.iter().filter(|one| matches!(one, DeepeningEvent::Done { .. })).count();
        assert_eq!((done, found.depth), (3, 3));
    }

    #[test]
    fn stop_flag_ends_the_search() {
        let stop = AtomicBool::new(true);
        let plan = Plan { algorithm: Algorithm::Pvs, depth: 30, aspiration: None };
        let root = Position::start();
        let (found, ()) =
            deepen(&mut Chess::new(&root), &root, plan, &stop, &mut || (), &mut |_| {});
        assert_eq!(found.depth, 0);
    }
}
