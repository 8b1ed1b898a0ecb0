//! A position in a book, and its encoding.
//!
//! ```text
//! key          8 bytes, little-endian
//! length       varint: number of bytes that follow
//! reached      counts
//! for each move, sorted by the two-byte code:
//!   move       2 bytes, little-endian, as in Polyglot books but castling as e1g1
//!   played     counts
//! ```
//! Counts begin with a byte. Each of its low four bits shows whether one of the counts (white,
//! draws, black, undecided) is nonzero. If only one bit is set and that count is below 16, the high
//! four bits contain the count. Otherwise the high bits are zero, and a varint follows for each set
//! bit. Nine out of ten positions in a book occurred in a single game.
//!
//! Varints are LEB128: seven bits per byte, lowest first; the high bit marks all but the last byte.

use super::counts::Counts;
use crate::chess::position::{Move, Position};

const KEY_BYTES: usize = 8;

/// A position stored in a book.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BookEntry {
    /// The position's key (see [`crate::chess::position::Position::key`]).
    pub key: u64,
    /// The results of all games that reached the position, by any move order.
    pub reached: Counts,
    /// The moves played from this position and the results of the games in which they were played,
    /// sorted by move.
    pub moves: Vec<(Move, Counts)>,
}

impl BookEntry {
    /// Appends a move. If it is the same as the last move in the list, adds the counts to that move
    /// instead.
    #[inline]
    pub(crate) fn add_move(&mut self, mv: Move, played: Counts) {
        match self.moves.last_mut() {
            Some(last) if last.0 == mv => last.1 += played,
            _ => self.moves.push((mv, played)),
        }
    }

    /// Iterates over the moves of the entry that are legal in `position`. All of them are, unless
    /// the entry belongs to another position with the same key or the book is damaged.
    pub fn legal_moves<'a>(
        &'a self,
        position: &'a Position,
    ) -> impl Iterator<Item = (Move, Counts)> + 'a {
        self.moves.iter().copied().filter(|&(mv, _)| position.is_legal(mv))
    }

    pub(crate) fn join_moves(&mut self) {
        if self.moves.len() < 2 {
            return;
        }
        self.moves.sort_unstable_by_key(|&(mv, _)| mv);
        self.moves.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            if same {
                kept.1 += next.1;
            }
            same
        });
    }

    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.key.to_le_bytes());
        let start = out.len();
        // Reserve one byte for the length of the entry, which is enough for nearly all entries.
        out.push(0);
        push_counts(out, &self.reached);
        for (mv, played) in &self.moves {
            out.extend_from_slice(&mv.to_polyglot().to_le_bytes());
            push_counts(out, played);
        }
        fill_in_length(out, start);
    }

    /// Decodes the first entry of `bytes` into `self` and returns the remaining bytes. Returns
    /// `None` if the entry is invalid.
    pub(crate) fn decode<'a>(&mut self, bytes: &'a [u8]) -> Option<&'a [u8]> {
        let raw = RawEntry::split(bytes)?;
        self.decode_raw(&raw)?;
        Some(raw.rest)
    }

    /// Decodes an entry that has already been split from the data after it. Returns `None` if the
    /// entry is invalid.
    pub(crate) fn decode_raw(&mut self, raw: &RawEntry<'_>) -> Option<()> {
        self.key = raw.key;
        let (reached, mut rest) = take_counts(raw.body)?;
        self.reached = reached;
        self.moves.clear();
        while let Some((word, tail)) = rest.split_first_chunk::<2>() {
            let (played, tail) = take_counts(tail)?;
            self.moves.push((Move::from_polyglot(u16::from_le_bytes(*word))?, played));
            rest = tail;
        }
        rest.is_empty().then_some(())
    }
}

pub(crate) struct RawEntry<'a> {
    pub key: u64,
    pub body: &'a [u8],
    pub rest: &'a [u8],
}

impl<'a> RawEntry<'a> {
    #[inline]
    pub(crate) fn split(bytes: &'a [u8]) -> Option<Self> {
        let (key, rest) = bytes.split_first_chunk::<KEY_BYTES>()?;
        let (length, rest) = take_varint(rest)?;
        let (body, rest) = rest.split_at_checked(usize::try_from(length).ok()?)?;
        Some(RawEntry { key: u64::from_le_bytes(*key), body, rest })
    }

