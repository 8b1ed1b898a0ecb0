//! Scores in centipawns, and mates by their distance.
//!
//! A [`Score`] is for the side to move. Mate scores count plies from the root: [`mate_in`]`(n)` is
//! a mate given on the n-th ply, [`mated_in`]`(n)` one suffered there.
//!
//! ```
//! use tabia::score::{mate_distance, mate_in, mated_in};
//!
//! assert_eq!(mate_distance(mate_in(3)), Some(2));
//! assert_eq!(mate_distance(mated_in(2)), Some(-1));
//! assert_eq!(mate_distance(35), None);
//! ```

/// Centipawns, or a mate; fits sixteen bits.
pub type Score = i32;

/// Remaining depth in plies.
pub type Depth = i32;

/// The distance from the root, in plies.
pub type Ply = usize;

/// The longest line the search follows, in plies.
pub const MAX_PLY: Ply = 128;

/// Larger than every score.
pub const INFINITY: Score = 32_001;

/// A mate at distance 0.
pub const MATE: Score = 32_000;

/// The smallest mate score. Scores between `-MATE_BOUND` and `MATE_BOUND` are evaluations or
/// tablebase results.
pub const MATE_BOUND: Score = MATE - MAX_PLY as Score;

/// A tablebase win at distance 0; tablebase results are adjacent to the mates.
pub const TABLEBASE_WIN: Score = MATE_BOUND - 1;

/// The smallest score of a tablebase win.
pub const TABLEBASE_BOUND: Score = TABLEBASE_WIN - MAX_PLY as Score;

/// The largest static evaluation, below all proven scores.
pub const MAX_EVAL: Score = TABLEBASE_BOUND - 1;

/// A draw.
pub const DRAW: Score = 0;

/// Returns the score of a mate given at `ply` plies from the root.
#[inline]
pub const fn mate_in(ply: Ply) -> Score {
    MATE - ply as Score
}

/// Returns the score of a mate suffered at `ply` plies from the root.
#[inline]
pub const fn mated_in(ply: Ply) -> Score {
    ply as Score - MATE
}

/// Whether the score is a mate for either side.
#[inline]
pub const fn is_mate(score: Score) -> bool {
    score.abs() >= MATE_BOUND
}

/// Whether the score is proven by mate or tablebase, not evaluated.
#[inline]
pub const fn is_decided(score: Score) -> bool {
    score.abs() >= TABLEBASE_BOUND
}

/// Returns the distance of a mate in full moves: positive if given, negative if suffered.
pub const fn mate_distance(score: Score) -> Option<i32> {
    if !is_mate(score) {
        return None;
    }
    let plies = MATE - score.abs();
    let moves = (plies + 1) / 2;
    Some(if score > 0 { moves } else { -moves })
}

/// Converts a score for the transposition table: mates count from the node at `ply` instead of the
/// root, so that they are valid wherever the position occurs.
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

/// Reverses [`to_table`].
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

/// Centipawns for a factor of e in the odds: the usual logistic scale, of which 400 are a factor of
/// ten.
const LOGISTIC_SCALE: f64 = 400.0 / std::f64::consts::LN_10;

/// Converts a score in centipawns to expected points, 0 to 1.
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
