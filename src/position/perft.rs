//! Perft: counting the leaves of the legal move tree, to prove move generation right.
//! See <https://www.chessprogramming.org/Perft>.

use super::{Move, Position};

/// The number of legal move sequences of `depth` plies. The last ply is counted, not played.
pub fn perft(position: &Position, depth: u32) -> u64 {
    if depth == 0 {
        return 1;
    }
    let moves = position.legal_moves();
    if depth == 1 {
        return moves.len() as u64;
    }
    moves.iter().map(|mv| perft(&position.play(mv), depth - 1)).sum()
}

/// [`perft`] of `depth` (at least 1) split by first move.
pub fn divide(position: &Position, depth: u32) -> Vec<(Move, u64)> {
    let depth_below = depth.saturating_sub(1);
    position.legal_moves().iter().map(|mv| (mv, perft(&position.play(mv), depth_below))).collect()
}
