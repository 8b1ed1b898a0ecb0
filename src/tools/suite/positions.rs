//! The positions on which the lessons measure.

use crate::chess::epd;
use crate::chess::position::Position;

/// One FEN a line.
const POSITIONS: &str = include_str!("positions.txt");

/// Sixty positions that Tabia reached in games against itself: openings, middlegames, endgames.
pub fn positions() -> Vec<Position> {
    epd::positions(POSITIONS).expect("a test reads the shipped positions")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shipped_positions_are_many_and_different() {
        let positions = positions();
        let mut keys: Vec<u64> = positions.iter().map(Position::key).collect();
        keys.sort_unstable();
        keys.dedup();
        assert_eq!((positions.len(), keys.len()), (60, 60));
    }
}
