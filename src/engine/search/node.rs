//! A node of the search: its properties, and the results of the moves searched so far.

use arrayvec::ArrayVec;

use super::history::Context;
use super::table::TableEntry;
use crate::chess::position::{Move, Position};
use crate::chess::score::{Depth, INFINITY, MAX_PLY, Ply, Score};

#[derive(Debug, Clone, Default)]
pub(super) struct Pv(ArrayVec<Move, MAX_PLY>);

impl Pv {
    pub(super) fn set(&mut self, mv: Move, rest: &Pv) {
        self.0.clear();
        self.0.push(mv);
        self.0.extend(rest.0.iter().copied().take(MAX_PLY - 1));
    }

    /// Creates a principal variation from `moves`, truncated to the maximum length.
    pub(super) fn from_moves(moves: &[Move]) -> Self {
        Pv(moves.iter().copied().take(MAX_PLY).collect())
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    pub(super) fn moves(&self) -> &[Move] {
        &self.0
    }
}

/// The alpha-beta window of a search. A value at or outside the bounds need not be exact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Window {
    pub(super) alpha: Score,
    pub(super) beta: Score,
}

impl Window {
    pub(super) const FULL: Window = Window { alpha: -INFINITY, beta: INFINITY };

    pub(super) fn new(alpha: Score, beta: Score) -> Self {
        Window { alpha, beta }
    }

    /// Returns the null window that tests whether the value is above `alpha`.
    pub(super) fn null(alpha: Score) -> Self {
        Window { alpha, beta: alpha + 1 }
    }

    /// Whether the window is wide enough to contain an exact value, as at PV nodes. A null window
    /// is not.
    pub(super) fn is_open(self) -> bool {
        self.beta - self.alpha > 1
    }

    pub(super) fn flip(self) -> Self {
        Window { alpha: -self.beta, beta: -self.alpha }
    }
}

/// The properties of a node that determine how its moves are searched.
#[derive(Debug, Clone)]
pub(super) struct Node {
    pub(super) position: Position,
    pub(super) ply: Ply,
    pub(super) depth: Depth,
    pub(super) window: Window,
    pub(super) pv: bool,
    pub(super) cut: bool,
    pub(super) in_check: bool,
    /// Whether the static evaluation has risen since the side to move's previous turn.
    pub(super) improving: bool,
    /// The uncorrected static evaluation, or `NO_EVAL` in check.
    pub(super) raw_eval: Score,
    /// The corrected static evaluation, or `NO_EVAL` in check.
    pub(super) static_eval: Score,
    /// The transposition table's score if its bound shows that it is more accurate than
    /// `static_eval`, otherwise `static_eval`; `NO_EVAL` in check.
    pub(super) eval: Score,
    pub(super) table: Option<TableEntry>,
    pub(super) excluded: Option<Move>,
    /// Lower bound on the node's score, according to the endgame tables.
    pub(super) least: Score,
    pub(super) most: Score,
    pub(super) context: Context,
}

impl Node {
    pub(super) fn table_move(&self) -> Option<Move> {
        self.table.and_then(|entry| entry.mv)
    }

    pub(super) fn is_root(&self) -> bool {
        self.ply == 0
    }
}

const TRIED: usize = 32;

#[derive(Debug, Clone)]
pub(super) struct NodeProgress {
    pub(super) alpha: Score,
    pub(super) best: Score,
    pub(super) best_move: Option<Move>,
    /// The best line so far. Set only at PV nodes.
    pub(super) line: Pv,
    pub(super) count: usize,
    /// The first [`TRIED`] quiet moves that were searched without failing high.
    pub(super) quiets: ArrayVec<Move, TRIED>,
    pub(super) quiet_count: usize,
}

impl NodeProgress {
    #[inline(always)]
    pub(super) fn new(alpha: Score) -> Self {
        NodeProgress {
            alpha,
            best: -INFINITY,
            best_move: None,
            line: Pv::default(),
            count: 0,
            quiets: ArrayVec::new(),
            quiet_count: 0,
        }
    }

    /// Whether a move has failed high, so that the remaining moves need not be searched.
    pub(super) fn has_failed_high(&self, node: &Node) -> bool {
        self.alpha >= node.window.beta
    }

    /// Records the score of `mv`. If it raises alpha, the best line becomes `mv` followed by
    /// `rest`. Returns whether the move fails high.
    pub(super) fn record(&mut self, node: &Node, mv: Move, score: Score, rest: &Pv) -> bool {
        self.best = self.best.max(score);
        if score > self.alpha {
            self.best_move = Some(mv);
            if node.pv {
                self.line.set(mv, rest);
            }
            // Alpha is raised even beyond beta: threads that share the node continue to record
            // results until they notice the cutoff, and their lower scores must not replace the
            // move that caused it.
            self.alpha = score;
            if self.has_failed_high(node) {
                return true;
            }
        }
        if !node.position.is_noisy(mv) {
            self.quiet_count += 1;
            // If the list is full, the move is left out. This rarely matters, because few nodes
            // have that many quiet moves.
            let _ = self.quiets.try_push(mv);
        }
        false
    }
}

