//! A cache of the opening moves of earlier games, stored as a tree. Moves that are found in the
//! cache need not be parsed and played again.

use shakmaty::san::San;
use shakmaty::{CastlingSide, Role};

use super::GamePly;
use crate::chess::position::{KeyMap, Position, Replay};

/// The maximum number of places (nodes) in the tree. This many take up 0.3 MB, which fits into the
/// L2 cache. A larger tree would not be faster, because loading a place from main memory takes as
/// long as playing the move.
const MAX_PLACES: usize = 1 << 12;
/// A branch is added at a place after this many games have left the tree there. This prevents the
/// first few games from filling the tree.
const VISITS_TO_GROW: u16 = 8;

const _: () = assert!(MAX_PLACES <= 1 << u16::BITS);

/// A move and the place that it leads to. They are stored together, so that a look-up waits for
/// memory only once.
struct Branch {
    ply: GamePly,
    child: Place,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place(u16);

pub(crate) struct OpeningCache {
    start: Position,
    /// Maps [`Word::key`] to branches.
    branches: KeyMap<Branch>,
    /// For each place, the number of games that left the tree there. A branch is added after
    /// `VISITS_TO_GROW` games.
    visits: Vec<u16>,
    positions: Vec<Replay>,
}

impl Default for OpeningCache {
    fn default() -> Self {
        let start = Position::start();
        let positions = vec![Replay::from(&start)];
        OpeningCache { start, branches: KeyMap::default(), visits: vec![0], positions }
    }
}

impl OpeningCache {
    pub(super) const ROOT: Place = Place(0);

    pub(super) fn start(&self) -> &Position {
        &self.start
    }

    #[inline]
    pub(super) fn position(&self, place: Place) -> &Replay {
        &self.positions[usize::from(place.0)]
    }

    #[inline]
    pub(super) fn follow(&self, place: Place, word: Word) -> Option<(Place, GamePly)> {
        self.branches.get(&word.key(place)?).map(|branch| (branch.child, branch.ply))
    }

    /// Adds a branch for a move and the position after it, if the tree is not full and enough games
    /// have left the tree at this place.
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
        self.branches.insert(word.key(place)?, Branch { ply: *ply, child });
        self.visits.push(0);
        self.positions.push(*after);
        Some(child)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Word {
    /// The characters of the move, one per byte, with the first character in the lowest byte.
    letters: u64,
    bits: u32,
}

impl Word {
    /// The maximum length of a stored word in bits. A word of this length and the index of a place
    /// fit in a 64-bit key.
    const LONGEST: u32 = u64::BITS - u16::BITS;

    #[inline]
    pub(super) fn of(san: San) -> Option<Self> {
        let mut word = Word { letters: 0, bits: 0 };
        let mut push = |letter: char| {
            word.letters |= u64::from(letter) << word.bits;
            word.bits += u8::BITS;
        };
        match san {
            San::Normal { role, file, rank, capture, to, promotion } => {
                if role != Role::Pawn {
                    push(role.upper_char());
                }
                file.into_iter().for_each(|file| push(file.char()));
                rank.into_iter().for_each(|rank| push(rank.char()));
                capture.then_some('x').into_iter().for_each(&mut push);
                push(to.file().char());
                push(to.rank().char());
                if let Some(role) = promotion {
                    push('=');
                    push(role.upper_char());
                }
            }
            San::Castle(CastlingSide::KingSide) => "O-O".chars().for_each(push),
            San::Castle(CastlingSide::QueenSide) => "O-O-O".chars().for_each(push),
            San::Put { .. } | San::Null => return None,
        }
        Some(word)
    }

    #[inline]
    pub(super) fn between(text: &[u8], at: usize, end: usize) -> Option<Self> {
        let bits = u8::BITS * (end - at) as u32;
        let letters = u64::from_le_bytes(*text[at..].first_chunk()?);
        (bits <= Self::LONGEST).then(|| Word { letters: letters & ((1 << bits) - 1), bits })
    }

    #[inline]
    pub(super) fn end(self, text: &[u8], at: usize) -> Option<usize> {
        let length = (self.bits / u8::BITS) as usize;
        let stands = match text[at..].first_chunk() {
            // Reading eight bytes and discarding the excess ones is faster than comparing a
            // variable number of bytes.
            Some(next) => {
                (u64::from_le_bytes(*next) ^ self.letters) << (u64::BITS - self.bits) == 0
            }
            None => text[at..].starts_with(&self.letters.to_le_bytes()[..length]),
        };
        stands.then_some(at + length)
    }

    /// Returns a key that is unique for each pair of move and place. The keys are distributed well
    /// enough to be used as hashes.
    #[inline]
    fn key(self, place: Place) -> Option<u64> {
        // Multiplication by an odd number and rotation are both reversible, so the key remains
        // unique (Fibonacci hashing, see D. Knuth, "The Art of Computer Programming", vol. 3,
        // section 6.4).
        let step = self.letters << u16::BITS | u64::from(place.0);
        (self.bits <= Self::LONGEST)
            .then(|| step.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(32))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn word_matches_its_san() {
        for text in [
            "e4", "exd5", "e8=Q", "dxe8=N", "Nf3", "Nbd7", "N1xd7", "Ra1a8", "Na1xa1=Q", "O-O",
            "O-O-O",
        ] {
            let word = Word::of(text.parse().expect(text)).expect("a move");
            for padding in ["", "+ and more", " "] {
                let padded = format!("{text}{padding}");
                assert_eq!(word.end(padded.as_bytes(), 0), Some(text.len()), "{padded}");
                assert_eq!(word.end(&padded.as_bytes()[1..], 0), None, "{padded}");
                let read = Word::between(format!("{padded}        ").as_bytes(), 0, text.len());
                assert_eq!(read, Some(word).filter(|_| text.len() <= 6), "{padded}");
            }
            assert_eq!(word.end(&text.as_bytes()[..text.len() - 1], 0), None, "{text}");
            let keys = [0, 1, 0x8000, 0xffff].map(|place| word.key(Place(place)));
            let distinct = keys.iter().flatten().collect::<HashSet<_>>().len();
            assert_eq!(distinct, if text.len() > 6 { 0 } else { keys.len() }, "{text}");
        }
    }
}
