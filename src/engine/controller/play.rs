//! The engine's moves, draw offers and resignations.

use crate::chess::position::{Game, Move};
use crate::chess::score::Score;
use crate::engine::search::SearchResult;
use crate::games::pgn::GameResult;

use super::desired_state::Purpose;
use super::engine::Engine;
use super::event::{Event, MoveReason, Moved};

/// Number of consecutive moves with a lost score after which the engine resigns.
const LOST_MOVES: usize = 3;
/// Number of consecutive moves with a level score after which the engine offers or accepts a draw.
const DEAD_MOVES: usize = 8;
/// Maximum absolute value of a score that counts as level, in centipawns.
const DEAD_SCORE: Score = 8;
/// The first move number at which a game can count as a dead draw.
const DEAD_FROM: u16 = 40;

impl Engine {
    /// Plays the move found by a search, or resigns.
    pub(super) fn play_found(&mut self, result: SearchResult) {
        let Some(mv) = self.legal_or_any(result.best) else { return self.reconcile() };
        if result.best.is_some() {
            self.scores.push(result.score);
        }
        if self.is_lost() {
            let loser = self.desired.side.take();
            self.learn_game(GameResult::won_by(loser.map(|side| !side)));
            self.events.push(Event::Resigned);
            return self.reconcile();
        }
        if self.draw_offered {
            self.answer_offer();
        } else if self.settings.offer_draws && self.is_dead() {
            self.scores.clear();
            self.events.push(Event::OfferDraw);
        }
        let ponder = result.ponder;
        self.make(mv, MoveReason::Search(result));
        self.desired.expected = ponder.filter(|&reply| self.position().is_legal(reply));
        self.reconcile();
    }

    /// Returns `best` if it is legal, otherwise any legal move. Returns `None` if there are no legal
    /// moves. `best` is always legal unless the search crashed.
    pub(super) fn legal_or_any(&self, best: Option<Move>) -> Option<Move> {
        best.filter(|&mv| self.position().is_legal(mv)).or_else(|| {
            let any = self.position().legal_moves().iter().next()?;
            log::error!("the search returned no legal move in {}; playing {any}", self.position());
            Some(any)
        })
    }

    /// Returns a move that needs no search: from the book's games, or else from an earlier search.
    pub(super) fn known_move(&mut self, purpose: Purpose) -> Option<(Move, MoveReason)> {
        let learned = self.learning.book();
        let choice = self.book_loader.choose(&self.game, &self.settings, learned);
        let vetoed = self.book_loader.vetoed(&self.game, &self.settings);
        self.events.extend(vetoed.map(Event::Vetoed));
        if let Some(choice) = choice {
            return Some((choice.mv, MoveReason::Book(choice)));
        }
        self.found_before(purpose, &self.game)
    }

    /// Returns the move of an earlier search (a book analysis or a learned result) if a new search
    /// would hardly improve on it.
    pub(super) fn found_before(&self, purpose: Purpose, game: &Game) -> Option<(Move, MoveReason)> {
        if self.rating().is_some() {
            return None;
        }
        let limits = self.limits(purpose, game);
        let analysed = {
            let learned = self.learning.book();
            self.book_loader.analysed(game, &self.settings, &limits, learned)
        };
        let analysed = analysed.and_then(|value| Some((value.best?, MoveReason::Analysed(value))));
        let learnt = || self.learning.answer(game, &limits);
        analysed
            .or_else(|| learnt().map(|unrefuted| (unrefuted.mv, MoveReason::Learned(unrefuted))))
    }

    /// Plays a move that needs no search; returns `false` if there is none.
    pub(super) fn play_known(&mut self) -> bool {
        let Some((mv, move_reason)) = self.known_move(Purpose::Think) else { return false };
        if self.draw_offered {
            self.answer_offer();
        }
        self.make(mv, move_reason);
        self.reconcile();
        true
    }

    fn make(&mut self, mv: Move, move_reason: MoveReason) {
        let position = *self.position();
        self.note_self_play(&move_reason);
        if let Err(error) = self.game.play(mv) {
            return log::error!("{error}");
        }
        self.learning.moved();
        self.charge(position.side_to_move());
        self.changed();
        self.events.push(Event::Moved(Moved { position, mv, move_reason }));
        self.claim();
    }

    fn last_scores(&self, number: usize) -> &[Score] {
        &self.scores[self.scores.len().saturating_sub(number)..]
    }

    fn is_lost(&self) -> bool {
        let last = self.last_scores(LOST_MOVES);
        let limit = self.settings.resign as Score;
        limit > 0 && last.len() == LOST_MOVES && last.iter().all(|&score| score <= -limit)
    }

    fn is_dead(&self) -> bool {
        let last = self.last_scores(DEAD_MOVES);
        self.position().fullmove_number() >= DEAD_FROM
            && last.len() == DEAD_MOVES
            && last.iter().all(|score| score.abs() <= DEAD_SCORE)
    }

    /// Answers a draw offer. Accepts it if the engine is behind by at least its contempt or if the
    /// game is a dead draw.
    pub(super) fn answer_offer(&mut self) {
        self.draw_offered = false;
        let contempt = self.settings.contempt as Score;
        let behind = self.scores.last().is_some_and(|&score| score <= -contempt);
        if behind || self.is_dead() {
            self.events.push(Event::OfferDraw);
        }
    }
}
