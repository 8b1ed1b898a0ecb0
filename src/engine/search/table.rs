//! The transposition table, shared by all search threads without a lock.
//!
//! An entry consists of two atomic words: the data, and the XOR of key and data. If two threads
//! write an entry at the same time, the result looks like an entry for a different position.
//! Source: Hyatt and Mann, "A lockless transposition table implementation for parallel search
//! chess engines", ICGA Journal 25 (2002).
//!
//! ```text
//! data  63      56 55    50 49  48 47      32 31      16 15       0
//!       | depth   |  age  | bound |   eval  |  score   |  move    |
//! ```

use std::alloc::{Layout, handle_alloc_error};
#[cfg(not(feature = "loom"))]
use std::sync::atomic::{AtomicU8, Ordering};

#[cfg(feature = "loom")]
use loom::sync::atomic::{AtomicU8, Ordering};

use super::clusters::{Cluster, Clusters, ENTRIES_PER_CLUSTER};
use super::memory_limit::{STACK_SIZE, can_fill};
use super::report::Bound;
use crate::chess::position::{Move, Position};
use crate::chess::score::{Depth, Ply, Score, from_table, to_table};
use crate::support::prefetch::prefetch;

const MEGABYTE: usize = 1 << 20;
const AGE_BITS: u32 = 6;
const AGES: u8 = 1 << AGE_BITS;
/// When an entry is chosen for replacement, the depth of each candidate is reduced by this many
/// plies for every search since it was stored. Chosen by hand.
const AGE_WEIGHT: i32 = 4;
const HASH_FULL_SAMPLE: usize = 250;
/// Offset added when depths are packed, so that negative depths fit in an unsigned byte.
const DEPTH_OFFSET: Depth = 8;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TableEntry {
    /// The best move, or the move that failed high, if known.
    pub mv: Option<Move>,
    /// The score. Mate scores count plies from the root; the table converts them to plies from the
    /// node.
    pub score: Score,
    /// The uncorrected static evaluation, or [`NO_EVAL`] if the side to move is in check.
    pub eval: Score,
    /// Whether the score is exact or a bound on the true value.
    pub bound: Bound,
    /// Depth in plies to which the position was searched.
    pub depth: Depth,
}

pub(super) const NO_EVAL: Score = i16::MIN as Score;

pub(super) struct TranspositionTable {
    clusters: Clusters,
    age: AtomicU8,
}

impl TranspositionTable {
    /// Creates an empty table of at most `megabytes` mebibytes. The table is smaller if memory is
    /// short, but has at least one cluster.
    pub(super) fn new(megabytes: usize) -> Self {
        let mut size = megabytes;
        loop {
            match TranspositionTable::try_new(size) {
                Some(table) => return table,
                None if size == 0 => handle_alloc_error(Layout::new::<Cluster>()),
                None => size /= 2,
            }
        }
    }

    /// Creates an empty table of at most `megabytes` mebibytes, but with at least one cluster.
    /// Returns `None` if there is not enough memory. For a size of 0, available memory is not
    /// checked.
    pub(super) fn try_new(megabytes: usize) -> Option<Self> {
        let bytes = megabytes.checked_mul(MEGABYTE)?;
        let count = (bytes / size_of::<Cluster>()).max(1);
        if megabytes > 0 && !can_fill(room_for(megabytes)?) {
            return None;
        }
        let clusters = Clusters::new(count)?;
        Some(TranspositionTable { clusters, age: AtomicU8::new(0) })
    }

    pub(super) fn has_room(megabytes: usize) -> bool {
        megabytes == 0 || room_for(megabytes).is_some_and(can_fill)
    }

    pub(super) fn megabytes(&self) -> usize {
        size_of_val(&*self.clusters) / MEGABYTE
    }

    pub(super) fn clear(&mut self) {
        self.clusters.clear();
        self.age = AtomicU8::new(0);
    }

    /// Starts a new search: from now on, existing entries count as older and are replaced first.
    pub(super) fn new_search(&self) {
        let age = self.age.load(Ordering::Relaxed);
        self.age.store((age + 1) % AGES, Ordering::Relaxed);
    }

    /// Prefetches the memory that [`TranspositionTable::probe`] will read for `key`.
    #[inline]
    pub(super) fn prefetch(&self, key: u64) {
        prefetch(self.cluster(key));
    }

