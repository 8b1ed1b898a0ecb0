//! Conditions for pruning, extensions and reductions: pure predicates on a node's facts.
//!
//! The constants are in [`super::constants`]; docs/measurements/strength-each-step.md lists the measured effect of each
//! step.

use super::constants as c;
use super::node::Node;
use super::table::NO_EVAL;
use crate::chess::score::{Depth, Score, is_decided};

const NULL_MOVE_DEPTH: Depth = 3;
/// From this depth on a null move's cutoff is verified, because of zugzwang.
pub(super) const NULL_MOVE_VERIFICATION_DEPTH: Depth = 12;

const PROBCUT_DEPTH: Depth = 5;
/// The table entry's search must be at most this much shallower to rule probcut out.
const PROBCUT_REDUCTION: Depth = 4;

const SINGULAR_TABLE_LAG: Depth = 3;

/// One ply in units of reductions.
pub(super) const PLY: i32 = 1_024;

/// Reductions of late moves, by the logarithms of depth and move number in 1/256:
/// <https://www.chessprogramming.org/Late_Move_Reductions>.
pub(super) struct Reductions([i32; 64]);

impl Reductions {
    pub(super) fn new() -> Self {
        Reductions(std::array::from_fn(|number| ((number.max(1) as f64).ln() * 256.0) as i32))
    }

    /// Returns the reduction of the `number`-th move (from 1) at `depth`, in 1,024ths of a ply.
    #[inline]
    pub(super) fn base(&self, depth: Depth, number: usize) -> i32 {
        let product = self.0[depth.clamp(0, 63) as usize] * self.0[number.min(63)];
        c::lmr_base() + product / c::lmr_divisor()
    }
}

/// Whether whole-node pruning is allowed: no PV node, check, singularity test or proven score.
#[inline]
pub(super) fn may_prune_node(node: &Node) -> bool {
    !node.pv && !node.in_check && node.excluded.is_none() && node.eval != NO_EVAL
}

/// Reverse futility: the evaluation is so far above beta that a few plies will not change it.
/// <https://www.chessprogramming.org/Reverse_Futility_Pruning>
#[inline]
pub(super) fn reverse_futility(node: &Node) -> bool {
    let margin = c::reverse_futility_margin() * node.depth
        - if node.improving { c::improving_discount() } else { 0 };
    node.depth <= c::reverse_futility_depth()
        && node.eval - margin >= node.window.beta
        && !is_decided(node.window.beta)
        && !is_decided(node.eval)
}

/// Returns the depth of a null move search: is the score above beta even after passing?
///
/// Only at expected cut nodes, and not without pieces, where passing may be best.
/// <https://www.chessprogramming.org/Null_Move_Pruning>
#[inline]
pub(super) fn null_move(node: &Node) -> Option<Depth> {
    let beta = node.window.beta;
    let useful = node.depth >= NULL_MOVE_DEPTH
        && node.cut
        && node.eval >= beta
        && node.static_eval + c::null_move_slack_per_ply() * node.depth - c::null_move_slack()
            >= beta
        && node.context.moves[0].is_some()
        && !is_decided(beta)
        && node.position.has_pieces(node.position.side_to_move());
    let surplus = ((node.eval - beta) / c::null_move_eval_step()).min(c::null_move_eval_max());
    useful.then_some(
        c::null_move_reduction() + 10 * node.depth / c::null_move_depth_share() + surplus,
    )
}

/// Probcut: a capture that beats beta by a margin at reduced depth will beat beta at full depth.
/// Returns the raised beta. M. Buro, "ProbCut" (1995).
#[inline]
pub(super) fn probcut(node: &Node) -> Option<Score> {
    let raised = node.window.beta + c::probcut_margin();
    let refuted = node
        .table
        .is_some_and(|entry| entry.depth >= node.depth - PROBCUT_REDUCTION && entry.score < raised);
    (node.depth >= PROBCUT_DEPTH && !is_decided(node.window.beta) && !refuted).then_some(raised)
}

/// Returns the depth of the search that confirms a probcut.
#[inline]
pub(super) fn probcut_depth(node: &Node) -> Depth {
    node.depth - PROBCUT_REDUCTION
}

/// Late move pruning: at low depth, skips the remaining quiet moves after this many.
/// <https://www.chessprogramming.org/Futility_Pruning#Move_Count_Based_Pruning>
///
/// Captures do not count. If they did, a node that begins with a few bad ones would try hardly any
/// quiet move, and the side to move would look lost.
#[inline]
pub(super) fn late_move_pruning(node: &Node, quiets: usize) -> bool {
    let allowed =
        (10 * c::late_moves_base() + c::late_moves_step() * node.depth * node.depth) / 100;
    // Half as many if the evaluation does not improve.
    let allowed = allowed >> u32::from(!node.improving);
    node.depth <= c::late_moves_depth() && quiets as Depth >= allowed
}

/// Futility: the evaluation is too low for a quiet move to raise alpha in `depth` plies.
/// <https://www.chessprogramming.org/Futility_Pruning>
#[inline]
pub(super) fn futility(node: &Node, depth: Depth, alpha: Score) -> bool {
    !node.in_check
        && depth <= c::futility_depth()
        && node.static_eval + c::futility_base() + c::futility_margin() * depth <= alpha
}

/// Returns the lowest exchange value of a quiet move to be searched at `depth` plies.
#[inline]
pub(super) fn quiet_see_bound(depth: Depth) -> Option<Score> {
    (depth <= c::quiet_see_depth()).then_some(-c::quiet_see_margin() * depth * depth)
}

/// Returns the lowest exchange value of a capture, promotion or check to be searched at `depth`
/// plies.
#[inline]
pub(super) fn forcing_see_bound(depth: Depth) -> Option<Score> {
    (depth <= c::forcing_see_depth()).then_some(-c::forcing_see_margin() * depth)
}

/// Whether a quiet move has failed too often to be tried with `depth` plies left.
#[inline]
pub(super) fn history_pruning(depth: Depth, history: i32) -> bool {
    depth <= c::history_pruning_depth() && history < -c::history_pruning_margin() * depth
}

/// Whether to test if the table's move is the only good one. Returns the score that the others must
/// stay below. <https://www.chessprogramming.org/Singular_Extensions>
#[inline]
pub(super) fn singular_beta(node: &Node) -> Option<Score> {
    let entry = node.table?;
    entry.mv?;
    let trusted = entry.depth >= node.depth - SINGULAR_TABLE_LAG
        && entry.bound != super::report::Bound::Upper
        && !is_decided(entry.score);
    let asked = !node.is_root() && node.depth >= c::singular_depth() && node.excluded.is_none();
    (asked && trusted).then_some(entry.score - c::singular_margin() * node.depth / 10)
}
