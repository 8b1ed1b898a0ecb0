//! A node that is in the book.

use super::book_probe::BookProbe;
use super::config::BookSearch;
use super::report::Transposition;
use super::worker::Worker;
use crate::book::Counts;
use crate::position::{Move, Position};
use crate::score::{Ply, Score};

/// Games at the static evaluation's score that a position's results are mixed with.
const SCORE_PRIOR_GAMES: f64 = 40.0;
/// Centipawns for a factor of e in the odds: the usual logistic scale.
const LOGISTIC_SCALE: f64 = 400.0 / std::f64::consts::LN_10;
/// No book score is worth more: it is no proof.
const BOOK_SCORE_MAX: f64 = 600.0;
impl Worker<'_> {
    /// Compares an inner node with the book. A score comes back where the node needs no search.
    #[inline]
    pub(super) fn probe_book(&mut self, position: &Position, ply: Ply) -> Option<Score> {
        let probe = self.job.book.as_ref()?;
        let counts = probe.reached(position)?;
        self.book_match(probe, position, ply, counts)
    }

    #[cold]
    fn book_match(
        &mut self,
        probe: &BookProbe,
        position: &Position,
        ply: Ply,
        counts: Counts,
    ) -> Option<Score> {
        let line = self.line_to(ply);
        if let Some(line) = &line {
            probe.remember(position.key(), line, counts);
        }
        match self.job.config.book_search {
            BookSearch::Off | BookSearch::Stop => None,
            BookSearch::First => {
                let line = line.filter(|_| self.book_may_end() && !self.is_interrupted())?;
                probe.decide(Transposition { line, counts });
                self.job.control.stop();
                Some(0)
            }
            BookSearch::Score => Some(self.book_score(position, ply, counts)),
        }
    }

    /// The moves from the root to `ply`; `None` if there is a null move among them.
    fn line_to(&self, ply: Ply) -> Option<Vec<Move>> {
        self.stack[..ply].iter().map(|entry| entry.mv).collect()
    }

    /// What the games say of a position, in centipawns for the side to move: the posterior mean
    /// of their results, the static evaluation's expectation being worth some games.
    fn book_score(&mut self, position: &Position, ply: Ply, counts: Counts) -> Score {
        let prior = expectation(f64::from(self.evaluate(position, ply)));
        let games = counts.games() as f64;
        let points = counts.score(position.side_to_move()) * games;
        let mean = (points + SCORE_PRIOR_GAMES * prior) / (games + SCORE_PRIOR_GAMES);
        let odds = mean / (1.0 - mean);
        (LOGISTIC_SCALE * odds.ln()).clamp(-BOOK_SCORE_MAX, BOOK_SCORE_MAX).round() as Score
    }
}

/// Expected points of an evaluation in centipawns.
fn expectation(centipawns: f64) -> f64 {
    1.0 / (1.0 + (-centipawns / LOGISTIC_SCALE).exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expectations_are_logistic() {
        assert!((expectation(0.0) - 0.5).abs() < 1e-9);
        assert!((expectation(400.0) - 10.0 / 11.0).abs() < 1e-9);
    }
}
