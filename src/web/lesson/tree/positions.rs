//! A tree in which nodes with equal subtrees count as the same position, so that a transposition
//! table is useful. Every node has an estimate of its value, so that the tree can be searched by
//! iterative deepening.

use std::collections::HashMap;

use super::{GameTree, NodeId};
use crate::chess::score::{Depth, Ply, Score};
use crate::web::lesson::game::{Window, ZeroSumGame};

#[derive(Debug, Clone)]
pub(crate) struct PositionTree {
    tree: GameTree,
    positions: Vec<u64>,
    /// An estimate of each node's value from Max's point of view: the mean of the leaves below it,
    /// rounded towards zero.
    estimates: Vec<Score>,
    height: Depth,
}

impl PositionTree {
    pub(crate) fn new(tree: &GameTree) -> Self {
        let estimates = tree.leaves_below().into_iter().map(|(sum, count)| (sum / count) as Score);
        let height = tree.nodes.iter().map(|node| node.depth).max().unwrap_or(0) as Depth;
        let (positions, estimates) = (positions(tree), estimates.collect());
        PositionTree { tree: tree.clone(), positions, estimates, height }
    }

    /// Returns the number of levels below the root. A search to this depth reaches every leaf.
    pub(crate) fn height(&self) -> Depth {
        self.height
    }

    pub(crate) fn node_name(&self, node: NodeId) -> &str {
        self.tree.node_name(node)
    }
}

/// Assigns a number to each node so that nodes with the same number are the same position. Two
/// inner nodes are the same position if the same player is to move and their children are the same
/// positions, in any order. Two leaves are the same position if the same player is to move and they
/// have the same value.
fn positions(tree: &GameTree) -> Vec<u64> {
    let mut known: HashMap<(bool, Option<Score>, Vec<u64>), u64> = HashMap::new();
    let mut positions = vec![0; tree.len()];
    // Iterate backwards, because children have higher indices than their parents.
    for id in (0..tree.len()).rev() {
        let mut below: Vec<u64> = tree.children(id).iter().map(|&child| positions[child]).collect();
        below.sort_unstable();
        let next = known.len() as u64;
        let position = (tree.is_max(id), tree.leaf_value(id), below);
        positions[id] = *known.entry(position).or_insert(next);
    }
    positions
}

impl GameTree {
    /// Returns the sum and the number of the leaf values below each node. For a leaf, only its own
    /// value is counted.
    fn leaves_below(&self) -> Vec<(i64, i64)> {
        let mut below = vec![(0, 0); self.len()];
        for (id, node) in self.nodes.iter().enumerate().rev() {
            if let Some(value) = node.value {
                below[id] = (i64::from(value), 1);
            }
            if let Some(parent) = node.parent {
                below[parent].0 += below[id].0;
                below[parent].1 += below[id].1;
            }
        }
        below
    }
}

impl ZeroSumGame for PositionTree {
    type State = NodeId;
    type Move = NodeId;

    fn moves(&mut self, state: &NodeId) -> Vec<NodeId> {
        self.tree.moves(state)
    }

    fn play(&self, _state: &NodeId, mv: NodeId) -> NodeId {
        mv
    }

    fn value(&mut self, state: &NodeId, _ply: Ply, _window: Window) -> Score {
        let value = self.estimates[*state];
        if self.tree.is_max(*state) { value } else { -value }
    }

    fn is_exact(&mut self, state: &NodeId, depth: Depth) -> bool {
        depth <= 0 || self.tree.children(*state).is_empty()
    }

    fn key(&self, state: &NodeId) -> u64 {
        self.positions[*state]
    }

    fn is_estimate(&self, state: &NodeId) -> bool {
        !self.tree.children(*state).is_empty()
    }

    fn maximises(&self, state: &NodeId) -> bool {
        self.tree.is_max(*state)
    }

    fn name(&self, state: &NodeId, mv: NodeId) -> String {
        self.tree.name(state, mv)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_with_equal_subtrees_are_one_position() {
        let tree: GameTree = "a max\n b\n  c 1\n  d 2\n e\n  f 2\n  g 1\n h\n  i\n   j 1\n   k 2\n"
            .parse()
            .expect("a tree");
        let known = PositionTree::new(&tree);
        let key = |name: &str| {
            known.key(&(0..tree.len()).find(|&id| tree.node_name(id) == name).expect(name))
        };
        assert_eq!(key("b"), key("e"), "the order does not matter");
        assert_ne!(key("b"), key("i"), "another player is to move");
        assert_eq!((key("c"), key("d")), (key("g"), key("f")));
        assert_eq!(known.estimates[0], 1, "nine sixths, rounded towards zero");
        assert_eq!(known.height(), 3);
    }
}
