//! The positions on which the lessons measure.

use crate::position::Position;

/// One FEN a line.
const POSITIONS: &str = include_str!("positions.txt");

/// Sixty positions that Tabia reached in games against itself: openings, middlegames, endgames.
pub fn positions() -> Vec<Position> {
    read_positions(POSITIONS).expect("a test reads the shipped positions")
}

/// Reads a position a line; empty lines and those that begin with `#` are passed over.
///
/// # Errors
/// Which line is none, and why.
pub fn read_positions(text: &str) -> Result<Vec<Position>, String> {
    let lines = text.lines().enumerate().map(|(index, line)| (index + 1, line.trim()));
    let lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    lines
        .map(|(number, line)| {
            Position::from_fen(line).map_err(|error| format!("line {number}: {error}"))
        })
        .collect()
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

    #[test]
    fn a_bad_line_is_named() {
        let error = read_positions("# a comment\n\nnonsense\n").expect_err("no position");
        assert!(error.starts_with("line 3: "), "{error}");
    }
}
