//! Lists of the games that reached each position of a book, grouped by the move played there.
//!
//! ```text
//! for each entry of the book, in the same order:
//!   if only one game reached the position, and the entry has at most one move:
//!     game     the game's number, in as few bytes as the number of games requires
//!   otherwise:
//!     length   varint: number of bytes that follow
//!     head     varint: twice the number of games in the first list, plus 1 if a game is in several
//!              lists
//!     lists    first the games without any of the entry's moves, then one list for each of
//!              its moves, with as many games as the entry counts for the move; each list consists
//!              of varints: the first game's number, and then, for each further game, how many
//!              numbers are skipped before it
//! ```
//! The index has a 16-byte row for each group of [`STEP`] entries: the key of the first entry, and
//! the offset of its lists. A lookup starts at such a row and reads the entries and their lists in
//! parallel.

use crate::games::book::facets::number_bytes;
use crate::games::book::format::entry::BookEntry;
use crate::games::book::format::entry::{RawEntry, fill_in_length, push_varint, take_varint};

pub(in crate::games::book) const STEP: usize = 32;
const ROW_BYTES: usize = 16;

/// Whether an entry's lists are encoded as a single game number.
fn is_single(entry: &BookEntry) -> bool {
    entry.reached.games() == 1 && entry.moves.len() <= 1
}

/// Appends the encoded lists of games for an entry to `out`. `games` contains pairs of a list index
/// and a game number, in sorted order. The list index is the 1-based index of the move played in
/// the game, or 0 if none of the entry's moves was played. `all` is the number of games in the
/// book.
pub(in crate::games::book) fn encode_lists(
    entry: &BookEntry,
    games: impl Iterator<Item = (usize, u32)> + Clone,
    all: u32,
    out: &mut Vec<u8>,
) {
    if is_single(entry) {
        let game = games.clone().next().map_or(0, |(_, game)| game);
        out.extend_from_slice(&game.to_le_bytes()[..number_bytes(all)]);
        return;
    }
    let start = out.len();
    // Reserve one byte for the length of the lists, which is enough for nearly all entries.
    out.push(0);
    let (mut total, mut without_move) = (0_u64, 0_u64);
    for (list, _) in games.clone() {
        total += 1;
        without_move += u64::from(list == 0);
    }
    let repeats = total > entry.reached.games();
    push_varint(out, without_move << 1 | u64::from(repeats));
    let mut last: Option<(usize, u32)> = None;
    for (list, game) in games {
        let gap = match last {
            Some((same, before)) if same == list => game.wrapping_sub(before).wrapping_sub(1),
            _ => game,
        };
        push_varint(out, gap.into());
        last = Some((list, game));
    }
    fill_in_length(out, start);
}

#[derive(Debug, Clone, Copy)]
pub(in crate::games::book) enum Lists<'a> {
    /// The number of the only game. It belongs to the list of the entry's move, if the entry has
    /// one.
    Single(u32),
    Several(&'a [u8]),
}

impl<'a> Lists<'a> {
    pub(in crate::games::book) fn split(
        bytes: &'a [u8],
        entry: &BookEntry,
        all: u32,
    ) -> Option<(Self, &'a [u8])> {
        if is_single(entry) {
            let (number, rest) = bytes.split_at_checked(number_bytes(all))?;
            let game = number.iter().rev().fold(0, |game, &byte| game << 8 | u32::from(byte));
            return Some((Lists::Single(game), rest));
        }
        let (length, rest) = take_varint(bytes)?;
        let (lists, rest) = rest.split_at_checked(usize::try_from(length).ok()?)?;
        Some((Lists::Several(lists), rest))
    }

    pub(in crate::games::book) fn repeats(&self) -> bool {
        match self {
            Lists::Single(_) => false,
            Lists::Several(bytes) => take_varint(bytes).is_none_or(|(head, _)| head & 1 == 1),
        }
    }

    /// Passes each game to `take`, along with the index of its list (see [`encode_lists`]). Lists
    /// are read in order, and the games of a list in ascending order. Stops and returns `None` if
    /// the bytes are invalid.
    #[inline]
    pub(in crate::games::book) fn read(
        &self,
        entry: &BookEntry,
        all: u32,
        mut take: impl FnMut(usize, u32),
    ) -> Option<()> {
        let bytes = match *self {
            Lists::Single(game) => {
                take(entry.moves.len(), game);
                return (game < all).then_some(());
            }
            Lists::Several(bytes) => bytes,
        };
        let (head, mut rest) = take_varint(bytes)?;
        let played = entry.moves.iter().map(|(_, played)| played.games());
        for (list, games) in std::iter::once(head >> 1).chain(played).enumerate() {
            let mut next = 0_u64;
            for _ in 0..games {
                let (gap, tail) = take_varint(rest)?;
                let game = next.checked_add(gap).filter(|&game| game < all.into())?;
                take(list, game as u32);
                next = game + 1;
                rest = tail;
            }
        }
        rest.is_empty().then_some(())
    }
}

#[derive(Clone, Copy)]
pub(in crate::games::book) struct ListIndex<'a>(&'a [[u8; ROW_BYTES]]);

