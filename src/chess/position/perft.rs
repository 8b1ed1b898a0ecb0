//! Perft: counts the leaf nodes of the tree of legal moves, to verify move generation. See
//! <https://www.chessprogramming.org/Perft>.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use super::Position;

/// Returns the number of legal move sequences of `depth` plies. Moves at the last ply are counted
/// but not played.
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

/// At this depth or less, `stop` is not checked, because counting takes only milliseconds.
const UNWATCHED: u32 = 3;

/// Like [`perft`], but returns `None` soon after `stop` is set.
pub fn perft_until(position: &Position, depth: u32, stop: &AtomicBool) -> Option<u64> {
    if stop.load(Relaxed) {
        return None;
    }
    if depth <= UNWATCHED {
        return Some(perft(position, depth));
    }
    let moves = position.legal_moves();
    moves.iter().map(|mv| perft_until(&position.play(mv), depth - 1, stop)).sum()
}
