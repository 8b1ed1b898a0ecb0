//! Where the records of one thread pile up: in memory by partition, and beyond a limit in sorted
//! runs on disk.

use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::records::{PARTITIONS, PositionRecord, combine};

/// Records in a block, the unit in which partitions grow: 12 kB, so that half-filled blocks of all
/// partitions waste little and growing never copies.
const BLOCK: usize = 1 << 10;
/// Slots of the front cache as a power of two: 96 kB, inside a second-level cache. The first
/// moves of the games come again and again and are added up here before they cost memory.
const FRONT_BITS: u32 = 13;

/// Each partition needs a block, and spilling needs room to sort one.
const LEAST_BLOCKS: usize = 2 * PARTITIONS;

/// The records of one thread.
pub(super) struct Store<R> {
    front: Vec<R>,
    /// The block of each partition that is being filled: it always has room.
    open: Vec<Vec<R>>,
    /// The full blocks of each partition.
    full: Vec<Vec<Vec<R>>>,
    /// Emptied blocks, to be filled again.
    spare: Vec<Vec<R>>,
    /// The blocks in use, open ones included.
    blocks: usize,
    max_blocks: usize,
    runs: Vec<SortedRun>,
    folder: PathBuf,
}

impl<R: PositionRecord> Store<R> {
    /// A store that keeps up to `memory` bytes and spills the rest to unnamed files in `folder`.
    pub(super) fn new(memory: usize, folder: &Path) -> Self {
        let max_blocks = (memory / (BLOCK * size_of::<R>())).max(LEAST_BLOCKS);
        Store {
            front: if R::JOINS { vec![R::EMPTY; 1 << FRONT_BITS] } else { Vec::new() },
            open: (0..PARTITIONS).map(|_| Vec::with_capacity(BLOCK)).collect(),
            full: vec![Vec::new(); PARTITIONS],
            spare: Vec::new(),
            blocks: PARTITIONS,
            max_blocks,
            runs: Vec::new(),
            folder: folder.to_owned(),
        }
    }

    /// Adds a record of a position that many games may share.
    #[inline]
    pub(super) fn push_common(&mut self, record: R) {
        if !R::JOINS {
            return self.push(record);
        }
        let slot = &mut self.front[record.slot(FRONT_BITS)];
        if !slot.join(&record) {
            let evicted = std::mem::replace(slot, record);
            if evicted != R::EMPTY {
                self.push(evicted);
            }
        }
    }

    /// Adds a record.
    #[inline]
    pub(super) fn push(&mut self, record: R) {
        let partition = record.partition();
        let block = &mut self.open[partition];
        block.push(record);
        if block.len() == BLOCK {
            self.close_block(partition);
        }
    }

    /// Puts a full block aside and opens the next one.
    #[cold]
    fn close_block(&mut self, partition: usize) {
        let next = self.spare.pop().unwrap_or_else(|| Vec::with_capacity(BLOCK));
        let block = std::mem::replace(&mut self.open[partition], next);
        self.full[partition].push(block);
        self.blocks += 1;
    }

    /// Spills to disk if the memory is used up, of which something else of this thread takes so many
    /// bytes. To be called between games.
    pub(super) fn relieve(&mut self, elsewhere: usize) -> io::Result<()> {
        let left = self.max_blocks.saturating_sub(elsewhere / (BLOCK * size_of::<R>()));
        if self.blocks >= left.max(LEAST_BLOCKS) { self.spill() } else { Ok(()) }
    }

    /// Moves all records in memory to a new run.
    fn spill(&mut self) -> io::Result<()> {
        let mut writer = BufWriter::new(tempfile::tempfile_in(&self.folder)?);
        let mut ends = Vec::with_capacity(PARTITIONS);
        let mut end = 0;
        let (mut records, mut combined) = (Vec::new(), Vec::new());
        for partition in 0..PARTITIONS {
            records.clear();
            self.drain(partition, &mut records);
            combine(&records, &mut combined);
            for record in &combined {
                writer.write_all(record.to_bytes().as_ref())?;
            }
            end += combined.len() as u64;
            ends.push(end);
        }
        let file = writer.into_inner().map_err(io::IntoInnerError::into_error)?;
        self.runs.push(SortedRun { file: Mutex::new(file), ends });
        self.blocks = PARTITIONS;
        Ok(())
    }

