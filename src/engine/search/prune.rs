//! Decides on pruning, extensions and reductions. All functions are pure and depend only on the
//! properties of a node and its moves.
//!
//! The constants are in [`super::constants`]; docs/measurements/strength-each-step.md lists the
//! measured effect of each technique.

use super::constants as c;
use super::node::{MoveFacts, Node};
use super::observe::{NodeEnd, PruneReason};
use super::table::NO_EVAL;
use crate::chess::score::{Depth, Score, is_decided};

const NULL_MOVE_DEPTH: Depth = 3;
/// Minimum depth at which a null move cutoff is verified, to detect zugzwang.
pub(super) const NULL_MOVE_VERIFICATION_DEPTH: Depth = 12;

const PROBCUT_DEPTH: Depth = 5;
/// Depth reduction for probcut, in plies. A table entry that is shallower than the node by at most
/// this many plies can rule out probcut.
const PROBCUT_REDUCTION: Depth = 4;

const SINGULAR_TABLE_LAG: Depth = 3;

pub(super) const PLY: i32 = 1_024;

/// A table of logarithms, in units of 1/256, from which the reductions of late moves are computed.
///
/// Source: <https://www.chessprogramming.org/Late_Move_Reductions>.
pub(super) struct Reductions([i32; 64]);

impl Reductions {
    pub(super) fn new() -> Self {
        Reductions(std::array::from_fn(|number| ((number.max(1) as f64).ln() * 256.0) as i32))
    }

    /// Returns the base reduction for move `number` (1-based) at `depth`, in units of 1/1024 of a
    /// ply.
    #[inline]
    pub(super) fn base(&self, depth: Depth, number: usize) -> i32 {
        let product = self.0[depth.clamp(0, 63) as usize] * self.0[number.min(63)];
        c::lmr_base() + product / c::lmr_divisor()
    }
}

/// Whether a node may be pruned as a whole, without searching all of its moves. PV nodes, nodes in
/// check and singularity tests are never pruned.
#[inline]
pub(super) fn may_prune_node(node: &Node) -> bool {
    !node.pv && !node.in_check && node.excluded.is_none() && node.eval != NO_EVAL
}

/// If the static evaluation suffices to prune the node, returns the rule that applies and the
/// node's value.
#[inline(always)]
pub(super) fn prune_statically(node: &Node) -> Option<(NodeEnd, Score)> {
    let average = (node.eval + node.window.beta) / 2;
    reverse_futility(node).then_some((NodeEnd::ReverseFutility, average))
}

/// Whether the evaluation is so high that it will probably stay above beta for a few plies.
///
/// Source: <https://www.chessprogramming.org/Reverse_Futility_Pruning>.
#[inline]
fn reverse_futility(node: &Node) -> bool {
    let margin = c::reverse_futility_margin() * node.depth
        - if node.improving { c::improving_discount() } else { 0 };
    node.depth <= c::reverse_futility_depth()
        && node.eval - margin >= node.window.beta
        && !is_decided(node.window.beta)
        && !is_decided(node.eval)
}

/// Returns the depth reduction for a null move search, if null move pruning applies.
///
/// The search tests whether the score reaches beta even if the side to move passes. It is not used
/// for a side that has only pawns, because such a side may be in zugzwang. Source:
/// <https://www.chessprogramming.org/Null_Move_Pruning>.
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

/// Returns the raised beta for probcut, if probcut applies. A capture that beats it at reduced
/// depth is likely to beat beta at full depth. Source: M. Buro, "ProbCut" (1995).
#[inline]
pub(super) fn probcut(node: &Node) -> Option<Score> {
    let raised = node.window.beta + c::probcut_margin();
    let refuted = node
        .table
        .is_some_and(|entry| entry.depth >= node.depth - PROBCUT_REDUCTION && entry.score < raised);
    (node.depth >= PROBCUT_DEPTH && !is_decided(node.window.beta) && !refuted).then_some(raised)
}

#[inline]
pub(super) fn probcut_depth(node: &Node) -> Depth {
    node.depth - PROBCUT_REDUCTION
}

/// Returns the reason, if any, to prune a quiet move that does not give check. `reduced` is the
/// depth of the move after late move reductions.
#[inline(always)]
pub(super) fn prune_quiet(
    node: &Node,
    reduced: Depth,
    facts: MoveFacts,
    history: i32,
) -> Option<PruneReason> {
    match () {
        () if late_move_pruning(node, facts.quiets) => Some(PruneReason::Late),
        () if futility(node, reduced, facts.alpha) => Some(PruneReason::Futile),
        () if history_pruning(node.depth, history) => Some(PruneReason::History),
        () => None,
    }
}

/// Whether to skip the remaining quiet moves of a node at low depth, after `quiets` of them have
/// been searched. Evasions of a check are not skipped.
///
/// Captures are not counted. Otherwise, a node that starts with a few bad captures would try hardly
/// any quiet moves, and the position would look lost for the side to move. Source:
/// <https://www.chessprogramming.org/Futility_Pruning#Move_Count_Based_Pruning>.
#[inline]
pub(super) fn late_move_pruning(node: &Node, quiets: usize) -> bool {
    let allowed =
        (10 * c::late_moves_base() + c::late_moves_step() * node.depth * node.depth) / 100;
    let allowed = allowed >> u32::from(!node.improving);
    !node.in_check && node.depth <= c::late_moves_depth() && quiets as Depth >= allowed
}

/// Whether the evaluation is too low for a quiet move searched to `depth` plies to raise alpha
/// (futility).
///
/// Source: <https://www.chessprogramming.org/Futility_Pruning>.
#[inline]
pub(super) fn futility(node: &Node, depth: Depth, alpha: Score) -> bool {
    !node.in_check
        && depth <= c::futility_depth()
        && node.static_eval + c::futility_base() + c::futility_margin() * depth <= alpha
}

/// Returns the static exchange value, in centipawns, below which a quiet move is pruned at `depth`,
/// or `None` if the depth is too high for this pruning.
#[inline]
pub(super) fn quiet_see_bound(depth: Depth) -> Option<Score> {
    (depth <= c::quiet_see_depth()).then_some(-c::quiet_see_margin() * depth * depth)
}

/// Returns the static exchange value, in centipawns, below which a capture, promotion or check is
/// pruned at `depth`, or `None` if the depth is too high for this pruning.
#[inline]
pub(super) fn forcing_see_bound(depth: Depth) -> Option<Score> {
    (depth <= c::forcing_see_depth()).then_some(-c::forcing_see_margin() * depth)
}

/// Whether a quiet move has failed too often in the past to be searched at `depth`.
#[inline]
pub(super) fn history_pruning(depth: Depth, history: i32) -> bool {
    depth <= c::history_pruning_depth() && history < -c::history_pruning_margin() * depth
}

/// Returns the bound for the singularity test: the table move is singular if all other moves score
/// below it.
///
/// Returns `None` if the table move should not be tested. Source:
/// <https://www.chessprogramming.org/Singular_Extensions>.
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
