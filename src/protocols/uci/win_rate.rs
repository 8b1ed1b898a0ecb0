//! Converts scores to win, draw and loss probabilities, for `UCI_ShowWDL`.
//!
//! The probability of winning is a logistic function of the score. The probability of losing is the
//! same function of the negated score, and the rest is the probability of a draw. The midpoint and
//! slope of the function depend on the material on the board. With less material, winning requires
//! a higher score, but the score is more reliable. Other engines use the ply number, which is
//! meaningless for a position that was set up.
//!
//! The curves are maximum-likelihood fits to 12,000 self-play games of network 6 at 400 nodes per
//! move (`tabia train games`; 1,288,820 positions with their search scores). The mean
//! log-likelihood of the game results is -0.647, compared with -0.719 for a single curve. With
//! longer thinking times, more games are drawn.

use std::fmt;

use crate::chess::position::{Color, Piece, Position};
use crate::chess::score::{self, Score};

/// The probabilities of a win, a draw and a loss for the side to move, in permille. They add up to
/// 1000.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WinRate {
    /// Probability of a win, in permille.
    pub win: u32,
    /// Probability of a draw, in permille.
    pub draw: u32,
    /// Probability of a loss, in permille.
    pub loss: u32,
}

impl fmt::Display for WinRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.win, self.draw, self.loss)
    }
}

/// The win probability curves for increasing amounts of material, [`STEP`] points apart. Each
/// consists of two numbers in centipawns: the score at which half of the games are won, and the
/// increase in score that multiplies the odds of winning by e.
const CURVES: [(f64, f64); 8] = [
    (179.0, 66.0),
    (142.0, 65.0),
    (107.0, 85.0),
    (97.0, 109.0),
    (87.0, 131.0),
    (75.0, 149.0),
    (65.0, 155.0),
    (56.0, 153.0),
];
/// The difference in material between neighbouring curves, in points. The first curve is for half
/// this much material.
const STEP: f64 = 10.0;

/// The value of each kind of piece in points of material. The pieces of both sides are counted,
/// except the kings.
const POINTS: [(Piece, u32); 5] =
    [(Piece::Pawn, 1), (Piece::Knight, 3), (Piece::Bishop, 3), (Piece::Rook, 5), (Piece::Queen, 9)];

/// Returns the win, draw and loss probabilities for the side to move in `position`, given the
/// search score.
pub(crate) fn win_rate(score: Score, position: &Position) -> WinRate {
    let certain = score::mate_distance(score).is_some() || score.abs() >= score::TABLEBASE_BOUND;
    let (win, loss) = match certain {
        true => (f64::from(score > 0), f64::from(score < 0)),
        false => chances(f64::from(score), f64::from(points(position))),
    };
    let permille = |chance: f64| (chance * 1000.0).round() as u32;
    let (win, loss) = (permille(win), permille(loss));
    WinRate { win, draw: 1000_u32.saturating_sub(win + loss), loss }
}

fn chances(score: f64, points: f64) -> (f64, f64) {
    let place = (points / STEP - 0.5).clamp(0.0, (CURVES.len() - 1) as f64);
    let (below, above) = (CURVES[place.floor() as usize], CURVES[place.ceil() as usize]);
    let between = |below: f64, above: f64| below + (above - below) * place.fract();
    let (middle, width) = (between(below.0, above.0), between(below.1, above.1));
    let logistic = |score: f64| 1.0 / (1.0 + ((middle - score) / width).exp());
    (logistic(score), logistic(-score))
}

fn points(position: &Position) -> u32 {
    let points_of = |(piece, points)| {
        let count = |color| position.pieces(color, piece).popcnt();
        points * (count(Color::White) + count(Color::Black))
    };
    POINTS.into_iter().map(points_of).sum()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::chess::score::{MATE, mate_in, mated_in};

    #[test]
    fn mate_scores_give_certain_results() {
        let start = Position::start();
        assert_eq!(win_rate(mate_in(5), &start).to_string(), "1000 0 0");
        assert_eq!(win_rate(mated_in(4), &start).to_string(), "0 0 1000");
    }

    #[test]
    fn draws_are_likelier_with_few_pieces() {
        let endgame = Position::from_fen("4k3/4p3/8/8/8/8/3PP3/4K3 w - - 0 1").expect("legal");
        let (full, few) = (win_rate(0, &Position::start()), win_rate(0, &endgame));
        assert_eq!((full.win, few.win), (full.loss, few.loss));
        assert!(few.draw > full.draw, "{full} {few}");
    }

    proptest! {
        #[test]
        fn chances_sum_to_1000_and_are_monotonic_in_the_score(score in -MATE..MATE, more in 1..500) {
            let start = Position::start();
            let (one, other) = (win_rate(score, &start), win_rate(score + more, &start));
            prop_assert_eq!(one.win + one.draw + one.loss, 1000);
            prop_assert!(score + more >= MATE || other.win >= one.win && other.loss <= one.loss);
        }
    }
}
