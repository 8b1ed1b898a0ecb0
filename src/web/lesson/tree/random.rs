//! Generates random trees and reorders their moves. The same seed gives the same tree on every
//! machine.

use super::{GameTree, MAX_NODES, MAX_VALUE, NodeId};
use crate::chess::score::Score;
use crate::support::random::Random;

/// In an uneven tree, each node between the root and the last level has a 1 in `EARLY_LEAF` chance
/// of being a leaf.
const EARLY_LEAF: usize = 6;
/// The first level whose nodes can be copies of earlier nodes. Levels above it have too few nodes
/// to copy from.
const FIRST_COPIED: usize = 2;
const HUNDRED: usize = 100;

/// The parameters of a random tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Growth {
    /// The seed that determines the tree.
    pub seed: u64,
    /// The number of levels below the root.
    pub depth: usize,
    /// The number of children of a node.
    pub branching: usize,
    /// The maximum absolute value of a leaf.
    pub spread: Score,
    /// If true, the number of children varies between 1 and `branching`, and some nodes above the
    /// last level are leaves.
    pub uneven: bool,
    /// The percentage of inner nodes that repeat the subtree of an earlier node on the same level.
    /// The root and its children never do.
    pub copies: usize,
    /// Whether Max moves first.
    pub max_begins: bool,
    /// The quality of the move order, from -100 (worst move first) to 100 (best move first); see
    /// [`GameTree::ordered`].
    pub order: i32,
}

impl Growth {
    /// Parameters for a tree that is small enough to be drawn on a blackboard.
    pub const SMALL: Growth = Growth {
        seed: 1,
        depth: 3,
        branching: 2,
        spread: 20,
        uneven: false,
        copies: 0,
        max_begins: true,
        order: 0,
    };

    /// Generates the tree described by these parameters.
    ///
    /// # Errors
    /// If the tree would be too large, or if `spread` is out of range. The error is a message for
    /// the user.
    pub fn tree(&self) -> Result<GameTree, String> {
        self.check()?;
        let mut generator =
            TreeGenerator { growth: *self, random: Random::new(self.seed), grown: Vec::new() };
        generator.grown.resize(self.depth + 1, Vec::new());
        let shape = generator.grow(0);
        let mut tree = GameTree { nodes: Vec::new(), max_begins: self.max_begins };
        tree.push_all(None, &shape, &mut names(&shape).into_iter());
        Ok(tree.ordered(self.order, self.seed))
    }

    fn check(&self) -> Result<(), String> {
        if !(0..=MAX_VALUE).contains(&self.spread) {
            return Err(format!("values must lie within ±{MAX_VALUE}"));
        }
        let (mut level, mut nodes) = (1_usize, 1_usize);
        for _ in 0..self.depth {
            level = level.saturating_mul(self.branching.max(1));
            nodes = nodes.saturating_add(level);
        }
        match nodes {
            0..=MAX_NODES => Ok(()),
            _ => Err(format!("more than {MAX_NODES} nodes; take less depth or branching")),
        }
    }
}

#[derive(Debug, Clone)]
struct TreeShape {
    value: Option<Score>,
    children: Vec<TreeShape>,
}

struct TreeGenerator {
    growth: Growth,
    random: Random,
    grown: Vec<Vec<TreeShape>>,
}

impl TreeGenerator {
    fn grow(&mut self, level: usize) -> TreeShape {
        let Growth { depth, branching, spread, uneven, copies, .. } = self.growth;
        if level == depth || (uneven && level > 0 && self.random.below(EARLY_LEAF) == 0) {
            let value = self.random.below(2 * spread as usize + 1) as Score - spread;
            return TreeShape { value: Some(value), children: Vec::new() };
        }
        let known = self.grown[level].len();
        let may_copy = copies > 0 && level >= FIRST_COPIED && known > 0;
        if may_copy && self.random.below(HUNDRED) < copies {
            return self.grown[level][self.random.below(known)].clone();
        }
        let count = if uneven { 1 + self.random.below(branching) } else { branching };
        let children = (0..count).map(|_| self.grow(level + 1)).collect();
        let shape = TreeShape { value: None, children };
        if copies > 0 {
            self.grown[level].push(shape.clone());
        }
        shape
    }
}

fn names(root: &TreeShape) -> Vec<String> {
    // The indices of the nodes on each level. Indices are in file order, but names are numbered
    // level by level.
    let mut levels: Vec<Vec<usize>> = Vec::new();
    let mut open = vec![(root, 0)];
    let mut place = 0;
    while let Some((shape, level)) = open.pop() {
        if levels.len() == level {
            levels.push(Vec::new());
        }
        levels[level].push(place);
        place += 1;
        open.extend(shape.children.iter().rev().map(|child| (child, level + 1)));
    }
    let mut names = vec![String::new(); place];
    for (number, place) in levels.into_iter().flatten().enumerate() {
        names[place] = format!("N{number}");
    }
    names
}

impl GameTree {
    fn push_all(
        &mut self,
        parent: Option<NodeId>,
        shape: &TreeShape,
        names: &mut impl Iterator<Item = String>,
    ) {
        let id = self.push(names.next().unwrap_or_default(), parent);
        self.nodes[id].value = shape.value;
        for child in &shape.children {
            self.push_all(Some(id), child, names);
        }
    }

