//! Quiescence search: extends the leaves of the main search, trying only captures, promotions and
//! replies to checks.
//!
//! Source: <https://www.chessprogramming.org/Quiescence_Search>.

use super::constants as c;
use super::node::Window;
use super::observe::{NodeEnd, OptionalObserver, SearchReason, SearchStep};
use super::ordering::MovePicker;
use super::pvs::{bound_applies, corrected, refined_eval};
use super::report::Bound;
use super::see::value;
use super::table::{NO_EVAL, TableEntry};
use super::worker::Worker;
use crate::chess::position::{Move, Piece, Position};
use crate::chess::score::{INFINITY, Ply, Score, is_decided, mated_in};

impl<S: OptionalObserver> Worker<'_, S> {
    /// Runs a quiescence search of `position` within `window`, and returns its fail-soft value.
    pub(super) fn quiescence(&mut self, position: &Position, ply: Ply, window: Window) -> Score {
        self.show_entry(position, ply, 0, window, true);
        let score = self.value_at_rest(position, ply, window);
        self.show_leave(score)
    }

    /// Searches a node for [`Worker::quiescence`], which reports to the observer when the node is
    /// entered and left.
    #[inline(always)]
    fn value_at_rest(&mut self, position: &Position, ply: Ply, window: Window) -> Score {
        if let Some(score) = self.enter_node(position, ply) {
            return score;
        }
        let window = self.repetition_window(position, ply, window);
        self.show(|_| SearchStep::Narrowed { alpha: window.alpha, beta: window.beta });
        if window.alpha >= window.beta {
            return self.ended(NodeEnd::EmptyWindow, window.alpha);
        }
        self.evaluator.prepare(position, ply);
        let table = self.job.table.probe(self.table_key(position), position, ply);
        if let Some(entry) = table
            && !window.is_open()
            && bound_applies(entry.bound, entry.score, window)
        {
            return self.ended(NodeEnd::Table, entry.score);
        }
        let raw_eval = self.raw_eval(position, ply, table);
        let stand_pat = self.stand_pat(position, ply, raw_eval, table);
        self.show(|_| SearchStep::Assessed {
            eval: (raw_eval != NO_EVAL).then_some(stand_pat),
            hit: table.is_some(),
        });
        if stand_pat >= window.beta {
            return self.ended(NodeEnd::StandPat, stand_pat);
        }
        self.search_noisy(position, ply, window, stand_pat, raw_eval, table)
    }

    /// Returns the stand-pat score: the evaluation of `position`, or `-INFINITY` if the side to
    /// move is in check.
    fn stand_pat(
        &self,
        position: &Position,
        ply: Ply,
        raw_eval: Score,
        table: Option<TableEntry>,
    ) -> Score {
        if raw_eval == NO_EVAL {
            return -INFINITY;
        }
        refined_eval(corrected(raw_eval, self.correction(position, ply)), table)
    }

    fn search_noisy(
        &mut self,
        position: &Position,
        ply: Ply,
        window: Window,
        stand_pat: Score,
        raw_eval: Score,
        table: Option<TableEntry>,
    ) -> Score {
        let in_check = position.in_check();
        let mut context = self.context(ply);
        if in_check {
            context.threats = position.threats();
            context.checks = position.checks();
        }
        let table_move = table.and_then(|entry| entry.mv);
        let mut picker = match in_check {
            true => MovePicker::all(table_move),
            false => MovePicker::noisy(table_move.filter(|&mv| position.is_noisy(mv)), 0),
        };
        picker.apply_visibility(self.visibility(position, ply));
        let mut alpha = window.alpha.max(stand_pat);
        let (mut best, mut best_move) = (stand_pat, None);
        let mut count = 0;
        let last_target = ply.checked_sub(1).and_then(|parent| self.stack[parent].mv).map(Move::to);
        while let Some(mv) = picker.next(position, self.history, &context) {
            count += 1;
            let is_late = count > c::quiescence_moves()
                && mv.promotion().is_none()
                && last_target != Some(mv.to());
            if is_late && !in_check && !is_decided(best) {
                continue;
            }
            if let Some(most) = delta(position, mv, stand_pat)
                && most <= alpha
            {
                best = best.max(most);
                continue;
            }
            let next = self.play(position, mv);
            self.enter(position, mv, ply, &next);
            self.set_reason(SearchReason::Noisy);
            let score = -self.quiescence(&next, ply + 1, Window::new(alpha, window.beta).flip());
            self.leave();
            if self.is_interrupted() {
                return self.ended(NodeEnd::Interrupted, 0);
            }
            self.show(|_| SearchStep::Scored { mv, score, alpha });
            if score > best {
                best = score;
                if score > alpha {
                    best_move = Some(mv);
                    alpha = score;
                }
                if score >= window.beta {
                    break;
                }
            }
            if in_check && !is_decided(best) && count >= c::quiescence_evasions() {
                // The check does not lose by force, so skip the remaining quiet evasions.
                picker.skip_quiets();
            }
        }
        if best == -INFINITY {
            return self.ended(NodeEnd::NoMoves, mated_in(ply));
        }
        let bound = if best >= window.beta { Bound::Lower } else { Bound::Upper };
        if bound == Bound::Lower {
            self.count(|counters| &mut counters.cutoffs);
        }
        let entry = TableEntry { mv: best_move, score: best, eval: raw_eval, bound, depth: 0 };
        self.job.table.store(self.table_key(position), entry, ply);
        best
    }
}

/// Returns an optimistic estimate of the score after a capture, for delta pruning. Returns `None`
/// if the move must not be pruned.
fn delta(position: &Position, mv: Move, stand_pat: Score) -> Option<Score> {
    if stand_pat == -INFINITY || mv.promotion().is_some() || is_decided(stand_pat) {
        return None;
    }
    let taken = position.piece_on(mv.to()).map_or(value(Piece::Pawn), value);
    Some(stand_pat + taken + c::delta_margin())
}

#[cfg(test)]
mod tests {
    use super::super::job::{Job, PersistentState};
    use super::super::worker::ThreadData;
    use super::super::{Config, Control, Limits};
    use super::*;
    use crate::chess::position::Game;

    /// Returns the number of nodes of a quiescence search after the opponent's move `last`.
    fn nodes_after(last: &str, fen: &str) -> u64 {
        let game = Game::new(Position::from_fen(fen).expect(fen));
        let config = Config { threads: 1, ..Config::default() };
        let state = PersistentState::new(1);
        let job = Job::new(&game, &Limits::depth(1), &Control::new(), config, state, false);
        let mut data = ThreadData::new();
        let mut worker = Worker::new(0, &job, &mut data, None);
        worker.stack[0].mv = last.parse().ok();
        worker.quiescence(&job.root, 1, Window::FULL);
        worker.take_nodes()
    }

    #[test]
    fn recaptures_are_tried_beyond_the_limit_of_captures() {
        // The queen's capture on g5 is the fourth one.
        let fen = "7k/8/8/p1p1p1p1/8/8/8/RKR1R1Q1 w - - 0 1";
        assert!(nodes_after("g6g5", fen) > nodes_after("h7h6", fen));
    }
}
