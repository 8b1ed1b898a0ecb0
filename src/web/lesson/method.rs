//! Methods for searching an explicit tree. A method is an algorithm, with or without a
//! transposition table and iterative deepening.
//!
//! ```
//! use tabia::lesson::method::Method;
//! use tabia::lesson::tree::GameTree;
//!
//! let tree = GameTree::classic();
//! let values = Method::all().into_iter().map(|method| method.watch(&tree).value);
//! assert_eq!(values.collect::<std::collections::BTreeSet<_>>().len(), 1);
//! ```

use std::fmt;

use super::game::{Window, ZeroSumGame};
use super::observe::Observer;
use super::record::{Bounds, Recorder};
use super::search::{Algorithm, Search};
use super::search_record::SearchRecord;
use super::table::Table;
use super::tree::{GameTree, NodeId, PositionTree};

const ROOT: NodeId = 0;

/// A method for searching an explicit tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Method {
    /// The algorithm that searches the tree.
    pub algorithm: Algorithm,
    /// Whether to use a transposition table. Minimax never uses one.
    pub table: bool,
    /// Whether to use iterative deepening. Each iteration tries the moves of the previous
    /// iteration's best line first. <https://www.chessprogramming.org/Iterative_Deepening>
    pub deepening: bool,
}

impl Method {
    /// Returns the method that uses `algorithm` without a table or iterative deepening.
    pub const fn plain(algorithm: Algorithm) -> Method {
        Method { algorithm, table: false, deepening: false }
    }

    /// Returns all methods, starting with the simplest.
    pub fn all() -> Vec<Method> {
        let ways = [(false, false), (true, false), (false, true), (true, true)];
        let with = |(table, deepening)| {
            let algorithms = [Algorithm::AlphaBeta, Algorithm::Pvs];
            algorithms.map(|algorithm| Method { algorithm, table, deepening })
        };
        let mut all = vec![Method::plain(Algorithm::Minimax)];
        all.extend(ways.into_iter().flat_map(with));
        all
    }

    /// Searches the whole tree and records every step.
    pub fn watch(self, tree: &GameTree) -> SearchRecord {
        let mut game = PositionTree::new(tree);
        let mut recorder = Recorder::new(Bounds::NONE);
        let mut table = match self.table {
            true => Table::transpositions(),
            false => Table::line_alone(),
        };
        let first = if self.deepening { 1 } else { game.height() };
        for depth in first..=game.height().max(first) {
            if self.deepening {
                Observer::<NodeId>::iteration(&mut recorder, depth);
            }
            let mut search = Search::new(&mut game, &mut recorder, &[]);
            if self.table || self.deepening {
                search = search.with_table(&mut table);
            }
            let (_, line) = search.run(self.algorithm, &ROOT, depth, Window::FULL);
            table.expect(successions(&game, &line));
        }
        let root = game.node_name(ROOT).to_owned();
        SearchRecord::named(&self.to_string(), &recorder, &mut game, (&ROOT, &root), true)
    }
}

/// Returns the keys of each pair of consecutive positions in a line that starts at the root.
fn successions(game: &PositionTree, line: &[NodeId]) -> Vec<(u64, u64)> {
    let keys: Vec<u64> = std::iter::once(&ROOT).chain(line).map(|node| game.key(node)).collect();
    keys.windows(2).map(|pair| (pair[0], pair[1])).collect()
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let more = match (self.table, self.deepening) {
            (false, false) => "",
            (true, false) => " with table",
            (false, true) => " with deepening",
            (true, true) => " with table and deepening",
        };
        f.pad(&format!("{}{more}", self.algorithm))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::web::lesson::tree::Growth;

    fn trees() -> impl Iterator<Item = GameTree> {
        (0..300).map(|seed| {
            let (uneven, copies) = (seed % 3 == 1, if seed % 2 == 0 { 40 } else { 0 });
            let max_begins = seed % 5 > 0;
            let growth = Growth { seed, depth: 4, branching: 3, spread: 9, ..Growth::SMALL };
            Growth { uneven, copies, max_begins, ..growth }.tree().expect("a tree")
        })
    }

    #[test]
    fn all_methods_find_the_minimax_value() {
        for tree in trees() {
            let value = Method::plain(Algorithm::Minimax).watch(&tree).value;
            for method in Method::all() {
                assert_eq!(method.watch(&tree).value, value, "{method}:\n{tree}");
            }
        }
    }

    #[test]
    fn table_saves_visits_when_positions_recur() {
        let (mut without, mut with, mut hits) = (0, 0, 0);
        for tree in trees() {
            let plain = Method::plain(Algorithm::AlphaBeta);
            without += plain.watch(&tree).nodes;
            let search_record = Method { table: true, ..plain }.watch(&tree);
            with += search_record.nodes;
            hits += search_record.hits;
        }
        assert!(with < without && hits > 100, "{with} of {without}, {hits} hits");
    }

    #[test]
    fn each_iteration_begins_with_the_previous_line() {
        let tree = Growth { depth: 4, ..Growth::SMALL }.tree().expect("a tree");
        let method = Method { algorithm: Algorithm::Pvs, table: false, deepening: true };
        let text = method.watch(&tree).text();
        for depth in 1..=4 {
            assert_eq!(text.matches(&format!("iteration {depth}\n")).count(), 1, "{text}");
        }
        assert!(text.contains("~"), "estimates are marked:\n{text}");
        let iterations: Vec<&str> = text.split("iteration ").skip(1).collect();
        for pair in iterations.windows(2) {
            let line = |text: &str| -> Vec<String> {
                let end = text.lines().rev().find(|line| line.starts_with("N0 = "));
                let line = end.expect("a value").split(" by ").nth(1).expect("a line");
                line.split(' ').map(str::to_owned).collect()
            };
            let entered = |text: &str, ply: usize| -> String {
                let indent = " ".repeat(2 * ply) + "N";
                let first = text.lines().find(|line| line.starts_with(&indent)).expect("a node");
                first.trim().split([' ', ':']).next().expect("a name").to_owned()
            };
            let before = line(pair[0]);
            for (index, name) in before.iter().enumerate() {
                assert_eq!(&entered(pair[1], index + 1), name, "{}", pair[1]);
            }
        }
    }
}
