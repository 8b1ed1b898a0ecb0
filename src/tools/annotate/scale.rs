//! Converts Tabia's scores to Stockfish's scale.
//!
//! The conversion is necessary because verdicts use a curve that was fitted to Stockfish's
//! centipawns. The scores of the two engines are similar up to one pawn. Between 1.5 and four
//! pawns, Stockfish's scores are higher. Beyond five pawns, Tabia's scores grow faster, so without
//! the conversion, a move in a game that is already lost could be called a blunder.

use crate::chess::score::{Score, is_decided};

/// Pairs of a Tabia score and the corresponding Stockfish 15.1 score, in centipawns. Scores between
/// two pairs are interpolated linearly; scores above the last pair are extrapolated.
///
/// The curve was drawn by hand through the medians in `docs/measurements/annotate.md`, which come
/// from searches with 200,000 nodes. Up to 700 centipawns, it is based on 114 positions after the
/// eighth move, at most two per game, from `Stefanova.pgn` and from game 21 onwards in
/// `wrap23.pgn`. For higher scores, the positions come from the first twenty games of `wrap23.pgn`.
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

/// Converts a Tabia score to Stockfish's centipawns. Mate and tablebase scores are not changed.
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
