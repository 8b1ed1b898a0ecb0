//! Pruning of moves that are late or futile, lose material, or have a bad history.

use super::node::{JudgedMove, MoveFacts, Node};
use super::observe::{OptionalObserver, PruneReason, SearchStep};
use super::prune::{self, PLY};
use super::see::see_ge;
use super::worker::Worker;
use crate::chess::position::Move;
use crate::chess::score::Score;

/// Moves at a node are pruned only once the best score so far is above this value, which means that
/// some move avoids a forced loss.
const NOT_MATED: Score = -crate::chess::score::TABLEBASE_BOUND;

impl<S: OptionalObserver> Worker<'_, S> {
    pub(super) fn is_pruned(&mut self, node: &Node, mv: Move, facts: MoveFacts) -> bool {
        if !self.may_prune_moves(node, facts) {
            return false;
        }
        let judged = self.judge(node, mv);
        let why = self.prune_reason(node, judged, facts);
        why.iter().for_each(|&why| self.show(|_| SearchStep::Pruned(mv, why)));
        why.is_some()
    }

    #[inline(always)]
    pub(super) fn judge(&self, node: &Node, mv: Move) -> JudgedMove {
        let position = &node.position;
        if position.is_noisy(mv) {
            return JudgedMove { mv, noisy: true, checks: false, history: 0 };
        }
        let checks = position.quiet_checks(mv, &node.context.checks);
        let history = self.history.quiet(position, mv, &node.context);
        JudgedMove { mv, noisy: false, checks, history }
    }

    /// Whether moves at the node may be pruned. No moves are pruned at the root, in a search for
    /// mates, or until some move scores better than a proven loss.
    pub(super) fn may_prune_moves(&self, node: &Node, facts: MoveFacts) -> bool {
        !node.is_root() && facts.best > NOT_MATED && !self.proving
    }

    /// Returns the reason to prune a move, or `None` if it must be searched. A move is pruned if it
    /// loses material, or if it is a quiet move that is late, is futile or has a bad history.
    #[inline]
    pub(super) fn prune_reason(
        &self,
        node: &Node,
        JudgedMove { mv, noisy, checks, history }: JudgedMove,
        facts: MoveFacts,
    ) -> Option<PruneReason> {
        let loses = |bound: Option<Score>| {
            let loses = bound.is_some_and(|bound| !see_ge(&node.position, mv, bound));
            loses.then_some(PruneReason::Exchange)
        };
        if noisy || checks {
            return loses(prune::forcing_see_bound(node.depth));
        }
        let reduced = (node.depth - self.reductions.base(node.depth, facts.number) / PLY).max(1);
        prune::prune_quiet(node, reduced, facts, history)
            .or_else(|| loses(prune::quiet_see_bound(reduced)))
    }
}
