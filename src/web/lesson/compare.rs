//! Compares the node counts of alpha-beta and PVS for the same depth with different move orders.
//!
//! ```
//! use std::sync::atomic::AtomicBool;
//!
//! use tabia::lesson::compare::{SearchVariant, cost};
//! use tabia::position::Position;
//!
//! let stop = AtomicBool::new(false);
//! let variant = SearchVariant::all()[0];
//! assert!(cost(&Position::start(), variant, 2, &stop).is_some_and(|cost| cost.nodes > 20));
//! ```

use std::sync::atomic::AtomicBool;

use super::chess::{Chess, Ordering};
use super::deepening::{Plan, deepen};
use super::game::Window;
use super::observe::Counter;
use super::search::{Algorithm, Search};
use crate::chess::position::Position;
use crate::chess::score::{Depth, Score};

/// A search algorithm combined with a move order: one column of the comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SearchVariant {
    /// The algorithm to be compared.
    pub algorithm: Algorithm,
    /// The order in which moves are searched.
    pub ordering: Ordering,
}

impl SearchVariant {
    /// Returns alpha-beta and PVS, both with the given move order.
    pub fn both(ordering: Ordering) -> [SearchVariant; 2] {
        [Algorithm::AlphaBeta, Algorithm::Pvs]
            .map(|algorithm| SearchVariant { algorithm, ordering })
    }

    /// Returns alpha-beta and PVS with every move order.
    pub fn all() -> Vec<SearchVariant> {
        Ordering::ALL.into_iter().flat_map(SearchVariant::both).collect()
    }

    /// Returns the name shown in table headings.
    pub fn name(self) -> String {
        format!("{} {}", self.algorithm, self.ordering)
    }
}

/// The cost of searching one position with one variant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cost {
    /// The number of nodes in the last iteration, including quiescence.
    pub nodes: u64,
    /// The number of nodes of each [`NodeType`](super::observe::NodeType), excluding quiescence.
    pub types: [u64; 3],
    /// The number of re-searches with the open window, which PVS needs if a null-window search
    /// fails high.
    pub researches: u64,
    /// The score of the position. All variants return the same score, because they differ only in
    /// which nodes they prune.
    pub score: Score,
}

/// Searches one position to `depth` by iterative deepening and measures the cost of the last
/// iteration. Returns `None` if stopped.
pub fn cost(
    position: &Position,
    variant: SearchVariant,
    depth: Depth,
    stop: &AtomicBool,
) -> Option<Cost> {
    let mut chess = Chess::new(position);
    chess.ordering = variant.ordering;
    let plan = Plan { algorithm: variant.algorithm, depth: depth - 1, aspiration: None };
    let (found, _) = deepen(&mut chess, position, plan, stop, &mut || (), &mut |_| {});
    let before = chess.quiescence_nodes;
    let (mut counter, stops) = (Counter::default(), [stop]);
    let mut search = Search::new(&mut chess, &mut counter, &stops);
    let (score, _) = search.run(variant.algorithm, position, depth, Window::FULL);
    if search.is_stopped() || found.depth < depth - 1 {
        return None;
    }
    Some(Cost {
        nodes: counter.nodes + chess.quiescence_nodes - before,
        types: counter.types,
        researches: counter.researches,
        score,
    })
}

/// The costs of one variant, summed over several positions.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct CostSum {
    /// The number of positions added.
    pub positions: u32,
    /// The number of nodes, including quiescence.
    pub nodes: u64,
    /// The number of nodes of each type, excluding quiescence.
    pub types: [u64; 3],
    /// The number of re-searches with the open window.
    pub researches: u64,
    /// The logarithm of this variant's node count divided by the first variant's, summed over the
    /// positions.
    pub log_ratio: f64,
}

impl CostSum {
    /// Adds the cost of one position and compares it with `first`, the cost of the first variant
    /// for the same position.
    pub fn add(&mut self, cost: &Cost, first: &Cost) {
        self.positions += 1;
        self.nodes += cost.nodes;
        self.researches += cost.researches;
        self.log_ratio += (cost.nodes as f64 / first.nodes as f64).ln();
        for (sum, count) in self.types.iter_mut().zip(cost.types) {
            *sum += count;
        }
    }

    /// Returns the geometric mean, over all positions, of this variant's node count divided by the
    /// first variant's.
    pub fn mean_ratio(&self) -> f64 {
        (self.log_ratio / f64::from(self.positions.max(1))).exp()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::suite::positions::positions;

    #[test]
    fn all_variants_agree_and_bad_ordering_costs_nodes() {
        let stop = AtomicBool::new(false);
        let mut sums = vec![CostSum::default(); SearchVariant::all().len()];
        for position in positions().iter().step_by(10) {
            let costs: Vec<Cost> = SearchVariant::all()
                .into_iter()
                .map(|variant| cost(position, variant, 3, &stop).expect("not stopped"))
                .collect();
            for (sum, cost) in sums.iter_mut().zip(&costs) {
                assert_eq!(cost.score, costs[0].score, "{position}");
                sum.add(cost, &costs[0]);
            }
        }
        let [good, _, _, _, bad, _] = &sums[..] else { panic!("six ways") };
        assert_eq!(good.mean_ratio(), 1.0);
        assert!(bad.mean_ratio() > 2.0, "{bad:?}");
    }
}
