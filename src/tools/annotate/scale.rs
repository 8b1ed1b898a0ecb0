//! Converts scores to the scale of other programs.
//!
//! Verdicts on moves use a curve of expected points made for Stockfish's centipawns. Tabia's scores
//! are about the same up to one pawn. Between one and a half and four pawns, Stockfish's are
//! larger; beyond five, Tabia's grow faster for won positions, so a move in a lost game would be
//! called a blunder.

use crate::chess::score::{Score, is_decided};

/// Scores of Tabia with the corresponding ones of Stockfish 15.1, with linear interpolation.
///
/// The points were drawn by hand through the medians of classes of positions, with 200,000 nodes
/// each for both engines. Up to 700 centipawns these are 114 positions after the eighth move, at
/// most two per game, of `wrap23.pgn` from game 21 on and of `Stefanova.pgn`; above, positions of
/// the first twenty games of `wrap23.pgn`. `docs/measurements/annotate.md` has the medians. Beyond
/// the last point the last line is extended.
const POINTS: [(Score, Score); 10] = [
    (0, 0),
    (110, 110),
    (160, 200),
    (220, 300),
    (330, 420),
    (470, 505),
    (620, 560),
    (800, 605),
    (1000, 625),
    (1200, 660),
];

/// Converts Tabia's score to Stockfish's centipawns; mates are unchanged.
pub(super) fn to_stockfish_scale(score: Score) -> Score {
    if is_decided(score) {
        return score;
    }
    let size = score.abs();
    let above = POINTS.iter().position(|&(own, _)| size < own).unwrap_or(POINTS.len() - 1);
    let ((own, to_stockfish_scale), (next_own, next_usual)) = (POINTS[above - 1], POINTS[above]);
    let value =
        to_stockfish_scale + (size - own) * (next_usual - to_stockfish_scale) / (next_own - own);
    value * score.signum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::score::mate_in;

    #[test]
    fn scale_is_monotonic_and_odd() {
        for (own, wanted) in [(0, 0), (75, 75), (-140, -164), (1000, 625), (1400, 695)] {
            assert_eq!(to_stockfish_scale(own), wanted, "{own}");
        }
        let all: Vec<Score> = (-3000..=3000).map(to_stockfish_scale).collect();
        assert!(all.is_sorted() && all.iter().zip(all.iter().rev()).all(|(a, b)| *a == -b));
        assert_eq!(to_stockfish_scale(-mate_in(3)), -mate_in(3));
    }
}