impl<'a> ListIndex<'a> {
    pub(in crate::games::book) fn new(bytes: &'a [u8]) -> Self {
        ListIndex(bytes.as_chunks().0)
    }

    pub(in crate::games::book) fn row(key: u64, start: u64) -> [u8; ROW_BYTES] {
        let mut row = [0; ROW_BYTES];
        row[..8].copy_from_slice(&key.to_le_bytes());
        row[8..].copy_from_slice(&start.to_le_bytes());
        row
    }

    /// Finds the last row whose key is at most `key`. Returns its key and the offset of its lists.
    pub(in crate::games::book) fn find(&self, key: u64) -> Option<(u64, u64)> {
        let at = self.0.partition_point(|row| decode(row).0 <= key).checked_sub(1)?;
        self.0.get(at).map(decode)
    }

    pub(in crate::games::book) fn rows(&self) -> impl Iterator<Item = (u64, u64)> + 'a {
        self.0.iter().map(decode)
    }
}

fn decode(row: &[u8; ROW_BYTES]) -> (u64, u64) {
    let word = |at: usize| {
        let mut word = [0; 8];
        word.copy_from_slice(&row[at..at + 8]);
        u64::from_le_bytes(word)
    };
    (word(0), word(8))
}

pub(in crate::games::book) struct SideBySide<'a> {
    pub entries: &'a [u8],
    pub lists: &'a [u8],
    pub games: u32,
}

impl<'a> SideBySide<'a> {
    /// Decodes the next entry into `entry` and returns its lists of games. Returns `None` at the
    /// end or if the data is invalid.
    pub(in crate::games::book) fn next(&mut self, entry: &mut BookEntry) -> Option<Lists<'a>> {
        let raw = RawEntry::split(self.entries)?;
        entry.decode_raw(&raw)?;
        let (lists, rest) = Lists::split(self.lists, entry, self.games)?;
        (self.entries, self.lists) = (raw.rest, rest);
        Some(lists)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::collection::{btree_set, vec};
    use proptest::prelude::*;

    use super::*;
    use crate::chess::position::Move;
    use crate::games::book::format::counts::Counts;

    fn entry(lists: &[BTreeSet<u32>]) -> BookEntry {
        let moves = ["a2a3", "b2b3", "c2c3", "d2d3"].map(|mv| mv.parse::<Move>().expect("a move"));
        let counts = |games: usize| Counts::new(games as u32, 0, 0);
        let all: BTreeSet<u32> = lists.iter().flatten().copied().collect();
        let played = moves.iter().zip(&lists[1..]);
        let played = played.map(|(mv, games)| (*mv, counts(games.len())));
        BookEntry { key: 5, reached: counts(all.len()), moves: played.collect() }
    }

    proptest! {
        #[test]
        fn lists_round_trip(
            lists in vec(btree_set(0_u32..100_000, 0..40), 1..5),
            tail in any::<[u8; 3]>(),
        ) {
            let entry = entry(&lists);
            let games = || lists.iter().enumerate().flat_map(|(list, games)| games.iter().map(move |&game| (list, game)));
            prop_assume!(entry.reached.games() > 0);
            let mut bytes = Vec::new();
            encode_lists(&entry, games(), 100_000, &mut bytes);
            bytes.extend_from_slice(&tail);
            let (split, rest) = Lists::split(&bytes, &entry, 100_000).expect("lists");
            prop_assert_eq!(rest, &tail[..]);
            let repeats = games().count() as u64 > entry.reached.games();
            prop_assert_eq!(split.repeats(), repeats);
            let mut read = Vec::new();
            prop_assert_eq!(split.read(&entry, 100_000, |list, game| read.push((list, game))), Some(()));
            if entry.reached.games() > 1 {
                prop_assert_eq!(read, games().collect::<Vec<_>>());
            } else {
                prop_assert_eq!(read[0].1, games().next().expect("a game").1);
            }
        }

        #[test]
        fn arbitrary_bytes_do_not_panic(bytes in vec(any::<u8>(), 0..60), games in 0_u32..300) {
            let lists = [BTreeSet::from([1, 2]), BTreeSet::from([1, 7, 8]), BTreeSet::new()];
            let entry = entry(&lists);
            if let Some((lists, _)) = Lists::split(&bytes, &entry, games) {
                let _ = (lists.repeats(), lists.read(&entry, games, |_, game| assert!(game < games)));
            }
            let _ = ListIndex::new(&bytes).find(7);
        }

        #[test]
        fn index_finds_the_last_row_not_after_a_key(keys in btree_set(any::<u64>(), 0..50), wanted in any::<u64>()) {
            let rows: Vec<u8> = keys.iter().flat_map(|&key| ListIndex::row(key, !key)).collect();
            let expected = keys.range(..=wanted).next_back().map(|&key| (key, !key));
            prop_assert_eq!(ListIndex::new(&rows).find(wanted), expected);
        }
    }

    #[test]
    fn list_of_one_game_takes_one_number() {
        let entry = entry(&[BTreeSet::new(), BTreeSet::from([40_000])]);
        let mut bytes = Vec::new();
        encode_lists(&entry, [(1, 40_000)].into_iter(), 50_000, &mut bytes);
        assert_eq!(bytes, 40_000_u16.to_le_bytes());
    }
}
