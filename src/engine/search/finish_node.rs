//! Updates the histories and the transposition table after all moves of a node have been searched
//! or one has failed high.

use std::sync::atomic::Ordering;

use super::constants as c;
use super::history::bonus;
use super::job::RootMove;
use super::node::{Node, NodeProgress};
use super::observe::OptionalObserver;
use super::report::Bound;
use super::table::{NO_EVAL, TableEntry};
use super::worker::Worker;
use crate::chess::position::{Move, Position};
use crate::chess::score::{Depth, Ply, Score, is_decided};

impl<S: OptionalObserver> Worker<'_, S> {
    /// Updates the histories after a node has been searched, and returns the node's score. Stores
    /// the score in the transposition table if it is valid for the position.
    pub(super) fn finish_node(&mut self, node: &Node, progress: &NodeProgress) -> Score {
        let best = progress.best.clamp(node.least, node.most);
        let bound = if best >= node.window.beta || best > progress.best {
            Bound::Lower
        } else if best < progress.best {
            Bound::Upper
        } else if progress.best_move.is_some() && node.pv {
            Bound::Exact
        } else {
            Bound::Upper
        };
        if progress.best >= node.window.beta
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
        if node.excluded.is_none() && self.is_score_of_position(node) {
            self.correct(node, best, bound, progress.best_move);
            self.store(node, best, progress.best_move, bound, node.depth);
        }
        best
    }

    /// Whether the score of `node` is also the score of its position.
    ///
    /// At the root, this is true only for the first line. It is false if the user has restricted
    /// the root moves or if the endgame tables report a draw.
    fn is_score_of_position(&self, node: &Node) -> bool {
        if !node.is_root() {
            return true;
        }
        let is_first_line = self.job.line.load(Ordering::Relaxed) == 0;
        let is_draw = self.job.root_moves().first().is_some_and(RootMove::is_known_draw);
        is_first_line && self.job.limits.root_moves.is_empty() && !is_draw
    }

    fn learn_from_cutoff(&mut self, node: &Node, mv: Move, progress: &NodeProgress) {
        let (position, depth) = (&node.position, node.depth);
        if !position.is_noisy(mv) {
            self.killers.note(node.ply, mv);
            self.history.quiet_cutoff(position, mv, &progress.quiets, &node.context, depth);
        }
    }

    /// Rewards the quiet move that led to the node, because all replies to that move failed low.
    fn reward_last_move(&mut self, node: &Node) {
        let Some(parent) = node.ply.checked_sub(1) else { return };
        if let Some(piece_to) = self.stack[parent].piece_to
            && !self.stack[parent].noisy
        {
            let context = self.context(parent);
            self.history.reward(piece_to, &context, bonus(node.depth));
        }
    }

    /// Rewards or penalises the quiet move that led to the node, according to how the move changed
    /// the static evaluation. Sources: Stockfish and Reckless.
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

    /// Updates the correction histories with the error of the static evaluation. Does nothing in
    /// check or in tactical positions, or if the score is a bound that does not contradict the
    /// evaluation.
    fn correct(&mut self, node: &Node, best: Score, bound: Bound, mv: Option<Move>) {
        let quiet = mv.is_none_or(|mv| !node.position.is_noisy(mv));
        let reports = match bound {
            Bound::Lower => best > node.static_eval,
            Bound::Upper => best < node.static_eval,
            Bound::Exact => true,
        };
        if !node.in_check && quiet && reports && !is_decided(best) {
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

#[cfg(test)]
mod tests {
    use super::super::history::PieceTo;
    use super::super::job::{Job, PersistentState};
    use super::super::node::Window;
    use super::super::worker::ThreadData;
    use super::super::{Config, Control, Limits};
    use super::*;
    use crate::chess::position::Game;

    fn job(fen: &str, limits: &Limits) -> Job {
        let game = Game::new(Position::from_fen(fen).expect(fen));
        let config = Config { threads: 1, ..Config::default() };
        Job::new(&game, limits, &Control::new(), config, PersistentState::new(1), false)
    }

    const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
    const HANGING_QUEEN: &str = "4k3/5p2/8/3q4/8/8/3R1P2/3RK3 w - - 0 1";

    #[test]
    fn previous_quiet_move_gets_a_bonus_when_all_replies_fail() {
        let job = job(START, &Limits::depth(1));
        let mut data = ThreadData::new();
        let mut worker = Worker::new(0, &job, &mut data, None);
        let first: Move = "e2e4".parse().expect("a move");
        let second: Move = "d7d5".parse().expect("a move");
        let after = job.root.play(first);
        worker.stack[0].piece_to = Some(PieceTo::new(&job.root, first));
        worker.stack[1].piece_to = Some(PieceTo::new(&after, second));
        let next = after.play(second);
        let node = worker.assess(&next, 2, 6, Window::null(0), false, None);
        let context = worker.context(1);
        let mut known = |noisy| {
            worker.stack[1].noisy = noisy;
            worker.reward_last_move(&node);
            job.history.quiet(&after, second, &context)
        };
        assert_eq!(known(true), 0);
        assert!(known(false) > 0);
    }

    #[test]
    fn probcut_captures_do_not_update_quiet_history() {
        let job = job(HANGING_QUEEN, &Limits::depth(1));
        let mut data = ThreadData::new();
        let mut worker = Worker::new(0, &job, &mut data, None);
        let parent = worker.assess(&job.root, 1, 7, Window::null(0), true, None);
        let beta = parent.static_eval - 100;
        let node = worker.assess(&job.root, 1, 7, Window::null(beta - 1), true, None);
        let takes: Move = "d2d5".parse().expect("a move");
        worker.stack[1].noisy = false;
        assert!(worker.try_probcut(&node).is_some_and(|score| score >= beta));
        assert_eq!(job.history.quiet(&job.root, takes, &worker.context(1)), 0);
    }

    #[test]
    fn multi_pv_stores_only_the_best_root_line_in_the_table() {
        // Positions in which one move is much better than the others.
        for fen in [
            HANGING_QUEEN,
            "rnb1kbnr/pppp1ppp/8/4p1q1/3P4/8/PPP1PPPP/RNBQKBNR w KQkq - 0 1",
            "r3k3/1p3ppp/8/8/8/2b5/PP3PPP/R3K1N1 w Q - 0 1",
        ] {
            let limits = Limits { multi_pv: 4, ..Limits::depth(6) };
            let job = job(fen, &limits);
            let mut data = ThreadData::new();
            let result = Worker::new(0, &job, &mut data, None).think();
            let entry = job.table.probe(job.root.key(), &job.root, 0).expect("the root");
            assert_eq!(entry.mv, result.best, "{fen}");
            assert!((entry.score - result.score).abs() < 60, "{fen}: {entry:?} {result:?}");
        }
        let named = Limits { root_moves: "a2a3".parse().into_iter().collect(), ..Limits::depth(6) };
        let job = job(START, &named);
        let mut data = ThreadData::new();
        Worker::new(0, &job, &mut data, None).think();
        assert_eq!(job.table.probe(job.root.key(), &job.root, 0), None);
    }
}
