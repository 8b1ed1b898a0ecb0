//! What a score means for the outcome of the game, as `UCI_ShowWDL` tells it.
//!
//! The chance to win is a logistic of the score, that to lose the same of the score seen from the
//! other side, and a draw is the rest. Where the middle of the curve lies and how steep it is goes by
//! the material on the board: the less there is, the more it takes to win, and the surer is what a
//! score says. The ply, by which other engines go, tells a little less than the material does, and
//! nothing of a position that was set up.
//!
//! The curves are fitted, by greatest likelihood, to 12,000 games of network 6 against itself at 400
//! nodes a move (`tabia train games`; 1,288,820 positions with the score of their search). The mean
//! logarithm of the chance that they gave to the result is -0.647 there, and -0.719 if one curve is to
//! do for all positions. Games of longer thinking are drawn more often.

use std::fmt;

use crate::chess::position::{Color, Piece, Position};
use crate::chess::score::{self, Score};

/// The chances of the side to move in permille; they add up to 1000.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WinRate {
    /// To win.
    pub win: u32,
    /// To draw.
    pub draw: u32,
    /// To lose.
    pub loss: u32,
}

/// `WIN DRAW LOSS`
impl fmt::Display for WinRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.win, self.draw, self.loss)
    }
}

/// For each ten points of material on the board, the fewest first, in centipawns: the score at which
/// half of the games are won, and the score by which the odds grow e-fold.
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
/// How far apart the curves are, in points; the first is that of half as many.
const STEP: f64 = 10.0;

/// Points of the pieces but the kings, all of both sides.
const POINTS: [(Piece, u32); 5] =
    [(Piece::Pawn, 1), (Piece::Knight, 3), (Piece::Bishop, 3), (Piece::Rook, 5), (Piece::Queen, 9)];

/// The chances of the side to move with a score of the search at `position`.
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

/// The chances to win and to lose.
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
    fn what_is_certain_is_reported_as_certain() {
        let start = Position::start();
        assert_eq!(win_rate(mate_in(5), &start).to_string(), "1000 0 0");
        assert_eq!(win_rate(mated_in(4), &start).to_string(), "0 0 1000");
    }

    #[test]
    fn a_level_game_is_drawn_more_often_with_few_pieces() {
        let endgame = Position::from_fen("4k3/4p3/8/8/8/8/3PP3/4K3 w - - 0 1").expect("legal");
        let (full, few) = (win_rate(0, &Position::start()), win_rate(0, &endgame));
        assert_eq!((full.win, few.win), (full.loss, few.loss));
        assert!(few.draw > full.draw, "{full} {few}");
    }

    proptest! {
        #[test]
        fn the_chances_add_up_and_grow_with_the_score(score in -MATE..MATE, more in 1..500) {
            let start = Position::start();
            let (one, other) = (win_rate(score, &start), win_rate(score + more, &start));
            prop_assert_eq!(one.win + one.draw + one.loss, 1000);
            prop_assert!(score + more >= MATE || other.win >= one.win && other.loss <= one.loss);
        }
    }
}
