//! Explicit game trees: small trees with named nodes, as in textbooks.
//!
//! ```
//! use tabia::lesson::tree::GameTree;
//!
//! let tree = GameTree::classic();
//! assert_eq!(tree.len(), 15);
//! assert!(tree.is_max(0) && tree.leaf_value(0).is_none());
//! ```

mod parse;
mod positions;
mod random;

pub use parse::TreeError;
pub(crate) use positions::PositionTree;
pub use random::Growth;

use super::game::{Window, ZeroSumGame};
use crate::chess::score::{Depth, MAX_PLY, Ply, Score};

/// The text of the built-in tree. Of its fifteen nodes, alpha-beta visits fourteen and PVS
/// thirteen.
pub const CLASSIC: &str = include_str!("classic.tree");

/// The maximum absolute value of a leaf. It is well within the range of [`Score`].
pub const MAX_VALUE: Score = 10_000;
/// The maximum number of levels below the root.
pub const MAX_DEPTH: usize = MAX_PLY / 2;
/// The maximum number of nodes in a tree.
pub const MAX_NODES: usize = 100_000;

/// The index of a node, counted in file order. The root is 0.
pub type NodeId = usize;

#[derive(Debug, Clone, PartialEq, Eq)]
struct Node {
    name: String,
    /// The value of a leaf from Max's point of view, or `None` for an inner node.
    value: Option<Score>,
    parent: Option<NodeId>,
    children: Vec<NodeId>,
    depth: usize,
}

/// An explicit game tree. The players, Max and Min, alternate at each level. Leaf values are from
/// Max's point of view.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GameTree {
    nodes: Vec<Node>,
    max_begins: bool,
}

impl GameTree {
    /// Returns the built-in tree ([`CLASSIC`]).
    pub fn classic() -> Self {
        CLASSIC.parse().expect("a test reads the shipped tree")
    }

    /// Returns the number of nodes, including the root and the leaves.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Returns true if the tree has no nodes. A tree read from text always has at least one.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Returns the name of a node, which is unique in the tree.
    pub fn node_name(&self, node: NodeId) -> &str {
        &self.nodes[node].name
    }

    /// Returns the children of a node in file order.
    pub fn children(&self, node: NodeId) -> &[NodeId] {
        &self.nodes[node].children
    }

    /// Returns the value of a leaf from Max's point of view, or `None` for an inner node.
    pub fn leaf_value(&self, node: NodeId) -> Option<Score> {
        self.nodes[node].value
    }

    /// Returns whether Max is to move at `node`.
    pub fn is_max(&self, node: NodeId) -> bool {
        self.nodes[node].depth.is_multiple_of(2) == self.max_begins
    }

    /// Changes the value of the leaf named `name`.
    ///
    /// # Errors
    /// If there is no such leaf, or if the absolute value exceeds [`MAX_VALUE`]. The error is a
    /// message for the user.
    pub fn set_value(&mut self, name: &str, value: Score) -> Result<(), String> {
        if value.abs() > MAX_VALUE {
            return Err(format!("{value} is no value: it must lie within ±{MAX_VALUE}"));
        }
        let node = self.nodes.iter_mut().find(|node| node.name == name);
        match node.map(|node| &mut node.value) {
            Some(Some(old)) => *old = value,
            Some(None) => return Err(format!("{name} is no leaf: only leaves have values")),
            None => return Err(format!("the tree has no node {name}")),
        }
        Ok(())
    }

    /// Appends a node as the last child of `parent`. If `parent` is `None`, the node becomes the
    /// root.
    fn push(&mut self, name: String, parent: Option<NodeId>) -> NodeId {
        let id = self.nodes.len();
        let depth = parent.map_or(0, |parent| self.nodes[parent].depth + 1);
        self.nodes.push(Node { name, value: None, parent, children: Vec::new(), depth });
        if let Some(parent) = parent {
            self.nodes[parent].children.push(id);
        }
        id
    }
}

/// A state is the index of a node, and a move is the index of the child to which it leads.
impl ZeroSumGame for GameTree {
    type State = NodeId;
    type Move = NodeId;

    fn moves(&mut self, state: &NodeId) -> Vec<NodeId> {
        self.nodes[*state].children.clone()
    }

    fn play(&self, _state: &NodeId, mv: NodeId) -> NodeId {
        mv
    }

    fn value(&mut self, state: &NodeId, _ply: Ply, _window: Window) -> Score {
        let value = self.nodes[*state].value.unwrap_or(0);
        if self.is_max(*state) { value } else { -value }
    }

    fn is_exact(&mut self, state: &NodeId, _depth: Depth) -> bool {
        self.nodes[*state].children.is_empty()
    }

    /// Returns the index of the node. Every node counts as a different position, so a transposition
    /// table has no effect.
    fn key(&self, state: &NodeId) -> u64 {
        *state as u64
    }

    fn maximises(&self, state: &NodeId) -> bool {
        self.is_max(*state)
    }

    fn name(&self, _state: &NodeId, mv: NodeId) -> String {
        self.nodes[mv].name.clone()
    }
}

#[cfg(test)]
mod tests;
