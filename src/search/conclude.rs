//! What is learnt from a node whose moves have been searched, and what the table keeps of it.

use super::constants as c;
use super::history::bonus;
use super::node::{Node, NodeProgress};
use super::observe::Spectator;
use super::report::Bound;
use super::table::{NO_EVAL, TableEntry};
use super::worker::Worker;
use crate::position::{Move, Position};
use crate::score::{Depth, Ply, Score, is_mate};

impl<S: Spectator> Worker<'_, S> {
    /// Learns from the moves of a node and stores the result.
    pub(super) fn conclude(&mut self, node: &Node, progress: &NodeProgress) -> Score {
        let best = progress.best;
        let bound = if best >= node.window.beta {
            Bound::Lower
        } else if progress.best_move.is_some() && node.pv {
            Bound::Exact
        } else {
            Bound::Upper
        };
        if bound == Bound::Lower
            && let Some(mv) = progress.best_move
        {
            self.count(|counters| &mut counters.cutoffs);
            self.stack[node.ply].cutoffs += 1;
            self.learn_from_cutoff(node, mv, progress);
        } else if bound == Bound::Upper {
            self.reward_last_move(node);
        }
        if node.pv {
            self.pv_table[node.ply].clone_from(&progress.line);
        }
        if node.excluded.is_none() {
            self.correct(node, best, bound, progress.best_move);
            self.store(node, best, progress.best_move, bound, node.depth);
        }
        best
    }

    fn learn_from_cutoff(&mut self, node: &Node, mv: Move, progress: &NodeProgress) {
        let (position, depth) = (&node.position, node.depth);
        if !position.is_noisy(mv) {
            self.killers.note(node.ply, mv);
            self.history.quiet_cutoff(position, mv, &progress.quiets, &node.context, depth);
        }
    }

    /// Every reply failed: the quiet move that led here was good.
    fn reward_last_move(&mut self, node: &Node) {
        let Some(parent) = node.ply.checked_sub(1) else { return };
        if let Some(piece_to) = self.stack[parent].piece_to {
            let context = self.context(parent);
            self.history.reward(piece_to, &context, bonus(node.depth) / 2);
        }
    }

    /// What the last move has made of the evaluation tells how good it was, if it was quiet. As
    /// Stockfish and Reckless do it.
    pub(super) fn learn_from_evaluation(&self, position: &Position, ply: Ply, static_eval: Score) {
        let Some(parent) = ply.checked_sub(1).map(|parent| &self.stack[parent]) else { return };
        let Some(mv) = parent.mv.filter(|_| !parent.noisy) else { return };
        if static_eval == NO_EVAL || parent.static_eval == NO_EVAL {
            return;
        }
        let risen = -(static_eval + parent.static_eval);
        let amount = (c::evaluation_history() * risen)
            .clamp(-c::evaluation_history_min(), c::evaluation_history_max());
        self.history.reward_butterfly(!position.side_to_move(), mv, &parent.threats, amount);
    }

    /// Teaches the correction history how far the evaluation was off, where the search can tell.
    fn correct(&mut self, node: &Node, best: Score, bound: Bound, mv: Option<Move>) {
        let quiet = mv.is_none_or(|mv| !node.position.is_noisy(mv));
        let tells = match bound {
            Bound::Lower => best > node.static_eval,
            Bound::Upper => best < node.static_eval,
            Bound::Exact => true,
        };
        if !node.in_check && quiet && tells && !is_mate(best) {
            let error = best - node.static_eval;
            let moves = self.last_moves(node.ply);
            self.history.update_correction(&node.position, moves, error, node.depth);
        }
    }

    pub(super) fn store(
        &self,
        node: &Node,
        score: Score,
        mv: Option<Move>,
        bound: Bound,
        depth: Depth,
    ) {
        let entry = TableEntry { mv, score, eval: node.raw_eval, bound, depth };
        self.job.table.store(self.table_key(&node.position), entry, node.ply);
    }
}
