//! The positions used for measurements in the lessons.
//!
//! ```
//! let positions = tabia::suite::positions::positions();
//! assert!(positions.iter().all(|position| !position.legal_moves().is_empty()));
//! ```

use crate::chess::epd;
use crate::chess::position::Position;

const POSITIONS: &str = include_str!("positions.txt");

/// Returns sixty positions from Tabia's self-play games: openings, middlegames and endgames.
pub fn positions() -> Vec<Position> {
    epd::positions(POSITIONS).expect("a test reads the shipped positions")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shipped_positions_are_60_and_distinct() {
        let positions = positions();
        let mut keys: Vec<u64> = positions.iter().map(Position::key).collect();
        keys.sort_unstable();
        keys.dedup();
        assert_eq!((positions.len(), keys.len()), (60, 60));
    }
}
