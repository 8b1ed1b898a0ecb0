//! The source of a node's moves: a staged picker or the list of root moves.

use super::history::History;
use super::node::Node;
use super::ordering::MovePicker;
use crate::chess::position::Move;

/// The moves of a node: generated in stages at inner nodes, and taken from a list at the root.
pub(super) enum MoveSource<'a> {
    Picker(&'a mut MovePicker),
    List(&'a mut std::vec::IntoIter<Move>),
}

impl MoveSource<'_> {
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

    pub(super) fn skip_quiets(&mut self) {
        if let MoveSource::Picker(picker) = self {
            picker.skip_quiets();
        }
    }

    pub(super) fn share(&self) -> SharedMoves {
        match self {
            MoveSource::Picker(picker) => SharedMoves::Picker(Box::new((*picker).clone())),
            MoveSource::List(moves) => SharedMoves::List((*moves).clone()),
        }
    }
}

pub(super) enum SharedMoves {
    Picker(Box<MovePicker>),
    List(std::vec::IntoIter<Move>),
}

impl SharedMoves {
    pub(super) fn source(&mut self) -> MoveSource<'_> {
        match self {
            SharedMoves::Picker(picker) => MoveSource::Picker(picker),
            SharedMoves::List(moves) => MoveSource::List(moves),
        }
    }
}