/// The state of a node just before one of its moves is searched, used to decide whether to prune,
/// reduce or extend the move.
#[derive(Debug, Clone, Copy)]
pub(super) struct MoveFacts {
    /// 1-based place of the move in the search order.
    pub(super) number: usize,
    pub(super) quiets: usize,
    pub(super) alpha: Score,
    pub(super) best: Score,
    /// Number of plies by which the table move is extended. Not applied to other moves.
    pub(super) extension: Depth,
    /// Whether other threads search moves at the same node and may raise its alpha.
    pub(super) shared: bool,
}

impl MoveFacts {
    pub(super) fn of(progress: &NodeProgress) -> Self {
        MoveFacts {
            number: progress.count,
            quiets: progress.quiet_count,
            alpha: progress.alpha,
            best: progress.best,
            extension: 0,
            shared: false,
        }
    }
}

#[derive(Debug, Clone, Copy)]
pub(super) struct JudgedMove {
    pub(super) mv: Move,
    pub(super) noisy: bool,
    /// Whether the move is quiet and gives check.
    pub(super) checks: bool,
    /// History score of a quiet move; 0 if the move is not quiet.
    pub(super) history: i32,
}

#[cfg(test)]
impl Node {
    fn sample(alpha: Score) -> Self {
        Node {
            position: *crate::chess::position::Game::default().position(),
            ply: 1,
            depth: 4,
            window: Window::null(alpha),
            pv: false,
            cut: true,
            in_check: false,
            improving: false,
            raw_eval: 0,
            static_eval: 0,
            eval: 0,
            table: None,
            excluded: None,
            least: -INFINITY,
            most: INFINITY,
            context: Context::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::constants as c;
    use super::super::prune::late_move_pruning;
    use super::*;

    const MAX_MOVES: usize = 100;

    #[test]
    fn late_moves_are_pruned_up_to_the_maximum_depth() {
        let deepest = c::late_moves_depth();
        let mv = "e2e4".parse().expect("a quiet move");
        for depth in 1..=deepest + 1 {
            let node = Node { depth, improving: true, ..Node::sample(10) };
            let mut progress = NodeProgress::new(node.window.alpha);
            for _ in 0..MAX_MOVES {
                progress.record(&node, mv, 0, &Pv::default());
            }
            let is_pruned = late_move_pruning(&node, MoveFacts::of(&progress).quiets);
            assert_eq!(is_pruned, depth <= deepest, "depth {depth}");
            let in_check = Node { in_check: true, ..node };
            assert!(!late_move_pruning(&in_check, MAX_MOVES), "depth {depth}");
        }
    }

    #[test]
    fn lower_score_does_not_replace_a_fail_high_move() {
        let node = Node::sample(10);
        let [first, second] = ["e2e4", "d2d4"].map(|text| text.parse().expect("a move"));
        let mut progress = NodeProgress::new(node.window.alpha);
        assert!(progress.record(&node, first, 50, &Pv::default()));
        // A result from another thread, which began to search this move before the cutoff.
        progress.record(&node, second, 20, &Pv::default());
        assert_eq!((progress.best_move, progress.best), (Some(first), 50));
        assert!(progress.has_failed_high(&node));
    }
}

#[cfg(all(test, feature = "loom"))]
mod model {
    use loom::sync::{Arc, Mutex};
    use loom::thread;

    use super::*;

    #[test]
    fn best_score_and_best_move_match_in_every_interleaving() {
        loom::model(|| {
            let node = Node::sample(10);
            let progress = Arc::new(Mutex::new(NodeProgress::new(node.window.alpha)));
            let found = [("e2e4", 50), ("d2d4", 20), ("g1f3", 5)];
            let threads = found.map(|(mv, score)| {
                let (progress, node) = (Arc::clone(&progress), node.clone());
                let mv: Move = mv.parse().expect("a move");
                thread::spawn(move || {
                    let mut progress = progress.lock().expect("no panic");
                    progress.record(&node, mv, score, &Pv::default());
                })
            });
            for thread in threads {
                thread.join().expect("no panic");
            }
            let progress = progress.lock().expect("no panic");
            let best = found.iter().max_by_key(|(_, score)| score).expect("three");
            assert_eq!(progress.best, best.1);
            assert_eq!(progress.best_move, best.0.parse().ok());
        });
    }
}
