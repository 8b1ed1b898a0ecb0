//! Damps a network's score in positions that are harder to win than the network assumes.
//!
//! Networks overrate endgames that are hard to win, and the halfmove clock is not among their
//! inputs. Without damping, the engine drew a quarter of the games in which it had been two pawns
//! up, compared with a seventh when it used the classical evaluation.

use super::classical::endgame::{FULL_SCALE, scale};
use super::classical::view::View;
use super::classical::{FULL_PHASE, phase};
use crate::chess::position::Position;
use crate::chess::score::Score;

/// Endgame scaling is applied if at most this many pieces, including kings and pawns, are on the
/// board. Chosen by hand.
const MAX_PIECES: u32 = 18;
/// Halfmove clock at which the damped score would reach zero. The clock is capped at 100, so at
/// least half of the score remains. Chosen by hand.
const CLOCK_SPAN: Score = 200;

/// Reduces a network's `score` for the side to move: linearly with the halfmove clock and, in
/// endgames, also by the scale factor of the classical evaluation.
#[inline]
pub(super) fn damped(position: &Position, score: Score) -> Score {
    let score = damped_by_clock(position, score);
    if position.occupied().popcnt() > MAX_PIECES { score } else { scaled(position, score) }
}

/// Reduces `score` linearly with the number of plies since the last capture or pawn move.
#[inline]
pub(super) fn damped_by_clock(position: &Position, score: Score) -> Score {
    let left = CLOCK_SPAN - Score::from(position.halfmove_clock()).min(CLOCK_SPAN / 2);
    score * left / CLOCK_SPAN
}

/// Applies the endgame scale factor to the endgame share of the score. The middlegame share is
/// unchanged.
fn scaled(position: &Position, score: Score) -> Score {
    let us = position.side_to_move();
    let view = View::new(position, if score > 0 { us } else { !us });
    let phase = phase(&view);
    let share = phase * FULL_SCALE + (FULL_PHASE - phase) * scale(&view);
    score * share / (FULL_PHASE * FULL_SCALE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::eval::{Evaluation, Evaluator};

    #[test]
    fn lone_king_win_is_damped_by_the_halfmove_clock() {
        for evaluation in [Evaluation::Classical, Evaluation::default()] {
            let mut evaluator = Evaluator::new(&evaluation);
            for pieces in ["8/8/8/3k4/8/8/8/KQ6", "8/8/8/3k4/8/8/8/KR6", "8/8/8/3k4/8/8/8/KBN5"] {
                for side in ["w", "b"] {
                    let mut at = |clock: u32| {
                        let fen = format!("{pieces} {side} - - {clock} 90");
                        evaluator.evaluate(&Position::from_fen(&fen).expect("a position"), 0).abs()
                    };
                    assert!(at(0) > at(40) && at(40) > at(80), "{evaluation} {pieces} {side}");
                    assert_eq!(at(80), at(0) * 120 / 200, "{evaluation} {pieces} {side}");
                }
            }
        }
    }

    #[test]
    fn drawish_positions_are_damped() {
        let damped = |fen: &str, score| damped(&Position::from_fen(fen).expect(fen), score);
        for (fen, score, left) in [
            // A rook pawn and a bishop that does not control the promotion square, with either side
            // to move.
            ("k7/8/8/P7/8/4BK2/8/8 w - - 0 1", 400, 0..=20),
            ("k7/8/8/P7/8/4BK2/8/8 b - - 0 1", -400, -20..=0),
            // Opposite-coloured bishops, then bishops of the same colour.
            ("8/5k2/3b4/3P4/8/3B1K2/8/8 w - - 0 1", 400, 100..=200),
            ("8/5k2/4b3/3P4/8/3B1K2/8/8 w - - 0 1", 400, 300..=400),
            ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", 400, 400..=400),
            ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 50 40", 400, 300..=300),
        ] {
            assert!(left.contains(&damped(fen, score)), "{fen}: {}", damped(fen, score));
        }
    }
}
