//! The engine's moves, draw offers and resignations.

use crate::chess::position::{Game, Move, Position};
use crate::chess::score::Score;
use crate::engine::search::SearchResult;
use crate::games::pgn::GameResult;

use super::super::desired_state::Purpose;
use super::super::event::{Event, MoveReason, Moved};
use super::Engine;

/// Number of consecutive losing scores of the engine after which it resigns.
const LOST_MOVES: usize = 3;
/// Number of consecutive scores near zero after which the engine offers or accepts a draw.
const DEAD_MOVES: usize = 8;
/// Maximum absolute value, in centipawns, of a score that counts as near zero.
const DEAD_SCORE: Score = 8;
/// The lowest move number at which the engine considers a game a dead draw.
const DEAD_FROM: u16 = 40;

#[derive(Default)]
pub(super) struct Scores(Vec<Score>);

impl Scores {
    fn push(&mut self, score: Score) {
        self.0.push(score);
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// Returns true if there are at least `number` scores and the last `number` of them satisfy a
    /// condition.
    fn last_are(&self, number: usize, is_met: impl Fn(Score) -> bool) -> bool {
        let last = &self.0[self.0.len().saturating_sub(number)..];
        last.len() == number && last.iter().all(|&score| is_met(score))
    }

    fn are_lost(&self, limit: i64) -> bool {
        limit > 0 && self.last_are(LOST_MOVES, |score| score <= -(limit as Score))
    }

    fn are_dead(&self, position: &Position) -> bool {
        position.fullmove_number() >= DEAD_FROM
            && self.last_are(DEAD_MOVES, |score| score.abs() <= DEAD_SCORE)
    }

    fn is_behind(&self, contempt: i64) -> bool {
        self.0.last().is_some_and(|&score| score <= -(contempt as Score))
    }
}

impl Engine {
    pub(super) fn play_found(&mut self, result: SearchResult) {
        let Some(mv) = self.legal_or_any(result.best) else { return self.reconcile() };
        if result.best.is_some() {
            self.scores.push(result.score);
        }
        if self.scores.are_lost(self.settings.resign) {
            let loser = self.desired.side.take();
            self.learn_game(GameResult::won_by(loser.map(|side| !side)));
            self.events.push(Event::Resigned);
            return self.reconcile();
        }
        if self.desired.draw_offered {
            self.answer_offer();
        } else if self.settings.offer_draws && self.scores.are_dead(self.position()) {
            self.scores.clear();
            self.events.push(Event::OfferDraw);
        }
        let ponder = result.ponder;
        self.make(mv, MoveReason::Search(result));
        self.desired.expected = ponder.filter(|&reply| self.position().is_legal(reply));
        self.reconcile();
    }

    /// Returns `best` if it is legal, and otherwise any legal move. `best` is illegal or missing
    /// only if the search crashed. Returns `None` if there are no legal moves.
    pub(super) fn legal_or_any(&self, best: Option<Move>) -> Option<Move> {
        best.filter(|&mv| self.position().is_legal(mv)).or_else(|| {
            let any = self.position().legal_moves().iter().next()?;
            log::error!("the search returned no legal move in {}; playing {any}", self.position());
            Some(any)
        })
    }

    /// Returns a move that needs no search: a book move chosen by its games or, if there is none,
    /// the best move of a book analysis or of a learned result.
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

    /// Returns the best move of a book analysis or of a learned result, if a new search would be
    /// unlikely to find a better one.
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

    pub(super) fn play_known(&mut self) -> bool {
        let Some((mv, move_reason)) = self.known_move(Purpose::Think) else { return false };
        if self.desired.draw_offered {
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
        let planned = Some(move_reason.planned());
        self.clocks.charge(position.side_to_move(), self.game.moves().len(), planned);
        self.changed();
        self.events.push(Event::Moved(Moved { position, mv, move_reason }));
        self.claim();
    }

    /// Answers a draw offer. Accepts if the engine's last score is below zero by at least the
    /// contempt setting, or if the game is a dead draw.
    pub(super) fn answer_offer(&mut self) {
        self.desired.draw_offered = false;
        let behind = self.scores.is_behind(self.settings.contempt);
        if behind || self.scores.are_dead(self.position()) {
            self.events.push(Event::OfferDraw);
        }
    }
}