    /// Returns the entry for the position with `key`, which is `ply` plies from the root.
    ///
    /// The entry's move is dropped if it is not legal in `position`, because the entry may belong
    /// to another position with the same key.
    #[inline]
    pub(super) fn probe(&self, key: u64, position: &Position, ply: Ply) -> Option<TableEntry> {
        self.cluster(key).slots.iter().find_map(|slot| {
            let data = slot.data.load(Ordering::Relaxed);
            (slot.check.load(Ordering::Relaxed) ^ data == key && data != 0).then(|| {
                let entry = unpack(data, ply);
                TableEntry { mv: entry.mv.filter(|&mv| position.is_legal(mv)), ..entry }
            })
        })
    }

    /// Stores `entry` for the position with `key`, which is `ply` plies from the root.
    ///
    /// Overwrites an existing entry for the position, unless the new entry is not exact and the old
    /// one is much deeper and from the current search. If the position has no entry, uses an empty
    /// slot or else replaces a shallow or old entry. If the new entry has no move, the old entry's
    /// move is kept.
    #[inline]
    pub(super) fn store(&self, key: u64, entry: TableEntry, ply: Ply) {
        let age = self.age.load(Ordering::Relaxed);
        let mut target = &self.cluster(key).slots[0];
        let mut lowest = i32::MAX;
        let mut entry = entry;
        for slot in &self.cluster(key).slots {
            let data = slot.data.load(Ordering::Relaxed);
            if data == 0 || slot.check.load(Ordering::Relaxed) ^ data == key {
                if data != 0 {
                    let old = unpack(data, ply);
                    entry.mv = entry.mv.or(old.mv);
                    if entry.bound != Bound::Exact
                        && age_of(data) == age
                        && entry.depth + KEEP_DEEPER < old.depth
                    {
                        return;
                    }
                }
                target = slot;
                break;
            }
            let distance = i32::from(age.wrapping_sub(age_of(data)) % AGES);
            let worth = depth_of(data) - AGE_WEIGHT * distance;
            if worth < lowest {
                lowest = worth;
                target = slot;
            }
        }
        let data = pack(entry, age, ply);
        debug_assert_eq!(unpack(data, ply), entry, "the entry does not fit");
        target.check.store(key ^ data, Ordering::Relaxed);
        target.data.store(data, Ordering::Relaxed);
    }

    /// Returns how full the table is, in permille, counting only the entries stored by the current
    /// search. Estimated from a sample.
    pub(super) fn full(&self) -> u32 {
        let age = self.age.load(Ordering::Relaxed);
        let sample = &self.clusters[..HASH_FULL_SAMPLE.min(self.clusters.len())];
        let filled = sample
            .iter()
            .flat_map(|cluster| &cluster.slots)
            .map(|slot| slot.data.load(Ordering::Relaxed))
            .filter(|&data| data != 0 && age_of(data) == age)
            .count();
        (filled * 1000 / (sample.len() * ENTRIES_PER_CLUSTER)) as u32
    }

    /// Returns the cluster for `key`. Its index is the number of clusters times `key / 2^64`.
    #[inline]
    fn cluster(&self, key: u64) -> &Cluster {
        let index = (u128::from(key) * self.clusters.len() as u128) >> 64;
        &self.clusters[index as usize]
    }
}

/// Returns the number of bytes that must be available before a table of this size is allocated.
/// This leaves room for later allocations, mainly the stack of a search thread.
fn room_for(megabytes: usize) -> Option<usize> {
    megabytes.checked_mul(MEGABYTE)?.checked_add(STACK_SIZE)
}

/// An entry from the current search is kept if a new entry for the same position is only a bound
/// and is shallower by more than this many plies. Chosen by hand.
const KEEP_DEEPER: Depth = 3;

fn age_of(data: u64) -> u8 {
    (data >> 50) as u8 % AGES
}

fn depth_of(data: u64) -> Depth {
    (data >> 56) as Depth - DEPTH_OFFSET
}

#[inline]
fn pack(entry: TableEntry, age: u8, ply: Ply) -> u64 {
    let mv = entry.mv.map_or(0, Move::to_polyglot);
    let bound = match entry.bound {
        Bound::Upper => 1,
        Bound::Lower => 2,
        Bound::Exact => 3,
    };
    let depth = (entry.depth + DEPTH_OFFSET).clamp(0, 255);
    u64::from(mv)
        | u64::from(to_table(entry.score, ply) as i16 as u16) << 16
        | u64::from(entry.eval as i16 as u16) << 32
        | bound << 48
        | u64::from(age) << 50
        | (depth as u64) << 56
}

