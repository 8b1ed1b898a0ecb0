//! Late move reductions: shallow null-window searches of late moves, with re-searches.
//!
//! Source: <https://www.chessprogramming.org/Late_Move_Reductions>.

use super::config::ResearchOrder;
use super::constants as c;
use super::node::{MoveFacts, Node, Window};
use super::observe::{OptionalObserver, SearchReason};
use super::prune::PLY;
use super::table::NO_EVAL;
use super::worker::Worker;
use crate::chess::position::Position;
use crate::chess::score::{Depth, Ply, Score};

/// If more than this many nodes at the next ply (children of this node and of its siblings) have
/// failed high, late moves are reduced further, because they are likely to be refuted too. Source:
/// Stockfish.
const MANY_CUTOFFS: u32 = 2;
const HISTORY_MOST: i32 = 2 * PLY;

impl<S: OptionalObserver> Worker<'_, S> {
    /// Returns the number of plies by which the first search of a late move is reduced; 0 for no
    /// reduction.
    pub(super) fn reduction(
        &self,
        node: &Node,
        next: &Position,
        noisy: bool,
        history: i32,
        number: usize,
    ) -> Depth {
        if node.depth < 3 || number < 3 || self.proving {
            return 0;
        }
        let base = self.reductions.base(node.depth, number);
        let mut reduction = if noisy { base / 2 } else { base };
        reduction += c::lmr_not_improving() * i32::from(!node.improving);
        reduction += c::lmr_cut() * i32::from(node.cut);
        reduction -= c::lmr_pv() * i32::from(node.pv);
        reduction -= c::lmr_check() * i32::from(next.in_check());
        reduction -= c::lmr_in_check() * i32::from(node.in_check);
        reduction -= c::lmr_gain() * i32::from(self.has_gained(node));
        if self.stack[node.ply + 1].cutoffs > MANY_CUTOFFS {
            reduction += c::lmr_cutoffs();
        }
        reduction -= (history * PLY / c::lmr_history()).clamp(-HISTORY_MOST, HISTORY_MOST);
        (reduction / PLY).clamp(0, node.depth - 2)
    }

    /// Whether the evaluation is higher for the side to move than before the opponent's last move.
    fn has_gained(&self, node: &Node) -> bool {
        let Some(parent) = node.ply.checked_sub(1) else { return false };
        let before = self.stack[parent].static_eval;
        !node.in_check && before != NO_EVAL && node.static_eval > -before
    }

    /// Searches a late move with a null window, at first reduced by `reduction`. If the score is
    /// above alpha, searches again at full depth and then, at a PV node, with the open window.
    ///
    /// With [`ResearchOrder::WindowFirst`], a PV node opens the window before it restores the full
    /// depth.
    pub(super) fn search_late_move(
        &mut self,
        node: &Node,
        next: &Position,
        depth: Depth,
        reduction: Depth,
        facts: &mut MoveFacts,
    ) -> Score {
        let ply = node.ply + 1;
        let null = Window::null(facts.alpha).flip();
        self.set_reason(SearchReason::Late { reduction });
        self.stack[node.ply].reduction = reduction;
        let mut score = -self.pvs(next, ply, depth - reduction, null, true);
        self.stack[node.ply].reduction = 0;
        if reduction > 0 && self.is_still_better(score, facts) {
            if node.pv && self.job.config.research_order == ResearchOrder::WindowFirst {
                let window = Window::new(facts.alpha, node.window.beta);
                return self.search_window_first(next, ply, [depth - reduction, depth], window);
            }
            let null = Window::null(facts.alpha).flip();
            self.again(SearchReason::Deeper);
            score = -self.pvs(next, ply, depth, null, !node.cut);
        }
        if node.pv && self.is_still_better(score, facts) && !self.is_interrupted() {
            let window = Window::new(facts.alpha, node.window.beta).flip();
            self.again(SearchReason::Open);
            score = -self.pvs(next, ply, depth, window, false);
        }
        score
    }

    #[inline(always)]
    fn again(&mut self, why: SearchReason) {
        self.count(|counters| match why {
            SearchReason::Deeper => &mut counters.deeper,
            _ => &mut counters.open,
        });
        self.set_reason(why);
    }

    /// Whether `score` is still above alpha, which another thread may have raised in the meantime.
    fn is_still_better(&self, score: Score, facts: &mut MoveFacts) -> bool {
        if facts.shared && score > facts.alpha {
            facts.alpha = facts.alpha.max(self.shared_alpha());
        }
        score > facts.alpha
    }

    /// Re-searches a late move with the open window, first at reduced depth and, if the score is
    /// above alpha, at full depth.
    #[cold]
    fn search_window_first(
        &mut self,
        next: &Position,
        ply: Ply,
        [reduced, full]: [Depth; 2],
        window: Window,
    ) -> Score {
        self.again(SearchReason::Open);
        let score = -self.pvs(next, ply, reduced, window.flip(), false);
        if score <= window.alpha || self.is_interrupted() {
            return score;
        }
        self.again(SearchReason::Deeper);
        -self.pvs(next, ply, full, window.flip(), false)
    }
}

#[cfg(test)]
mod tests {
    use super::super::job::{Job, PersistentState};
    use super::super::worker::ThreadData;
    use super::super::{Config, Control, Limits};
    use super::*;
    use crate::chess::position::Game;

    #[test]
    fn late_moves_are_reduced_less_after_a_gain() {
        let config = Config { threads: 1, ..Config::default() };
        let (game, limits) = (Game::default(), Limits::depth(1));
        let state = PersistentState::new(1);
        let job = Job::new(&game, &limits, &Control::new(), config, state, false);
        let mut data = ThreadData::new();
        let mut worker = Worker::new(0, &job, &mut data, None);
        let node = worker.assess(&job.root, 1, 8, Window::null(0), false, None);
        let mut reductions_after = |change: Score| {
            worker.stack[0].static_eval = change - node.static_eval;
            (3..40)
                .map(|number| worker.reduction(&node, &job.root, false, 0, number))
                .sum::<Depth>()
        };
        let (gained, lost) = (reductions_after(10), reductions_after(-10));
        assert!(gained < lost, "{gained} {lost}");
    }
}
