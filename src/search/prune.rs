//! What may be cut off, extended or searched less deeply: pure predicates on a node's facts.
//!
//! Constants are hand-set round numbers in the range that open engines have published; what each
//! step is worth here is measured in docs/strength.md ("What the search features are worth").

use super::node::Node;
use super::table::NO_EVAL;
use crate::score::{Depth, Score, is_decided};

/// Depth up to which a node far above beta is cut.
const REVERSE_FUTILITY_DEPTH: Depth = 8;
const REVERSE_FUTILITY_MARGIN: Score = 80;
const IMPROVING_DISCOUNT: Score = 65;

const RAZOR_DEPTH: Depth = 3;
const RAZOR_MARGIN: Score = 240;

const NULL_MOVE_DEPTH: Depth = 3;
const NULL_MOVE_REDUCTION: Depth = 4;
const NULL_MOVE_DEPTH_SHARE: Depth = 4;
const NULL_MOVE_EVAL_STEP: Score = 200;
const NULL_MOVE_EVAL_MAX: Depth = 3;
/// The static evaluation may be this far below beta, and further the deeper the search.
const NULL_MOVE_SLACK: Score = -120;
const NULL_MOVE_SLACK_PER_PLY: Score = 20;
/// From this depth on a null move's cutoff is verified, because of zugzwang.
pub(super) const NULL_MOVE_VERIFICATION_DEPTH: Depth = 12;

const PROBCUT_DEPTH: Depth = 5;
const PROBCUT_MARGIN: Score = 170;
/// The table must speak of a search at most this much shallower to rule probcut out.
const PROBCUT_REDUCTION: Depth = 4;

const IIR_DEPTH: Depth = 4;

const FUTILITY_DEPTH: Depth = 8;
const FUTILITY_BASE: Score = 90;
const FUTILITY_MARGIN: Score = 85;

const QUIET_SEE_DEPTH: Depth = 9;
const QUIET_SEE_MARGIN: Score = 22;
const FORCING_SEE_DEPTH: Depth = 7;
const FORCING_SEE_MARGIN: Score = 95;

const HISTORY_PRUNING_DEPTH: Depth = 4;
const HISTORY_PRUNING_MARGIN: i32 = 3_500;

const SINGULAR_DEPTH: Depth = 7;
const SINGULAR_TABLE_LAG: Depth = 3;
/// The other moves must be worse than the table's by this much for each ply of depth.
const SINGULAR_MARGIN: Score = 2;

/// How much less deeply late moves are searched, by depth and move number.
pub(super) struct Reductions(Box<[[i8; 64]; 64]>);

impl Reductions {
    /// The logarithmic formula: <https://www.chessprogramming.org/Late_Move_Reductions>. The base was
    /// chosen by matches among 0.35, 0.55, 0.75, 0.95 and 1.15 (docs/strength.md).
    pub(super) fn new() -> Self {
        const BASE: f64 = 0.95;
        const DIVISOR: f64 = 2.15;
        let mut table = Box::new([[0; 64]; 64]);
        for (depth, row) in table.iter_mut().enumerate().skip(1) {
            for (number, entry) in row.iter_mut().enumerate().skip(1) {
                let product = (depth as f64).ln() * (number as f64).ln();
                *entry = (BASE + product / DIVISOR) as i8;
            }
        }
        Reductions(table)
    }

    /// Plies to take off the `number`-th move (from 1) at `depth`.
    #[inline]
    pub(super) fn base(&self, depth: Depth, number: usize) -> Depth {
        Depth::from(self.0[depth.clamp(0, 63) as usize][number.min(63)])
    }
}

/// Whether whole-node pruning makes sense at all: no PV node, no check, no test for singularity,
/// and no proven score at stake.
#[inline]
pub(super) fn may_prune_node(node: &Node) -> bool {
    !node.pv && !node.in_check && node.excluded.is_none() && node.eval != NO_EVAL
}

/// Reverse futility: the evaluation is so far above beta that few plies will not change it.
/// <https://www.chessprogramming.org/Reverse_Futility_Pruning>
#[inline]
pub(super) fn reverse_futility(node: &Node) -> bool {
    let margin =
        REVERSE_FUTILITY_MARGIN * node.depth - if node.improving { IMPROVING_DISCOUNT } else { 0 };
    node.depth <= REVERSE_FUTILITY_DEPTH
        && node.eval - margin >= node.window.beta
        && !is_decided(node.window.beta)
        && !is_decided(node.eval)
}

/// Razoring: the evaluation is so far below alpha that only captures could help.
/// <https://www.chessprogramming.org/Razoring>
#[inline]
pub(super) fn razoring(node: &Node) -> bool {
    node.depth <= RAZOR_DEPTH
        && node.eval + RAZOR_MARGIN * node.depth <= node.window.alpha
        && !is_decided(node.window.alpha)
}