#[inline]
fn unpack(data: u64, ply: Ply) -> TableEntry {
    TableEntry {
        mv: Move::from_polyglot(data as u16),
        score: from_table(Score::from((data >> 16) as i16), ply),
        eval: Score::from((data >> 32) as i16),
        bound: match data >> 48 & 3 {
            1 => Bound::Upper,
            2 => Bound::Lower,
            _ => Bound::Exact,
        },
        depth: depth_of(data),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::score::mate_in;

    pub(super) fn entry(depth: Depth, score: Score) -> TableEntry {
        let mv = "e2e4".parse().ok();
        TableEntry { mv, score, eval: -77, bound: Bound::Lower, depth }
    }

    #[test]
    fn stored_entry_is_found() {
        let (table, start) = (TranspositionTable::new(1), Position::start());
        for (depth, score) in [(0, 12), (-3, -12), (77, mate_in(9))] {
            table.new_search();
            table.store(start.key(), entry(depth, score), 4);
            assert_eq!(table.probe(start.key(), &start, 4), Some(entry(depth, score)));
        }
        assert_eq!(table.probe(!start.key(), &start, 4), None);
    }

    #[test]
    fn mate_scores_are_relative_to_the_node() {
        let (table, start) = (TranspositionTable::new(1), Position::start());
        table.store(start.key(), entry(5, mate_in(9)), 4);
        let elsewhere = table.probe(start.key(), &start, 2).map(|entry| entry.score);
        assert_eq!(elsewhere, Some(mate_in(7)));
    }

    #[test]
    fn illegal_table_move_is_dropped() {
        let (table, start) = (TranspositionTable::new(1), Position::start());
        let foreign = TableEntry { mv: "e4e5".parse().ok(), ..entry(5, 0) };
        table.store(start.key(), foreign, 0);
        assert_eq!(table.probe(start.key(), &start, 0).and_then(|entry| entry.mv), None);
    }

    #[test]
    fn shallow_and_old_entries_are_replaced() {
        let (table, start) = (TranspositionTable::new(0), Position::start());
        let keys = [1, 2, 3, 4, 5];
        for (key, depth) in keys.into_iter().zip([9, 8, 2, 7, 6]) {
            table.store(key, TableEntry { mv: None, ..entry(depth, 0) }, 0);
        }
        let found = keys.map(|key| table.probe(key, &start, 0).is_some());
        assert_eq!(found, [true, true, false, true, true]);
        for _ in 0..3 {
            table.new_search();
        }
        table.store(6, TableEntry { mv: None, ..entry(1, 0) }, 0);
        assert!(table.probe(6, &start, 0).is_some());
        assert!(table.probe(5, &start, 0).is_none());
    }

    #[test]
    fn move_is_kept_when_a_new_entry_has_none() {
        let (table, start) = (TranspositionTable::new(1), Position::start());
        table.store(start.key(), entry(5, 0), 0);
        table.store(start.key(), TableEntry { mv: None, ..entry(6, 0) }, 0);
        let kept = table.probe(start.key(), &start, 0).and_then(|entry| entry.mv);
        assert_eq!(kept, "e2e4".parse().ok());
    }
}

/// Model-checks the table with loom: tests every order in which memory accesses by several threads
/// can take effect. Run `cargo test --features loom --lib model::`.
#[cfg(all(test, feature = "loom"))]
mod model {
    use loom::sync::Arc;
    use loom::thread;

    use super::*;

    #[test]
    fn concurrent_stores_never_mix_entries() {
        let start = Position::start();
        let entries = [(1, tests::entry(5, 9)), (2, tests::entry(5, -7))];
        loom::model(move || {
            let table = Arc::new(TranspositionTable::new(0));
            let writers = entries.map(|(key, entry)| {
                let table = Arc::clone(&table);
                thread::spawn(move || table.store(key, entry, 0))
            });
            let look = || {
                for (key, entry) in entries {
                    let found = table.probe(key, &start, 0);
                    assert!(found.is_none_or(|found| found == entry), "{found:?}, not {entry:?}");
                }
            };
            look();
            writers.into_iter().for_each(|writer| writer.join().expect("no panic"));
            look();
        });
    }
}
