//! The first moves of the games read so far.
//!
//! Games share their openings. A reader that remembers the beginnings it has seen as a tree need
//! not resolve and play those moves again, which saves a tenth to a fifth of its time.

use shakmaty::san::San;

use crate::position::{Move, Position};

/// Nodes of the tree: 0.7 MB, which a second-level cache holds in good part.
const MAX_NODES: usize = 1 << 12;
/// Deeper in a game than this, too few games go the same way.
const MAX_PLIES: u16 = 24;
/// No node: the end of a list.
const NONE: u16 = u16::MAX;

const _: () = assert!(MAX_NODES < NONE as usize);

/// A position that games have come to from the start position.
struct Node {
    position: Position,
    san: San,
    mv: Move,
    first_child: u16,
    next_sibling: u16,
    ply: u16,
}

/// The place of a position in the tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place(u16);

/// The tree of beginnings, from the start position.
pub(super) struct Tree {
    nodes: Vec<Node>,
}

impl Tree {
    /// The place of the start position.
    pub const ROOT: Place = Place(0);

    pub fn new() -> Self {
        // Nobody looks at the root's move.
        let mv = Move::new(crate::position::Square::A1, crate::position::Square::A2);
        let position = Position::start();
        let root =
            Node { position, san: San::Null, mv, first_child: NONE, next_sibling: NONE, ply: 0 };
        Tree { nodes: vec![root] }
    }

    #[inline]
    pub fn position(&self, place: Place) -> &Position {
        &self.nodes[usize::from(place.0)].position
    }

    /// The move that led to a place.
    #[inline]
    pub fn mv(&self, place: Place) -> Move {
        self.nodes[usize::from(place.0)].mv
    }

    /// Where a move that was seen before leads.
    #[inline]
    pub fn child(&self, place: Place, san: San) -> Option<Place> {
        let mut child = self.nodes[usize::from(place.0)].first_child;
        while let Some(node) = self.nodes.get(usize::from(child)) {
            if node.san == san {
                return Some(Place(child));
            }
            child = node.next_sibling;
        }
        None
    }

    /// Remembers a move and where it leads, if there is room.
    pub fn grow(&mut self, place: Place, san: San, mv: Move, after: &Position) -> Option<Place> {
        let number = self.nodes.len() as u16;
        let parent = &mut self.nodes[usize::from(place.0)];
        let ply = parent.ply + 1;
        if usize::from(number) >= MAX_NODES || ply > MAX_PLIES {
            return None;
        }
        let next_sibling = std::mem::replace(&mut parent.first_child, number);
        self.nodes.push(Node { position: *after, san, mv, first_child: NONE, next_sibling, ply });
        Some(Place(number))
    }
}
