//! Records of positions, moves and results: what is sorted and grouped into a book.

use crate::book::{Counts, Entry};
use crate::pgn::GameResult;
use crate::position::Move;

/// That a position was reached in some games with one result, and left by one move or none.
///
/// Sixteen bytes that sort as two numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Record {
    key: u64,
    /// From the top: move (16 bits, 0 for none), result (16), number of games (32).
    rest: u64,
}

/// Set in `rest` if the games had been in the position before and now left it by another move.
const AGAIN: u64 = 1 << 47;

const _: () = assert!(size_of::<Record>() == 16);

/// The results by their number in a record.
const RESULTS: [GameResult; 4] =
    [GameResult::White, GameResult::Draw, GameResult::Black, GameResult::Undecided];

impl Record {
    #[inline]
    pub fn new(key: u64, mv: Option<Move>, result: GameResult) -> Self {
        let word = mv.map_or(0, Move::to_polyglot);
        Record { key, rest: u64::from(word) << 48 | (result as u64) << 32 | 1 }
    }

    /// A position that came back in the same game.
    #[inline]
    pub fn again(key: u64, mv: Option<Move>, result: GameResult) -> Self {
        let first = Self::new(key, mv, result);
        Record { rest: first.rest | AGAIN, ..first }
    }

    #[inline]
    fn mv(&self) -> Option<Move> {
        Move::from_polyglot((self.rest >> 48) as u16)
    }

    #[inline]
    fn counts(&self) -> Counts {
        Counts::of(RESULTS[(self.rest >> 32 & 3) as usize], self.rest as u32)
    }
}

/// Sorts records and hands over an entry for each position, by ascending key.
pub(super) fn group(records: &mut [Record], mut take: impl FnMut(&Entry)) {
    records.sort_unstable();
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
            match (record.mv(), entry.moves.last_mut()) {
                (Some(mv), Some((last, played))) if *last == mv => *played += counts,
                (Some(mv), _) => entry.moves.push((mv, counts)),
                (None, _) => {}
            }
        }
        take(&entry);
    }
}
