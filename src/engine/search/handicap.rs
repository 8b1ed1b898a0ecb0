//! Playing below full strength: the errors of a weaker player, drawn by position.
//!
//! A weaker player looks less far, judges positions less well, and overlooks moves, the more easily
//! the further ahead they lie. The first is a matter of [`Limits`](super::Limits); the other two are
//! here. Nothing is drawn twice: a position has one error of judgement, and a move in it is either
//! seen or not at each distance, so that the search is as deterministic as without. What was
//! overlooked four plies ahead may be seen when it is two plies ahead, as people do.
//!
//! Choosing at random among the moves of a strong search, which was the way of many engines, gives
//! games of flawless play with a piece thrown away in between. Noise in the evaluation by
//! key and seed instead: <https://github.com/official-stockfish/Stockfish/pull/7036> and
//! <https://github.com/cosmobobak/viridithas/issues/89>.

use crate::chess::position::{Move, Position, Square};
use crate::chess::score::{MAX_EVAL, Ply, Score};
use crate::support::random::Random;

/// What makes a search err. Books and endgame tables are not asked then, and one thread searches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Handicap {
    /// The standard deviation of the error in judging a position with all pieces on the board, in
    /// centipawns; fewer pieces are misjudged by proportionally less.
    pub eval_noise: Score,
    /// How many of a thousand quiet moves are overlooked one ply after the root; further ahead that
    /// chance comes anew with each ply. Captures have half the plies, and what takes the piece that has
    /// just moved, or answers a check, is always seen.
    pub move_blindness: u32,
    /// What the errors are drawn by: with another seed there are others.
    pub seed: u64,
}

/// The pieces of a full board.
const ALL_PIECES: i64 = 32;
/// What four numbers from 0 to 65535 sum up to, on the average.
const MEAN_OF_SUM: i64 = 2 * 0xffff;
/// The standard deviation of that sum: 65536 times the root of a third.
const DEVIATION_OF_SUM: i64 = 37_837;
/// How far ahead the moves at the root are, in plies, for the purpose of overlooking them. Hand-set.
const ROOT_DISTANCE: f64 = 0.5;
/// How much nearer captures look than they are. Hand-set.
const CAPTURE_DISTANCE: f64 = 0.5;
/// Parts what is drawn for moves from what is drawn for positions.
const MOVE_SALT: u64 = 0x0b5e_55ed_0b11_d0e5;

impl Handicap {
    /// What the entries of the transposition table are salted with, so that searches of other
    /// strength do not take them for their own.
    pub(super) fn salt(&self) -> u64 {
        let errors =
            u64::from(self.move_blindness) << 32 | u64::from(self.eval_noise.unsigned_abs());
        draw(self.seed ^ errors)
    }

    /// What `position` seems to be worth to a player to whom it should be worth `score`.
    pub(super) fn add_eval_noise(&self, position: &Position, score: Score) -> Score {
        let drawn = draw(self.seed ^ position.key());
        // The sum of four even distributions is nearly a normal one.
        let sum: i64 = (0..4).map(|lane| (drawn >> (16 * lane) & 0xffff) as i64).sum();
        let pieces = i64::from(position.board().combined().popcnt());
        let error = i64::from(self.eval_noise) * (sum - MEAN_OF_SUM) / DEVIATION_OF_SUM;
        (score + (error * pieces / ALL_PIECES) as Score).clamp(-MAX_EVAL, MAX_EVAL)
    }

    /// What is seen of the moves of `position`, `ply` plies from the root, after `last` was played.
    /// `None` if all are.
    pub(super) fn visibility(
        &self,
        position: &Position,
        ply: Ply,
        last: Option<Move>,
    ) -> Option<MoveVisibility> {
        if self.move_blindness == 0 || position.in_check() {
            return None;
        }
        let distance = if ply == 0 { ROOT_DISTANCE } else { ply as f64 };
        let chance =
            |distance: f64| 1.0 - (1.0 - f64::from(self.move_blindness) / 1000.0).powf(distance);
        let threshold = |chance: f64| (chance * u64::MAX as f64) as u64;
        Some(MoveVisibility {
            seed: draw(self.seed ^ MOVE_SALT ^ position.key()),
            quiets: threshold(chance(distance)),
            captures: threshold(chance(distance * CAPTURE_DISTANCE)),
            just_moved: last.map(Move::to),
        })
    }
}

