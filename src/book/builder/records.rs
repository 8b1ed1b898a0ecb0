//! Records of positions, moves and results: what is sorted and grouped into a book.

use crate::book::{Counts, Entry};
use crate::pgn::GameResult;
use crate::position::{Color, Move};

/// That a position was reached in some games with one result, and left by one move or none.
///
/// Sixteen bytes that sort as two numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Record {
    key: u64,
    /// From the top: move (16 bits, 0 for none; the highest is [`AGAIN`]), [`BLACK_TO_MOVE`] and
    /// result (16), number of games (32).
    rest: u64,
}

const _: () = assert!(size_of::<Record>() == RECORD_BYTES);

/// The size of a record in memory and in a spilled run.
pub(super) const RECORD_BYTES: usize = 16;
/// The partitions of records, by the top bits of the key, as a power of two. Sixteen million
/// records, from 250 MB of games, make partitions that fit into a second-level cache.
const PARTITION_BITS: u32 = 8;
/// The number of partitions.
pub(super) const PARTITIONS: usize = 1 << PARTITION_BITS;
/// Set in `rest` if the games had been in the position before and now left it by another move.
const AGAIN: u64 = 1 << 63;
/// Set in `rest` if Black is to move.
const BLACK_TO_MOVE: u64 = 1 << 34;
/// The results by their number in a record.
const RESULTS: [GameResult; 4] =
    [GameResult::White, GameResult::Draw, GameResult::Black, GameResult::Undecided];

impl Record {
    /// No game at all. Every other record counts at least one.
    pub const EMPTY: Record = Record { key: 0, rest: 0 };

    /// One game.
    #[inline]
    pub fn new(key: u64, side: Color, mv: Option<Move>, result: GameResult) -> Self {
        let word = mv.map_or(0, Move::to_polyglot);
        let side = if side == Color::Black { BLACK_TO_MOVE } else { 0 };
        Record { key, rest: u64::from(word) << 48 | side | (result as u64) << 32 | 1 }
    }

    /// A position that came back in the same game.
    #[inline]
    pub fn again(key: u64, side: Color, mv: Option<Move>, result: GameResult) -> Self {
        let first = Self::new(key, side, mv, result);
        Record { rest: first.rest | AGAIN, ..first }
    }

    /// What records are sorted by: as one number, they compare without a branch.
    #[inline]
    fn rank(&self) -> u128 {
        u128::from(self.key) << 64 | u128::from(self.rest)
    }

    /// The partition that the record belongs to. Partitions follow each other in the order of the
    /// keys.
    #[inline]
    pub fn partition(&self) -> usize {
        (self.key >> (64 - PARTITION_BITS)) as usize
    }

    /// A slot for the record among `2^bits`.
    #[inline]
    pub fn slot(&self, bits: u32) -> usize {
        // The key alone would put all moves of a position into one slot.
        let mixed = self.key ^ (self.rest >> 32).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (mixed >> (64 - bits)) as usize
    }

    /// Whether both are the same position, move and result.
    #[inline]
    pub fn is_like(&self, other: &Record) -> bool {
        self.key == other.key && self.rest >> 32 == other.rest >> 32
    }

    /// Adds the games of a record like this one; `false` if they are too many for one record.
    #[inline]
    pub fn absorb(&mut self, other: &Record) -> bool {
        let sum = u64::from(self.games()) + u64::from(other.games());
        let fits = sum <= u64::from(u32::MAX);
        if fits {
            self.rest += u64::from(other.games());
        }
        fits
    }

    #[inline]
    fn games(&self) -> u32 {
        self.rest as u32
    }

    #[inline]
    fn mv(&self) -> Option<Move> {
        Move::from_polyglot(((self.rest & !AGAIN) >> 48) as u16)
    }

    #[inline]
    fn counts(&self) -> Counts {
        Counts::of(RESULTS[(self.rest >> 32 & 3) as usize], self.games())
    }

    pub fn to_bytes(self) -> [u8; RECORD_BYTES] {
        self.rank().to_le_bytes()
    }

    pub fn from_bytes(bytes: [u8; RECORD_BYTES]) -> Self {
        let both = u128::from_le_bytes(bytes);
        Record { key: (both >> 64) as u64, rest: both as u64 }
    }
}

/// Sorts records and makes one of those that are alike.
pub(super) fn combine(records: &mut Vec<Record>) {
    records.sort_unstable_by_key(Record::rank);
    records.dedup_by(|next, kept| kept.is_like(next) && kept.absorb(next));
}

/// Sorts records and hands over an entry for each position, by ascending key, and who is to move.
pub(super) fn group(records: &mut [Record], mut take: impl FnMut(&mut Entry, Color)) {
    records.sort_unstable_by_key(Record::rank);
    let mut entry = Entry::default();
    for same_position in records.chunk_by(|a, b| a.key == b.key) {
        entry.key = same_position[0].key;
        entry.reached = Counts::default();
        entry.moves.clear();
        for record in same_position {
            let counts = record.counts();
            if record.rest & AGAIN == 0 {
                entry.reached += counts;
            }
            if let Some(mv) = record.mv() {
                entry.add_move(mv, counts);
            }
        }
        // Records are sorted by move, but for those of games that were here before.
        if same_position.last().is_some_and(|record| record.rest & AGAIN != 0) {
            entry.join_moves();
        }
        let black = same_position[0].rest & BLACK_TO_MOVE != 0;
        take(&mut entry, if black { Color::Black } else { Color::White });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mv(text: &str) -> Option<Move> {
        Some(text.parse().expect(text))
    }

    #[test]
    fn records_survive_their_bytes() {
        for record in [
            Record::new(u64::MAX, Color::White, mv("a7a8q"), GameResult::Undecided),
            Record::again(1, Color::White, mv("e2e4"), GameResult::White),
            Record::new(0, Color::Black, None, GameResult::Black),
        ] {
            assert_eq!(Record::from_bytes(record.to_bytes()), record);
        }
        assert_eq!(Record::again(1, Color::White, mv("e2e4"), GameResult::Draw).mv(), mv("e2e4"));
    }

    #[test]
    fn groups_add_up_whatever_the_order() {
        let records = [
            Record::new(5, Color::Black, mv("e2e4"), GameResult::White),
            Record::new(5, Color::Black, mv("d2d4"), GameResult::Draw),
            Record::again(5, Color::Black, mv("d2d4"), GameResult::White),
            Record::new(5, Color::Black, None, GameResult::Black),
            Record::new(5, Color::Black, mv("e2e4"), GameResult::White),
            Record::new(3, Color::White, mv("e2e4"), GameResult::Undecided),
        ];
        let mut combined = records.to_vec();
        combine(&mut combined);
        assert_eq!(combined.len(), 5);
        for mut records in [records.to_vec(), records.iter().rev().copied().collect(), combined] {
            let mut entries = Vec::new();
            let mut sides = Vec::new();
            group(&mut records, |entry, side| {
                entries.push(entry.clone());
                sides.push(side);
            });
            assert_eq!(sides, [Color::White, Color::Black]);
            assert_eq!(entries.iter().map(|entry| entry.key).collect::<Vec<_>>(), [3, 5]);
            assert_eq!(entries[1].reached, Counts::new(2, 1, 1));
            let d4 = (mv("d2d4").expect("a move"), Counts::new(1, 1, 0));
            let e4 = (mv("e2e4").expect("a move"), Counts::new(2, 0, 0));
            assert_eq!(entries[1].moves, [d4, e4]);
        }
    }
}