    pub(super) fn minimax(&self) -> Vec<Score> {
        let mut values: Vec<Score> = vec![0; self.len()];
        // Iterate backwards, because children have higher indices than their parents.
        for id in (0..self.len()).rev() {
            let below = self.children(id).iter().map(|&child| values[child]);
            let best = if self.is_max(id) { below.max() } else { below.min() };
            values[id] = self.leaf_value(id).or(best).unwrap_or(0);
        }
        values
    }

    /// Returns the tree with its moves reordered, similar to the usual models of strongly ordered
    /// trees.
    ///
    /// `order` ranges from 100 (the best move always comes first) to -100 (the worst move always
    /// comes first). At each node, the moves are chosen one after another from those that remain.
    /// With a probability of |`order`| percent, the choice is the best remaining move (or the
    /// worst, if `order` is negative). Otherwise, it is the first remaining move in the original
    /// order. `seed` determines the random numbers.
    #[must_use]
    pub fn ordered(&self, order: i32, seed: u64) -> GameTree {
        let (values, mut random) = (self.minimax(), Random::new(!seed));
        let percent = order.unsigned_abs() as usize;
        let mut orders: Vec<Vec<NodeId>> = Vec::with_capacity(self.len());
        for id in 0..self.len() {
            let good = |child: &NodeId| match self.is_max(id) == (order > 0) {
                true => values[*child],
                false => -values[*child],
            };
            let mut left = self.children(id).to_vec();
            let mut chosen = Vec::with_capacity(left.len());
            while !left.is_empty() {
                let take = match random.below(HUNDRED) < percent {
                    // `max_by_key` returns the last maximum, so iterate in reverse to get the first
                    // of several equal moves.
                    true => (0..left.len()).rev().max_by_key(|&at| good(&left[at])).unwrap_or(0),
                    false => 0,
                };
                chosen.push(left.remove(take));
            }
            orders.push(chosen);
        }
        let mut tree = GameTree { nodes: Vec::new(), max_begins: self.max_begins };
        tree.push_ordered(None, (self, 0), &orders);
        tree
    }

    /// Appends a copy of a node of `other`, including its subtree. `orders` contains the new order
    /// of the children for each node of `other`.
    fn push_ordered(
        &mut self,
        parent: Option<NodeId>,
        (other, node): (&GameTree, NodeId),
        orders: &[Vec<NodeId>],
    ) {
        let id = self.push(other.node_name(node).to_owned(), parent);
        self.nodes[id].value = other.leaf_value(node);
        for &child in &orders[node] {
            self.push_ordered(Some(id), (other, child), orders);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::web::lesson::search::Algorithm;
    use crate::web::lesson::watch_tree;

    const LARGE: Growth = Growth { depth: 4, branching: 3, ..Growth::SMALL };

    #[test]
    fn random_tree_depends_on_the_seed_and_round_trips() {
        for (seed, uneven, copies) in [(1, false, 0), (2, true, 0), (3, true, 40), (4, false, 40)] {
            let growth = Growth { seed, uneven, copies, ..LARGE };
            let tree = growth.tree().expect("a tree");
            assert_eq!(growth.tree().as_ref(), Ok(&tree));
            assert_eq!(tree.to_string().parse().as_ref(), Ok(&tree));
            assert_ne!(Growth { seed: seed + 10, ..growth }.tree(), Ok(tree));
        }
        assert_eq!(LARGE.tree().expect("a tree").len(), 1 + 3 + 9 + 27 + 81);
    }

    #[test]
    fn names_are_numbered_by_level() {
        let tree = Growth::SMALL.tree().expect("a tree");
        let names: Vec<&str> = (0..tree.len()).map(|id| tree.node_name(id)).collect();
        assert_eq!(names[..6], ["N0", "N1", "N3", "N7", "N8", "N4"]);
    }

    #[test]
    fn better_order_gives_fewer_visits() {
        let visits = |order| -> u64 {
            let trees = (0..40).map(|seed| Growth { seed, order, ..LARGE }.tree().expect("a tree"));
            trees.map(|tree| watch_tree(&tree, Algorithm::AlphaBeta).nodes).sum()
        };
        let counts = [100, 50, 0, -50, -100].map(visits);
        assert!(counts.is_sorted(), "{counts:?}");
        // In a tree with four levels and three moves per node, at least 3² + 3² - 1 leaves must be
        // visited (Knuth and Moore, 1975).
        let best = Growth { order: 100, ..LARGE }.tree().expect("a tree");
        let leaves = watch_tree(&best, Algorithm::AlphaBeta).tree;
        let leaves = leaves.iter().filter(|node| node.ply == 4 && node.kind.is_some()).count();
        assert_eq!(leaves, 9 + 9 - 1);
    }

    #[test]
    fn order_does_not_change_the_value() {
        for seed in 0..50 {
            let tree = Growth { seed, uneven: true, ..LARGE }.tree().expect("a tree");
            for order in [-100, -30, 0, 70, 100] {
                let ordered = tree.ordered(order, seed);
                assert_eq!((ordered.minimax()[0], ordered.len()), (tree.minimax()[0], tree.len()));
            }
            assert_eq!(tree.ordered(0, seed), tree);
        }
    }

    #[test]
    fn too_large_trees_are_rejected() {
        let huge = Growth { depth: 60, branching: 2, ..Growth::SMALL };
        assert!(huge.tree().expect_err("huge").contains("nodes"));
        assert!(Growth { spread: -1, ..Growth::SMALL }.tree().is_err());
    }
}
