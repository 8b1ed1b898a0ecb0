//! Where the moves of a node come from.

use super::history::History;
use super::node::Node;
use super::ordering::MovePicker;
use crate::position::Move;

/// The moves of an inner node, picked in stages, or those of the root, ordered by iteration.
pub(super) enum MoveSource<'a> {
    Picker(&'a mut MovePicker),
    List(std::vec::IntoIter<Move>),
}

impl MoveSource<'_> {
    /// The next move to search.
    pub(super) fn next(&mut self, node: &Node, history: &History) -> Option<Move> {
        loop {
            let mv = match self {
                MoveSource::Picker(picker) => picker.next(&node.position, history, &node.context),
                MoveSource::List(moves) => moves.next(),
            }?;
            if Some(mv) != node.excluded {
                return Some(mv);
            }
        }
    }

    /// Leaves out the quiet moves still to come.
    pub(super) fn skip_quiets(&mut self) {
        if let MoveSource::Picker(picker) = self {
            picker.skip_quiets();
        }
    }

    /// All moves still to come.
    pub(super) fn drain(&mut self, node: &Node, history: &History) -> Vec<Move> {
        std::iter::from_fn(|| self.next(node, history)).collect()
    }
}
