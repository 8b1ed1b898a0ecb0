//! The first moves of the games read so far.
//!
//! Games share their openings. A reader that remembers the beginnings it has seen often as a tree
//! need not resolve and play those moves again.

use shakmaty::CastlingSide;
use shakmaty::san::San;

use super::Ply;
use crate::position::{KeyMap, Position, Replay};

/// Places of the tree: 0.3 MB, which a second-level cache holds, and 0.7 MB for the positions, which
/// are only looked at where a game leaves the tree. A larger tree gains nothing: to wait for the
/// memory takes as long as to resolve and play the move.
const MAX_PLACES: usize = 1 << 12;
/// A position gets children once so many games have come through it: else the tree would be full
/// of what the very first games played.
const VISITS_TO_GROW: u16 = 8;

const _: () = assert!(MAX_PLACES <= 1 << u16::BITS);

/// A move that games have played in a place, and where it leads. Both stand together, so that a
/// look-up waits for the memory once.
struct Branch {
    ply: Ply,
    child: Place,
}

/// The place of a position in the tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place(u16);

/// The tree of beginnings, from the start position.
pub(super) struct Tree {
    start: Position,
    /// The moves by [`step_key`].
    branches: KeyMap<Branch>,
    /// Games that left the tree in each place, until there were enough of them.
    visits: Vec<u16>,
    /// The positions of the places.
    positions: Vec<Replay>,
}

impl Tree {
    /// The place of the start position.
    pub const ROOT: Place = Place(0);

    pub fn new() -> Self {
        let start = Position::start();
        let position = Replay::from(&start);
        Tree { start, branches: KeyMap::default(), visits: vec![0], positions: vec![position] }
    }

    /// The start position.
    pub fn start(&self) -> &Position {
        &self.start
    }

    #[inline]
    pub fn position(&self, place: Place) -> &Replay {
        &self.positions[usize::from(place.0)]
    }

    /// A move that was seen before, and where it leads.
    #[inline]
    pub fn follow(&self, place: Place, san: San) -> Option<(Place, Ply)> {
        self.branches.get(&step_key(place, san)).map(|branch| (branch.child, branch.ply))
    }

    /// Remembers a move and where it leads, if that is worth it and there is room.
    #[inline]
    pub fn grow(&mut self, place: Place, san: San, ply: &Ply, after: &Replay) -> Option<Place> {
        let number = self.positions.len();
        let visits = &mut self.visits[usize::from(place.0)];
        *visits = visits.saturating_add(1);
        if *visits < VISITS_TO_GROW || number >= MAX_PLACES {
            return None;
        }
        let child = Place(number as u16);
        self.branches.insert(step_key(place, san), Branch { ply: *ply, child });
        self.visits.push(0);
        self.positions.push(*after);
        Some(child)
    }
}

/// A number for a move in a place, each pair its own, that is spread well enough for a hash.
#[inline]
fn step_key(place: Place, san: San) -> u64 {
    let word = match san {
        San::Normal { role, file, rank, capture, to, promotion } => {
            let file = file.map_or(0, |file| file as u64 + 1);
            let rank = rank.map_or(0, |rank| rank as u64 + 1);
            let promotion = promotion.map_or(0, |role| role as u64);
            let origin = (role as u64) << 8 | file << 4 | rank;
            origin << 10 | u64::from(capture) << 9 | promotion << 6 | to as u64
        }
        // No man has the number 0.
        San::Castle(CastlingSide::KingSide) => 1,
        San::Castle(CastlingSide::QueenSide) => 2,
        San::Null => 3,
        San::Put { role, to } => 4 + ((role as u64) << 6 | to as u64),
    };
    // To multiply by an odd number and to rotate loses nothing (fibonacci hashing, see D. Knuth,
    // "The Art of Computer Programming", vol. 3, section 6.4).
    let step = word << u16::BITS | u64::from(place.0);
    step.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(32)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn no_two_steps_share_a_key() {
        let mut keys = HashSet::new();
        let mut texts = HashSet::new();
        for man in ["", "N", "B", "R", "Q", "K"] {
            for origin in ["", "a", "h", "1", "8", "a1", "h8", "b7"] {
                for target in ["a1", "h8", "c7", "xa1", "xh8", "xc7"] {
                    for promotion in ["", "=N", "=Q", "=K"] {
                        texts.insert(format!("{man}{origin}{target}{promotion}"));
                    }
                }
            }
        }
        texts.extend(["O-O", "O-O-O", "--", "N@a1", "Q@h8", "@c7"].map(str::to_owned));
        for text in &texts {
            let san = San::from_ascii(text.as_bytes()).expect(text);
            for place in [0, 1, 0x8000, 0xffff] {
                assert!(keys.insert(step_key(Place(place), san)), "{text}");
            }
        }
        assert_eq!(keys.len(), 4 * texts.len());
    }
}
