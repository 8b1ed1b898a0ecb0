//! The textbook searches without negamax, for comparison: each player has separate code. Max
//! chooses the greatest value and raises alpha. Min chooses the smallest value and lowers beta.

use super::super::{GameTree, NodeId};
use crate::chess::score::{INFINITY, Ply, Score};
use crate::web::lesson::game::{Window, ZeroSumGame};
use crate::web::lesson::observe::{Observer, SearchReason};
use crate::web::lesson::search::Algorithm;

/// Searches `tree` with separate code for Max and Min instead of negamax, and returns its value
/// from Max's point of view. Calls `observer` for the same steps as a negamax search.
pub(super) fn search_two_sided(
    tree: &GameTree,
    algorithm: Algorithm,
    observer: &mut impl Observer<NodeId>,
) -> Score {
    let root = 0;
    let mut search = TwoSided { tree, algorithm, observer };
    search.enter(0, None, root, Window::FULL, SearchReason::Open);
    search.node(root, 0, Window::FULL).0
}

struct TwoSided<'a, O> {
    tree: &'a GameTree,
    algorithm: Algorithm,
    observer: &'a mut O,
}

impl<O: Observer<NodeId>> TwoSided<'_, O> {
    fn node(&mut self, node: NodeId, ply: Ply, window: Window) -> (Score, Vec<NodeId>) {
        let max = self.tree.is_max(node);
        let (value, line, leaf) = match self.tree.leaf_value(node) {
            Some(value) => (value, Vec::new(), true),
            None => {
                let (value, line) =
                    if max { self.max(node, ply, window) } else { self.min(node, ply, window) };
                (value, line, false)
            }
        };
        self.observer.leave(ply, if max { value } else { -value }, &line, leaf);
        (value, line)
    }

    fn max(&mut self, node: NodeId, ply: Ply, window: Window) -> (Score, Vec<NodeId>) {
        let Window { mut alpha, beta } = window;
        let (mut best, mut line) = (-INFINITY, Vec::new());
        let children = self.tree.children(node);
        for (index, &child) in children.iter().enumerate() {
            let (value, rest) = match self.algorithm {
                Algorithm::Minimax => self.visit(child, ply, Window::FULL, SearchReason::Open),
                Algorithm::Pvs if index > 0 => {
                    let (open, null) = (Window::new(alpha, beta), Window::new(alpha, alpha + 1));
                    self.null_window_first(child, ply, open, null)
                }
                _ => self.visit(child, ply, Window::new(alpha, beta), SearchReason::Open),
            };
            best = best.max(value);
            if value > alpha {
                alpha = value;
                line = [&[child], &rest[..]].concat();
                self.observer.raise(ply, child, value);
            }
            if self.algorithm != Algorithm::Minimax && alpha >= beta {
                self.observer.cutoff(ply, alpha, beta, &children[index + 1..]);
                break;
            }
        }
        (best, line)
    }

    fn min(&mut self, node: NodeId, ply: Ply, window: Window) -> (Score, Vec<NodeId>) {
        let Window { alpha, mut beta } = window;
        let (mut best, mut line) = (INFINITY, Vec::new());
        let children = self.tree.children(node);
        for (index, &child) in children.iter().enumerate() {
            let (value, rest) = match self.algorithm {
                Algorithm::Minimax => self.visit(child, ply, Window::FULL, SearchReason::Open),
                Algorithm::Pvs if index > 0 => {
                    let (open, null) = (Window::new(alpha, beta), Window::new(beta - 1, beta));
                    self.null_window_first(child, ply, open, null)
                }
                _ => self.visit(child, ply, Window::new(alpha, beta), SearchReason::Open),
            };
            best = best.min(value);
            if value < beta {
                beta = value;
                line = [&[child], &rest[..]].concat();
                self.observer.raise(ply, child, -value);
            }
            if self.algorithm != Algorithm::Minimax && alpha >= beta {
                self.observer.cutoff(ply, -beta, -alpha, &children[index + 1..]);
                break;
            }
        }
        (best, line)
    }

    /// Searches a child other than the first as PVS does: with `null` and, if the child proves
    /// better, again with `open`. Works for both players, because the caller provides the windows.
    fn null_window_first(
        &mut self,
        child: NodeId,
        ply: Ply,
        open: Window,
        null: Window,
    ) -> (Score, Vec<NodeId>) {
        let found = self.visit(child, ply, null, SearchReason::Null);
        let better = open.alpha < found.0 && found.0 < open.beta;
        if better && !open.is_null() && self.tree.leaf_value(child).is_none() {
            return self.visit(child, ply, open, SearchReason::Again);
        }
        found
    }

    fn visit(
        &mut self,
        child: NodeId,
        ply: Ply,
        window: Window,
        why: SearchReason,
    ) -> (Score, Vec<NodeId>) {
        self.enter(ply + 1, Some(child), child, window, why);
        self.node(child, ply + 1, window)
    }

    fn enter(
        &mut self,
        ply: Ply,
        via: Option<NodeId>,
        node: NodeId,
        window: Window,
        why: SearchReason,
    ) {
        self.observer.enter(ply, via, window.seen(self.tree.maximises(&node)), why);
    }
}