    #[inline]
    pub(crate) fn reached(&self) -> Option<Counts> {
        take_counts(self.body).map(|(counts, _)| counts)
    }
}

/// Mask for the bits of the first byte that show which of the four counts are nonzero.
const PRESENT: u8 = 0x0f;
const SMALL_SHIFT: u32 = 4;

#[inline]
fn push_counts(out: &mut Vec<u8>, counts: &Counts) {
    let values = [counts.white, counts.draws, counts.black, counts.undecided];
    let present = (0..4).fold(0, |mask, bit| mask | u8::from(values[bit] > 0) << bit);
    let sum = counts.games();
    if sum <= u64::from(PRESENT) && present.count_ones() <= 1 {
        out.push(present | (sum as u8) << SMALL_SHIFT);
        return;
    }
    out.push(present);
    values.iter().filter(|&&value| value > 0).for_each(|&value| push_varint(out, value.into()));
}

#[inline]
fn take_counts(bytes: &[u8]) -> Option<(Counts, &[u8])> {
    let (&head, mut rest) = bytes.split_first()?;
    let small = u32::from(head >> SMALL_SHIFT);
    let mut values = [0; 4];
    for (bit, value) in values.iter_mut().enumerate() {
        if head & PRESENT & 1 << bit == 0 {
            continue;
        }
        if small > 0 {
            *value = small;
        } else {
            let (number, tail) = take_varint(rest)?;
            *value = u32::try_from(number).ok()?;
            rest = tail;
        }
    }
    let [white, draws, black, undecided] = values;
    Some((Counts { white, draws, black, undecided }, rest))
}

pub(crate) fn push_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Fills in the length byte at `start` with the number of bytes after it. If the number does not
/// fit into one byte, replaces the byte with a longer varint.
#[inline]
pub(crate) fn fill_in_length(out: &mut Vec<u8>, start: usize) {
    let length = out.len() - start - 1;
    if length < 0x80 {
        out[start] = length as u8;
    } else {
        let mut prefix = Vec::new();
        push_varint(&mut prefix, length as u64);
        out.splice(start..=start, prefix);
    }
}

#[inline]
pub(crate) fn take_varint(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let (&first, rest) = bytes.split_first()?;
    if first < 0x80 {
        return Some((u64::from(first), rest));
    }
    let mut value = u64::from(first & 0x7f);
    for (index, &byte) in rest.iter().take(8).enumerate() {
        value |= u64::from(byte & 0x7f) << (7 * (index + 1));
        if byte < 0x80 {
            return Some((value, &rest[index + 1..]));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn any_counts() -> impl Strategy<Value = Counts> {
        let count = || prop_oneof![Just(0), 1_u32..20, any::<u32>()];
        (count(), count(), count(), count()).prop_map(|(white, draws, black, undecided)| Counts {
            white,
            draws,
            black,
            undecided,
        })
    }

    fn any_entry() -> impl Strategy<Value = BookEntry> {
        let word = (1_u16..0x5000).prop_filter_map("a move", Move::from_polyglot);
        let moves = proptest::collection::vec((word, any_counts()), 0..9);
        (any::<u64>(), any_counts(), moves).prop_map(|(key, reached, moves)| BookEntry {
            key,
            reached,
            moves,
        })
    }

    proptest! {
        #[test]
        fn entry_round_trips(entry in any_entry(), tail in any::<[u8; 3]>()) {
            let (mut bytes, mut read) = (Vec::new(), BookEntry::default());
            entry.encode(&mut bytes);
            bytes.extend_from_slice(&tail);
            prop_assert_eq!(read.decode(&bytes), Some(&tail[..]));
            prop_assert_eq!(RawEntry::split(&bytes).and_then(|raw| raw.reached()), Some(entry.reached));
            prop_assert_eq!(read, entry);
        }

        #[test]
        fn arbitrary_bytes_do_not_panic(bytes in proptest::collection::vec(any::<u8>(), 0..80)) {
            let _ = BookEntry::default().decode(&bytes);
        }
    }

    #[test]
    fn entry_of_one_game_takes_thirteen_bytes() {
        let mv = "e2e4".parse().expect("a move");
        let once = Counts::new(1, 0, 0);
        let entry = BookEntry { key: 7, reached: once, moves: vec![(mv, once)] };
        let mut bytes = Vec::new();
        entry.encode(&mut bytes);
        assert_eq!(bytes.len(), 13);
    }
}
