//! The table used by a textbook search: a transposition table, or just the line to search first.
//! <https://www.chessprogramming.org/Transposition_Table>
//!
//! ```
//! use tabia::lesson::game::Window;
//! use tabia::lesson::table::Table;
//!
//! let mut table = Table::transpositions();
//! table.store(17, 3, Window::FULL, 25, None);
//! assert_eq!(table.value(17, 2, Window::FULL), Some(25));
//! assert_eq!(table.value(17, 4, Window::FULL), None);
//! ```

use std::collections::HashMap;

use super::game::Window;
use crate::chess::score::{Depth, Score};

/// The depth of an entry that has a move but no value. It is lower than the depth of any search, so
/// the value is never used.
const MOVE_ALONE: Depth = -1;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Bound {
    Exact,
    Lower,
    Upper,
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    depth: Depth,
    value: Score,
    bound: Bound,
    /// The key of the position after the best move, or `None` if no best move is known.
    best: Option<u64>,
}

/// A table that maps positions to search results. Its size is not limited, because the searches in
/// lessons are small.
#[derive(Debug, Clone)]
pub struct Table {
    entries: HashMap<u64, Entry>,
    keeps_values: bool,
}

impl Table {
    /// Creates a transposition table. A new result always replaces the previous one for the same
    /// position.
    pub fn transpositions() -> Self {
        Table { entries: HashMap::new(), keeps_values: true }
    }

    /// Creates a table that stores no values, only the [line](Table::expect) found by the last
    /// iteration.
    pub fn line_alone() -> Self {
        Table { entries: HashMap::new(), keeps_values: false }
    }

    /// Stores a line to search first, replacing the previous one. Each pair contains the key of a
    /// position and the key of the next position in the line. A transposition table ignores this
    /// call, because it already contains the best moves.
    pub fn expect(&mut self, line: impl IntoIterator<Item = (u64, u64)>) {
        if self.keeps_values {
            return;
        }
        self.entries.clear();
        for (key, best) in line {
            let (depth, bound) = (MOVE_ALONE, Bound::Exact);
            self.entries.insert(key, Entry { depth, value: 0, bound, best: Some(best) });
        }
    }

    /// Returns the stored value if it is deep enough for the search and either exact or a bound
    /// outside `window`.
    pub fn value(&self, key: u64, depth: Depth, window: Window) -> Option<Score> {
        let entry = self.entries.get(&key).filter(|entry| entry.depth >= depth)?;
        let settles = match entry.bound {
            Bound::Exact => true,
            Bound::Lower => entry.value >= window.beta,
            Bound::Upper => entry.value <= window.alpha,
        };
        settles.then_some(entry.value)
    }

    /// Returns the key of the position after the best move stored for `key`.
    pub fn best(&self, key: u64) -> Option<u64> {
        self.entries.get(&key)?.best
    }

    /// Stores the result of a search. If `best` is `None`, because no move raised alpha, the
    /// previous best move is kept.
    pub fn store(
        &mut self,
        key: u64,
        depth: Depth,
        window: Window,
        value: Score,
        best: Option<u64>,
    ) {
        if !self.keeps_values {
            return;
        }
        let bound = match value {
            _ if value >= window.beta => Bound::Lower,
            _ if value <= window.alpha => Bound::Upper,
            _ => Bound::Exact,
        };
        let best = best.or_else(|| self.best(key));
        self.entries.insert(key, Entry { depth, value, bound, best });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_cut_off_only_outside_their_window() {
        let mut table = Table::transpositions();
        table.store(1, 3, Window::new(0, 5), 7, Some(9));
        assert_eq!(table.value(1, 3, Window::new(0, 7)), Some(7));
        assert_eq!(table.value(1, 3, Window::new(0, 8)), None);
        assert_eq!(table.value(1, 4, Window::new(0, 7)), None);
        table.store(1, 4, Window::new(7, 9), 6, None);
        assert_eq!(table.value(1, 4, Window::new(6, 9)), Some(6));
        assert_eq!(table.value(1, 4, Window::new(5, 9)), None);
        assert_eq!(table.best(1), Some(9), "the previous move is kept");
        table.store(1, 4, Window::FULL, 6, None);
        assert_eq!(table.value(1, 2, Window::new(5, 9)), Some(6));
    }

    #[test]
    fn line_table_has_moves_but_no_values() {
        let mut table = Table::line_alone();
        table.expect([(1, 2), (2, 3)]);
        table.store(5, 1, Window::FULL, 4, Some(6));
        assert_eq!((table.best(1), table.best(2), table.best(5)), (Some(2), Some(3), None));
        assert_eq!(table.value(1, 0, Window::FULL), None);
        table.expect([(7, 8)]);
        assert_eq!(table.best(1), None);
    }
}
