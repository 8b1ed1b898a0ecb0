//! Play at reduced strength, imitating the mistakes of weaker players.
//!
//! A weaker player searches less deeply, evaluates positions less accurately, and overlooks moves,
//! especially those further ahead in a line. [`Limits`](super::Limits) restricts the search, and
//! this module implements the other two effects. The mistakes are deterministic: each position has
//! one evaluation error, and at a given distance from the root, a move is either always seen or
//! always overlooked.
//!
//! Many engines choose randomly among the moves found by a strong search. Their games consist of
//! flawless play, interrupted by moves that give away a piece. In contrast, Tabia adds noise to the
//! evaluation. The noise is derived from the position's key and a seed. Sources for this method:
//! <https://github.com/official-stockfish/Stockfish/pull/7036> and
//! <https://github.com/cosmobobak/viridithas/issues/89>.
//!
//! The transposition table contains the evaluation errors, so a salt separates its entries from
//! those of other searches. Overlooked moves are dropped during move generation
//! (`ordering::MovePicker`). At full strength, the evaluation and the move generation each make
//! only one additional comparison.

use crate::chess::position::{Move, Position, Square};
use crate::chess::score::{MAX_EVAL, Ply, Score};
use crate::support::random::Random;

/// The deliberate mistakes of a search at limited strength. Such a search uses a single thread, and
/// no book or endgame tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Handicap {
    /// Standard deviation, in centipawns, of the random error added to the evaluation when all
    /// pieces are on the board. The error is proportional to the number of pieces.
    pub eval_noise: Score,
    /// Probability of overlooking a quiet move one ply from the root, in permille. The probability
    /// grows with the distance from the root, as if the move could be overlooked again at each ply.
    ///
    /// For captures and promotions, the distance is halved. Recaptures of the piece that has just
    /// moved are never overlooked, and neither are replies to a check.
    pub move_blindness: u32,
    /// Random seed. The same seed always produces the same mistakes.
    pub seed: u64,
}

const ALL_PIECES: i64 = 32;
/// Mean of the sum of four random integers from 0 to 65535.
const MEAN_OF_SUM: i64 = 2 * 0xffff;
/// Standard deviation of the sum of four random integers from 0 to 65535: 65536 times the square
/// root of 1/3.
const DEVIATION_OF_SUM: i64 = 37_837;
/// Distance from the root, in plies, that is assumed for root moves. With a distance of 0, they
/// would never be overlooked. Chosen by hand.
const ROOT_DISTANCE: f64 = 0.5;
/// Factor by which the distance from the root is multiplied for captures and promotions, so that
/// they are overlooked less often. Chosen by hand.
const CAPTURE_DISTANCE: f64 = 0.5;
/// Salt that makes the random numbers for moves differ from those for positions.
const MOVE_SALT: u64 = 0x0b5e_55ed_0b11_d0e5;

impl Handicap {
    /// Returns a salt for table keys, so that searches with different handicaps do not share table
    /// entries.
    pub(super) fn salt(&self) -> u64 {
        let errors =
            u64::from(self.move_blindness) << 32 | u64::from(self.eval_noise.unsigned_abs());
        draw(self.seed ^ errors)
    }

    pub(super) fn add_eval_noise(&self, position: &Position, score: Score) -> Score {
        let drawn = draw(self.seed ^ position.key());
        // The sum of four uniformly distributed numbers is approximately normally distributed.
        let sum: i64 = (0..4).map(|lane| (drawn >> (16 * lane) & 0xffff) as i64).sum();
        let pieces = i64::from(position.board().combined().popcnt());
        let error = i64::from(self.eval_noise) * (sum - MEAN_OF_SUM) / DEVIATION_OF_SUM;
        (score + (error * pieces / ALL_PIECES) as Score).clamp(-MAX_EVAL, MAX_EVAL)
    }

    /// Determines which moves the weakened player sees in `position`, which is `ply` plies from the
    /// root. `last` is the move that led to the position. Returns `None` if the player sees all
    /// moves.
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

#[derive(Debug, Clone, Copy)]
pub(super) struct MoveVisibility {
    seed: u64,
    /// Threshold for quiet moves: a move is seen if its random number is not below the threshold.
    quiets: u64,
    /// Threshold for captures and promotions, used like `quiets`.
    captures: u64,
    /// Target square of the opponent's last move. Recaptures on this square are always seen.
    just_moved: Option<Square>,
}

impl MoveVisibility {
    pub(super) fn is_visible(&self, position: &Position, mv: Move) -> bool {
        if self.just_moved == Some(mv.to()) {
            return true;
        }
        let threshold = if position.is_noisy(mv) { self.captures } else { self.quiets };
        draw(self.seed ^ u64::from(mv.to_polyglot())) >= threshold
    }
}

/// Returns a pseudo-random number that is always the same for the same `seed`.
fn draw(seed: u64) -> u64 {
    Random::new(seed).next_u64()
}

#[cfg(test)]
mod tests {
    use super::*;

    const HANDICAP: Handicap = Handicap { eval_noise: 100, move_blindness: 100, seed: 0 };

    #[test]
    fn eval_noise_has_the_stated_standard_deviation() {
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
    fn eval_noise_never_gives_a_proven_score() {
        let noisy = Handicap { eval_noise: 1_000_000, ..HANDICAP };
        for seed in 0..100 {
            let score = Handicap { seed, ..noisy }.add_eval_noise(&Position::start(), 0);
            assert!(score.abs() <= MAX_EVAL);
        }
    }

    fn count_visible(ply: Ply) -> usize {
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
    fn more_moves_are_overlooked_at_higher_plies() {
        let all = 20_000.0;
        for (ply, chance) in [(0, 0.051), (1, 0.1), (2, 0.19), (4, 0.344)] {
            let overlooked = 1.0 - count_visible(ply) as f64 / all;
            assert!((overlooked - chance).abs() < 0.015, "{ply}: {overlooked}");
        }
    }

    #[test]
    fn move_visible_at_a_high_ply_is_visible_at_a_lower_one() {
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
    fn check_evasions_and_recaptures_are_always_visible() {
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