/// What a player sees of the moves of one position.
#[derive(Debug, Clone, Copy)]
pub(super) struct MoveVisibility {
    seed: u64,
    /// What is drawn for a quiet move must be so large for it to be seen.
    quiets: u64,
    /// The same for captures and promotions.
    captures: u64,
    /// Where the opponent's last move went.
    just_moved: Option<Square>,
}

impl MoveVisibility {
    /// Whether the player sees this move.
    pub(super) fn is_visible(&self, position: &Position, mv: Move) -> bool {
        if self.just_moved == Some(mv.to()) {
            return true;
        }
        let threshold = if position.is_noisy(mv) { self.captures } else { self.quiets };
        draw(self.seed ^ u64::from(mv.to_polyglot())) >= threshold
    }
}

/// A number that looks random, the same for the same `seed`.
fn draw(seed: u64) -> u64 {
    Random::new(seed).next_u64()
}

#[cfg(test)]
mod tests {
    use super::*;

    const HANDICAP: Handicap = Handicap { eval_noise: 100, move_blindness: 100, seed: 0 };

    #[test]
    fn errors_have_the_deviation_that_is_said() {
        let (full, few) =
            (Position::start(), Position::from_fen("4k3/4p3/8/8/8/8/3PP3/4K3 w - - 0 1"));
        for (position, wanted) in [(full, 100.0), (few.expect("legal"), 100.0 * 5.0 / 32.0)] {
            let errors: Vec<f64> = (0..20_000)
                .map(|seed| f64::from(Handicap { seed, ..HANDICAP }.add_eval_noise(&position, 0)))
                .collect();
            let number = errors.len() as f64;
            let mean = errors.iter().sum::<f64>() / number;
            let deviation = (errors.iter().map(|error| error * error).sum::<f64>() / number).sqrt();
            assert!(mean.abs() < 0.05 * wanted, "{mean}");
            assert!((deviation / wanted - 1.0).abs() < 0.05, "{deviation}");
        }
    }

    #[test]
    fn no_error_makes_a_score_that_is_proven() {
        let wild = Handicap { eval_noise: 1_000_000, ..HANDICAP };
        for seed in 0..100 {
            let score = Handicap { seed, ..wild }.add_eval_noise(&Position::start(), 0);
            assert!(score.abs() <= MAX_EVAL);
        }
    }

    /// Which of the moves of the start position are seen so many plies ahead, by many players.
    fn seen(ply: Ply) -> usize {
        let position = Position::start();
        let moves = position.legal_moves();
        let is_visible = |seed| {
            let visibility = Handicap { seed, ..HANDICAP }.visibility(&position, ply, None);
            moves
                .iter()
                .filter(|&mv| {
                    visibility.is_none_or(|visibility| visibility.is_visible(&position, mv))
                })
                .count()
        };
        (0..1_000).map(is_visible).sum()
    }

    #[test]
    fn more_is_overlooked_further_ahead() {
        let all = 20_000.0;
        for (ply, chance) in [(0, 0.051), (1, 0.1), (2, 0.19), (4, 0.344)] {
            let overlooked = 1.0 - seen(ply) as f64 / all;
            assert!((overlooked - chance).abs() < 0.015, "{ply}: {overlooked}");
        }
    }

    #[test]
    fn what_is_seen_far_ahead_is_seen_near() {
        let position = Position::start();
        for seed in 0..100 {
            let far = Handicap { seed, ..HANDICAP }.visibility(&position, 4, None).expect("some");
            let near = Handicap { seed, ..HANDICAP }.visibility(&position, 2, None).expect("some");
            for mv in position.legal_moves().iter().filter(|&mv| far.is_visible(&position, mv)) {
                assert!(near.is_visible(&position, mv), "{mv}");
            }
        }
    }

    #[test]
    fn replies_to_checks_and_to_the_last_move_are_always_seen() {
        let blind = Handicap { move_blindness: 1_000, ..HANDICAP };
        let checked = Position::from_fen("4k3/8/8/8/8/8/4q3/4K3 w - - 0 1").expect("legal");
        assert!(blind.visibility(&checked, 1, None).is_none());
        let position = Position::from_fen("4k3/8/8/3p4/4P3/8/8/4K3 w - - 0 1").expect("legal");
        let [capture, last] = ["e4d5", "d7d5"].map(|mv| mv.parse().expect("a move"));
        assert!(
            blind
                .visibility(&position, 3, Some(last))
                .expect("some")
                .is_visible(&position, capture)
        );
        assert!(
            !blind.visibility(&position, 3, None).expect("some").is_visible(&position, capture)
        );
    }
}
