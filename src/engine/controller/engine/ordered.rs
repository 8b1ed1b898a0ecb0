//! Searches with explicit limits, as ordered by UCI's `go`.

use crate::chess::position::Game;
use crate::engine::search::{Limits, SearchResult};

use super::super::desired_state::Purpose;
use super::super::event::{Event, MoveReason, OrderedResult};
use super::Engine;

impl Engine {
    pub(crate) fn set_game(&mut self, game: Game) {
        self.desired.ordered = None;
        self.game = game;
        self.desired.broken = false;
        self.changed();
        self.reconcile();
    }

    /// Searches until one of the `limits` is reached or [`Engine::move_now`] is called, and then
    /// reports [`Event::OrderedResult`]. The result may be a book move, unless the search ponders,
    /// is unlimited or is restricted to certain moves.
    pub(crate) fn search(&mut self, limits: Limits) {
        self.desired.ordered = Some(limits);
        self.desired.hurry = false;
        self.desired.revision += 1;
        self.reconcile();
    }

    pub(crate) fn ponder_hit(&mut self) {
        let Some(limits) = &mut self.desired.ordered else { return };
        limits.ponder = false;
        let Some(job) = &mut self.job else { return };
        job.control.ponder_hit();
        if let Some(result) = job.result.take() {
            self.ordered_search_ended(result);
        }
    }

    /// Reports the result of the ordered search. If the search is pondering or unlimited and has
    /// not been stopped, stores the result instead, because it may not be reported yet.
    pub(super) fn ordered_search_ended(&mut self, result: SearchResult) {
        let must_hold_result = self.must_hold_result();
        match &mut self.job {
            Some(job) if must_hold_result && !job.control.is_stopped() => job.result = Some(result),
            _ => self.finish_ordered(result),
        }
    }

    fn must_hold_result(&self) -> bool {
        self.desired.ordered.as_ref().is_some_and(|limits| limits.ponder || limits.is_analysis())
    }

    pub(super) fn finish_ordered(&mut self, result: SearchResult) {
        let result = self.learn_result(result);
        self.job = None;
        let must_hold_result = self.must_hold_result();
        self.desired.ordered = None;
        let (mv, ponder) = (self.legal_or_any(result.best), result.ponder);
        mv.into_iter().filter(|_| !must_hold_result).for_each(|mv| self.learn_given(mv));
        let move_reason = MoveReason::Search(result);
        self.note_self_play(&move_reason);
        self.events.push(Event::OrderedResult(OrderedResult { mv, ponder, move_reason }));
        self.reconcile();
    }

    /// Answers the search request with a move that needs no search, if possible (a book move or the
    /// best move of an earlier search). Returns true if a move was found.
    pub(super) fn find_known(&mut self) -> bool {
        let all_moves =
            self.desired.ordered.as_ref().is_some_and(|limits| limits.root_moves.is_empty());
        if self.must_hold_result() || !all_moves {
            return false;
        }
        let Some((mv, move_reason)) = self.known_move(Purpose::Ordered) else { return false };
        self.desired.ordered = None;
        self.note_self_play(&move_reason);
        self.learn_given(mv);
        self.events.push(Event::OrderedResult(OrderedResult {
            mv: Some(mv),
            ponder: None,
            move_reason,
        }));
        true
    }
}
