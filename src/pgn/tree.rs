//! The first moves of the games read so far.
//!
//! Games share their openings. A reader that remembers the beginnings it has seen often as a tree
//! need not resolve and play those moves again.

use super::GamePly;
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
    ply: GamePly,
    child: Place,
}

/// The place of a position in the tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place(u16);

/// The tree of beginnings, from the start position.
pub(super) struct Tree {
    start: Position,
    /// The moves by [`Word::key`].
    branches: KeyMap<Branch>,
    /// Games that left the tree in each place, until there were enough of them.
    visits: Vec<u16>,
    /// The positions of the places.
    positions: Vec<Replay>,
}

impl Tree {
    /// The place of the start position.
    pub(super) const ROOT: Place = Place(0);

    pub(super) fn new() -> Self {
        let start = Position::start();
        let position = Replay::from(&start);
        Tree { start, branches: KeyMap::default(), visits: vec![0], positions: vec![position] }
    }

    /// The start position.
    pub(super) fn start(&self) -> &Position {
        &self.start
    }

    #[inline]
    pub(super) fn position(&self, place: Place) -> &Replay {
        &self.positions[usize::from(place.0)]
    }

    /// A move that was seen before, and where it leads.
    #[inline]
    pub(super) fn follow(&self, place: Place, word: Word) -> Option<(Place, GamePly)> {
        self.branches.get(&word.key(place)).map(|branch| (branch.child, branch.ply))
    }

    /// Remembers a move and where it leads, if that is worth it and there is room.
    #[inline]
    pub(super) fn grow(
        &mut self,
        place: Place,
        word: Word,
        ply: &GamePly,
        after: &Replay,
    ) -> Option<Place> {
        let number = self.positions.len();
        let visits = &mut self.visits[usize::from(place.0)];
        *visits = visits.saturating_add(1);
        if *visits < VISITS_TO_GROW || number >= MAX_PLACES {
            return None;
        }
        let child = Place(number as u16);
        self.branches.insert(word.key(place), Branch { ply: *ply, child });
        self.visits.push(0);
        self.positions.push(*after);
        Some(child)
    }
}

/// A move as it is written, in English letters, without its sign of check or mate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Word(u64);

impl Word {
    /// Bytes of the longest word. With the number of a place they make a key that is theirs alone.
    const LONGEST: usize = (u64::BITS / 8) as usize - size_of::<Place>();

    /// The word of so many bytes at a place of a text; `None` if it is too long.
    #[inline]
    pub(super) fn at(text: &[u8], at: usize, length: usize) -> Option<Self> {
        if length > Self::LONGEST {
            return None;
        }
        let word = match text[at..].first_chunk() {
            // To read eight bytes and to forget some is faster than to copy so many.
            Some(bytes) => u64::from_le_bytes(*bytes) & ((1 << (8 * length)) - 1),
            None => {
                let mut bytes = [0; 8];
                bytes[..length].copy_from_slice(&text[at..at + length]);
                u64::from_le_bytes(bytes)
            }
        };
        Some(Word(word))
    }

    /// A number for a move in a place, each pair its own, that is spread well enough for a hash.
    #[inline]
    fn key(self, place: Place) -> u64 {
        // To multiply by an odd number and to rotate loses nothing (fibonacci hashing, see D. Knuth,
        // "The Art of Computer Programming", vol. 3, section 6.4).
        let step = self.0 << u16::BITS | u64::from(place.0);
        step.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(32)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn no_two_steps_share_a_key() {
        let mut keys = HashSet::new();
        let mut texts = HashSet::new();
        for piece in ["", "N", "B", "R", "Q", "K"] {
            for origin in ["", "a", "h", "1", "8", "a1", "h8", "b7"] {
                for target in ["a1", "h8", "c7", "xa1", "xh8", "xc7"] {
                    for promotion in ["", "=N", "=Q", "=K"] {
                        texts.insert(format!("{piece}{origin}{target}{promotion}"));
                    }
                }
            }
        }
        texts.extend(["O-O", "O-O-O", "--", "♘f3"].map(str::to_owned));
        texts.retain(|text| text.len() <= Word::LONGEST);
        for text in &texts {
            for padding in ["", " and more"] {
                let padded = format!("{text}{padding}");
                let word = Word::at(padded.as_bytes(), 0, text.len()).expect(text);
                for place in [0, 1, 0x8000, 0xffff] {
                    let is_new = keys.insert(word.key(Place(place)));
                    assert_eq!(is_new, padding.is_empty(), "{text}");
                }
            }
        }
        assert_eq!(keys.len(), 4 * texts.len());
        assert_eq!(Word::at(b"exd8=Q+ ", 0, 7), None);
    }
}
