//! The first moves of the games read so far.
//!
//! Games share their openings. A reader that remembers the beginnings it has seen often as a tree
//! need not resolve and play those moves again.

use shakmaty::san::San;

use super::Ply;
use crate::position::{Move, Position, Replay};

/// Nodes of the tree: 0.2 MB, which a second-level cache holds, and 0.7 MB for the positions, which
/// are only looked at where a game leaves the tree.
const MAX_NODES: usize = 1 << 12;
/// A position gets children once so many games have come through it: else the tree would be full
/// of what the very first games played.
const VISITS_TO_GROW: u16 = 8;
/// No node: the end of a list.
const NONE: u16 = u16::MAX;

const _: () = assert!(MAX_NODES < NONE as usize);

/// A move from the start position on, which games have played.
struct Node {
    san: San,
    ply: Ply,
    first_child: u16,
    next_sibling: u16,
    visits: u16,
}

/// The place of a position in the tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place(u16);

/// The tree of beginnings, from the start position.
pub(super) struct Tree {
    start: Position,
    nodes: Vec<Node>,
    /// The positions of the nodes.
    positions: Vec<Replay>,
}

impl Tree {
    /// The place of the start position.
    pub const ROOT: Place = Place(0);

    pub fn new() -> Self {
        let start = Position::start();
        let position = Replay::from(&start);
        // Nobody looks at the root's move.
        let mv = Move::new(crate::position::Square::A1, crate::position::Square::A2);
        let root = Node {
            san: San::Null,
            ply: Ply::new(mv, &position),
            first_child: NONE,
            next_sibling: NONE,
            visits: 0,
        };
        Tree { start, nodes: vec![root], positions: vec![position] }
    }

    /// The start position.
    pub fn start(&self) -> &Position {
        &self.start
    }

    #[inline]
    pub fn position(&self, place: Place) -> &Replay {
        &self.positions[usize::from(place.0)]
    }

    /// The move that led to a place.
    #[inline]
    pub fn ply(&self, place: Place) -> &Ply {
        &self.nodes[usize::from(place.0)].ply
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

    /// Remembers a move and where it leads, if that is worth it and there is room.
    #[inline]
    pub fn grow(&mut self, place: Place, san: San, ply: &Ply, after: &Replay) -> Option<Place> {
        let number = self.nodes.len() as u16;
        let parent = &mut self.nodes[usize::from(place.0)];
        parent.visits = parent.visits.saturating_add(1);
        if parent.visits < VISITS_TO_GROW || usize::from(number) >= MAX_NODES {
            return None;
        }
        // At the end of the list: what is played often is seen first, and shall be found first.
        if parent.first_child == NONE {
            parent.first_child = number;
        } else {
            let mut last = usize::from(parent.first_child);
            while self.nodes[last].next_sibling != NONE {
                last = usize::from(self.nodes[last].next_sibling);
            }
            self.nodes[last].next_sibling = number;
        }
        let (first_child, next_sibling, visits) = (NONE, NONE, 0);
        self.nodes.push(Node { san, ply: *ply, first_child, next_sibling, visits });
        self.positions.push(*after);
        Some(Place(number))
    }
}