    /// Moves the records of a partition, in memory, to `records`.
    fn drain(&mut self, partition: usize, records: &mut Vec<R>) {
        for mut block in self.full[partition].drain(..) {
            records.append(&mut block);
            self.spare.push(block);
        }
        records.append(&mut self.open[partition]);
    }

    /// Ends the adding.
    pub(super) fn finish(mut self) -> Collected<R> {
        let front = std::mem::take(&mut self.front);
        let kept = front.into_iter().filter(|record| *record != R::EMPTY);
        kept.for_each(|record| self.push(record));
        Collected { full: self.full, open: self.open, runs: self.runs }
    }
}

/// What a store has collected.
pub(super) struct Collected<R> {
    full: Vec<Vec<Vec<R>>>,
    /// The last block of each partition.
    open: Vec<Vec<R>>,
    runs: Vec<SortedRun>,
}

impl<R: PositionRecord> Collected<R> {
    /// Appends all records of a partition, from memory and disk, to `records`.
    pub(super) fn read(&self, partition: usize, records: &mut Vec<R>) -> io::Result<()> {
        self.full[partition].iter().for_each(|block| records.extend_from_slice(block));
        records.extend_from_slice(&self.open[partition]);
        self.runs.iter().try_for_each(|run| run.read(partition, records))
    }
}

/// Sorted records on disk. The file has no name, so whatever happens nothing is left of it.
struct SortedRun {
    file: Mutex<File>,
    /// Where each partition ends, in records.
    ends: Vec<u64>,
}

impl SortedRun {
    fn read<R: PositionRecord>(&self, partition: usize, records: &mut Vec<R>) -> io::Result<()> {
        let record_bytes = R::EMPTY.to_bytes().as_ref().len();
        let start = if partition == 0 { 0 } else { self.ends[partition - 1] };
        let mut bytes = vec![0; (self.ends[partition] - start) as usize * record_bytes];
        {
            let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
            file.seek(SeekFrom::Start(start * record_bytes as u64))?;
            file.read_exact(&mut bytes)?;
        }
        R::read_all(&bytes, records);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::book::builder::records::{Record, Visit, group};
    use crate::pgn::GameResult;
    use crate::position::Color;

    /// All entries of what a store has collected, and the number of its runs.
    fn contents(store: Store<Record>) -> (Vec<crate::book::BookEntry>, usize) {
        let collected = store.finish();
        let mut entries = Vec::new();
        for partition in 0..PARTITIONS {
            let mut records = Vec::new();
            collected.read(partition, &mut records).expect("readable");
            group(&records, &mut Vec::new(), |entry, _| entries.push(entry.clone()));
        }
        (entries, collected.runs.len())
    }

    #[test]
    fn spilling_changes_nothing() {
        let folder = std::env::temp_dir();
        let mut small = Store::new(0, &folder);
        let mut large = Store::new(1 << 30, &folder);
        // A generator of G. Marsaglia, "Xorshift RNGs" (2003); some keys come often.
        let mut state = 88_172_645_463_325_252_u64;
        for number in 0..1_500_000_u64 {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            let key = if number % 3 == 0 { (state % 1000) << 50 } else { state };
            let result = [GameResult::White, GameResult::Draw][(state >> 40 & 1) as usize];
            let record =
                Record::of(&Visit { key, side: Color::White, mv: None, again: false }, result, 0);
            for store in [&mut small, &mut large] {
                if number % 2 == 0 {
                    store.push(record);
                } else {
                    store.push_common(record);
                }
                store.relieve(0).expect("the disk has room");
            }
        }
        let ((small, runs), (large, no_runs)) = (contents(small), contents(large));
        assert!(runs > 1 && no_runs == 0, "{runs} runs");
        assert!(large.is_sorted_by_key(|entry| entry.key));
        assert_eq!(large.iter().map(|entry| entry.reached.games()).sum::<u64>(), 1_500_000);
        assert!(small == large);
    }
}