/// Null move: passing, and still above beta? Not without pieces, where passing may be best.
/// <https://www.chessprogramming.org/Null_Move_Pruning>
#[inline]
pub(super) fn null_move(node: &Node) -> Option<Depth> {
    let beta = node.window.beta;
    let useful = node.depth >= NULL_MOVE_DEPTH
        && node.eval >= beta
        && node.static_eval + NULL_MOVE_SLACK + NULL_MOVE_SLACK_PER_PLY * node.depth >= beta
        && node.context[0].is_some()
        && !is_decided(beta)
        && node.position.has_pieces(node.position.side_to_move());
    let surplus = ((node.eval - beta) / NULL_MOVE_EVAL_STEP).min(NULL_MOVE_EVAL_MAX);
    useful.then_some(NULL_MOVE_REDUCTION + node.depth / NULL_MOVE_DEPTH_SHARE + surplus)
}

/// Probcut: a capture that beats beta by a margin at a reduced depth will beat beta at the full
/// one. Gives the raised beta. M. Buro, "ProbCut" (1995).
#[inline]
pub(super) fn probcut(node: &Node) -> Option<Score> {
    let raised = node.window.beta + PROBCUT_MARGIN;
    let refuted = node
        .table
        .is_some_and(|entry| entry.depth >= node.depth - PROBCUT_REDUCTION && entry.score < raised);
    (node.depth >= PROBCUT_DEPTH && !is_decided(node.window.beta) && !refuted).then_some(raised)
}

/// The depth of the search that confirms a probcut.
#[inline]
pub(super) fn probcut_depth(node: &Node) -> Depth {
    node.depth - PROBCUT_REDUCTION
}

/// Internal iterative reduction: without a table move the order is poor, and the time better
/// spent on an iteration that finds one. <https://www.chessprogramming.org/Internal_Iterative_Reductions>
#[inline]
pub(super) fn internal_iterative_reduction(node: &Node) -> Depth {
    let blind = node.table_move().is_none() && node.excluded.is_none();
    Depth::from(node.depth >= IIR_DEPTH && (node.pv || node.cut) && blind)
}

/// Late move pruning: once so many quiet moves have been searched, no other is tried at low depth.
/// <https://www.chessprogramming.org/Futility_Pruning#Move_Count_Based_Pruning>
///
/// Captures do not count: where a node begins with a few bad ones, hardly any quiet move would be
/// tried, and the side to move would look lost.
#[inline]
pub(super) fn late_move_pruning(node: &Node, quiets: usize) -> bool {
    let allowed = (3 + node.depth * node.depth) / if node.improving { 1 } else { 2 };
    node.depth <= FUTILITY_DEPTH && quiets as Depth >= allowed
}

/// Futility: the evaluation is too low for a quiet move to raise alpha in `depth` plies.
/// <https://www.chessprogramming.org/Futility_Pruning>
#[inline]
pub(super) fn futility(node: &Node, depth: Depth, alpha: Score) -> bool {
    !node.in_check
        && depth <= FUTILITY_DEPTH
        && node.static_eval + FUTILITY_BASE + FUTILITY_MARGIN * depth <= alpha
}

/// The exchange a quiet move must not fall below to be searched at `depth` plies.
#[inline]
pub(super) fn quiet_see_bound(depth: Depth) -> Option<Score> {
    (depth <= QUIET_SEE_DEPTH).then_some(-QUIET_SEE_MARGIN * depth * depth)
}

/// The exchange a capture, promotion or check must not fall below to be searched at `depth` plies.
#[inline]
pub(super) fn forcing_see_bound(depth: Depth) -> Option<Score> {
    (depth <= FORCING_SEE_DEPTH).then_some(-FORCING_SEE_MARGIN * depth)
}

/// Whether a quiet move has failed too often to be tried with `depth` plies left.
#[inline]
pub(super) fn history_pruning(depth: Depth, history: i32) -> bool {
    depth <= HISTORY_PRUNING_DEPTH && history < -HISTORY_PRUNING_MARGIN * depth
}

/// Whether to ask if the table's move is the only good one. Gives the score that the others
/// must stay below. <https://www.chessprogramming.org/Singular_Extensions>
#[inline]
pub(super) fn singular_beta(node: &Node) -> Option<Score> {
    let entry = node.table?;
    entry.mv?;
    let trusted = entry.depth >= node.depth - SINGULAR_TABLE_LAG
        && entry.bound != super::report::Bound::Upper
        && !is_decided(entry.score);
    let asked = !node.is_root() && node.depth >= SINGULAR_DEPTH && node.excluded.is_none();
    (asked && trusted).then_some(entry.score - SINGULAR_MARGIN * node.depth)
}
