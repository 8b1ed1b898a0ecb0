//! Scores in centipawns, and mate scores that encode the distance to mate.
//!
//! A [`Score`] is from the point of view of the side to move. Mate scores count plies from the root
//! (see [`mate_in`]).
//!
//! ```
//! use tabia::score::{mate_distance, mate_in, mated_in};
//!
//! assert_eq!(mate_distance(mate_in(3)), Some(2));
//! assert_eq!(mate_distance(mated_in(2)), Some(-1));
//! assert_eq!(mate_distance(35), None);
//! ```

/// A score in centipawns, or a score for mate or a tablebase result. All scores fit in sixteen
/// bits.
pub type Score = i32;

/// The remaining search depth in plies.
pub type Depth = i32;

/// The distance from the root, in plies.
pub type Ply = usize;

/// The maximum length of a search line, in plies.
pub const MAX_PLY: Ply = 128;

/// A bound of the search window that is larger than every score.
pub const INFINITY: Score = 32_001;

/// The score for giving checkmate at distance 0 from the root.
pub const MATE: Score = 32_000;

/// The smallest score for giving mate. Any score strictly between `-MATE_BOUND` and `MATE_BOUND` is
/// an evaluation or a tablebase result.
pub const MATE_BOUND: Score = MATE - MAX_PLY as Score;

/// The score of a tablebase win at distance 0 from the root. Tablebase scores lie directly below
/// the mate scores.
pub const TABLEBASE_WIN: Score = MATE_BOUND - 1;

/// The smallest score of a tablebase win.
pub const TABLEBASE_BOUND: Score = TABLEBASE_WIN - MAX_PLY as Score;

/// The largest static evaluation. Wins proven by mate or a tablebase have higher scores.
pub const MAX_EVAL: Score = TABLEBASE_BOUND - 1;

/// The score of a draw.
pub const DRAW: Score = 0;

/// Returns the score for giving mate `ply` plies from the root.
#[inline]
pub const fn mate_in(ply: Ply) -> Score {
    MATE - ply as Score
}

/// Returns the score for being mated `ply` plies from the root.
#[inline]
pub const fn mated_in(ply: Ply) -> Score {
    ply as Score - MATE
}

/// Returns true if the score is a mate score for either side.
#[inline]
pub const fn is_mate(score: Score) -> bool {
    score.abs() >= MATE_BOUND
}

/// Returns true if the score is proven by a mate or a tablebase result.
#[inline]
pub const fn is_decided(score: Score) -> bool {
    score.abs() >= TABLEBASE_BOUND
}

/// Returns the distance to mate in full moves, negative if the side to move is mated. Returns
/// `None` if the score is not a mate score.
pub const fn mate_distance(score: Score) -> Option<i32> {
    if !is_mate(score) {
        return None;
    }
    let plies = MATE - score.abs();
    let moves = (plies + 1) / 2;
    Some(if score > 0 { moves } else { -moves })
}

/// Converts a score for storage in the transposition table. In the table, mate and tablebase scores
/// count plies from the node at `ply` rather than from the root, so that they are valid wherever
/// the position occurs in the tree.
#[inline]
pub const fn to_table(score: Score, ply: Ply) -> Score {
    if score >= TABLEBASE_BOUND {
        score + ply as Score
    } else if score <= -TABLEBASE_BOUND {
        score - ply as Score
    } else {
        score
    }
}

/// Converts a score from the transposition table. This is the inverse of [`to_table`].
#[inline]
pub const fn from_table(score: Score, ply: Ply) -> Score {
    if score >= TABLEBASE_BOUND {
        score - ply as Score
    } else if score <= -TABLEBASE_BOUND {
        score + ply as Score
    } else {
        score
    }
}

/// The score difference, in centipawns, that multiplies the odds of winning by e. It corresponds to
/// the usual logistic scale, on which 400 centipawns multiply the odds by ten.
const LOGISTIC_SCALE: f64 = 400.0 / std::f64::consts::LN_10;

/// Converts a score in centipawns to expected points per game, from 0 to 1.
pub(crate) fn expectation(score: Score) -> f64 {
    1.0 / (1.0 + (-f64::from(score) / LOGISTIC_SCALE).exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expectation_is_logistic() {
        assert!((expectation(0) - 0.5).abs() < 1e-9);
        assert!((expectation(400) - 10.0 / 11.0).abs() < 1e-9);
        assert!((expectation(-70) + expectation(70) - 1.0).abs() < 1e-9);
    }

    #[test]
    fn mates_are_counted_in_moves() {
        assert_eq!(mate_distance(mate_in(1)), Some(1));
        assert_eq!(mate_distance(mate_in(3)), Some(2));
        assert_eq!(mate_distance(mated_in(2)), Some(-1));
        assert_eq!(mate_distance(mated_in(0)), Some(0));
        assert_eq!(mate_distance(TABLEBASE_WIN), None);
    }

    #[test]
    fn table_scores_store_mates_relative_to_the_node() {
        let found = mate_in(7);
        let kept = to_table(found, 4);
        assert_eq!(kept, mate_in(3));
        assert_eq!(from_table(kept, 2), mate_in(5));
        assert_eq!(from_table(to_table(-found, 4), 4), -found);
        assert_eq!(to_table(35, 60), 35);
    }
}
