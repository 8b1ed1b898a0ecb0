//! The records collected by one thread, grouped by partition in memory. When a memory limit is
//! reached, they are written to disk as a sorted run.

use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::checkpoint_file::ChecksumWriter;
use super::records::{PARTITION_BITS, PARTITIONS, PositionRecord, combine};

/// Number of records in a block. A block takes 12 kB. Partitions grow by whole blocks, so growing
/// never copies records.
const BLOCK: usize = 1 << 10;
/// The base-2 logarithm of the number of slots in the front cache, which merges the records of
/// frequent opening positions before they are stored. The cache takes 96 kB, so it fits into the
/// processor's second-level cache.
const FRONT_BITS: u32 = 13;

const WRITE_BLOCK: usize = 256 << 10;

/// Minimum number of blocks in memory: one per partition, and the same number again for sorting a
/// partition before it is spilled to disk.
const MIN_BLOCKS: usize = 2 * PARTITIONS;

pub(super) struct Store<R> {
    front: Vec<R>,
    /// The block being filled in each partition. It always has room for at least one more record.
    open: Vec<Vec<R>>,
    full: Vec<Vec<Vec<R>>>,
    spare: Vec<Vec<R>>,
    blocks: usize,
    max_blocks: usize,
    runs: Vec<SortedRun>,
    folder: PathBuf,
    disk: Arc<Disk>,
}

impl<R: PositionRecord> Store<R> {
    /// Creates a store that keeps up to `memory` bytes of records in memory and spills the rest to
    /// files in `folder`.
    pub(super) fn new(memory: usize, folder: &Path, disk: Arc<Disk>) -> Self {
        let max_blocks = (memory / (BLOCK * size_of::<R>())).max(MIN_BLOCKS);
        Store {
            front: if R::JOINS { vec![R::EMPTY; 1 << FRONT_BITS] } else { Vec::new() },
            open: (0..PARTITIONS).map(|_| Vec::with_capacity(BLOCK)).collect(),
            full: vec![Vec::new(); PARTITIONS],
            spare: Vec::new(),
            blocks: PARTITIONS,
            max_blocks,
            runs: Vec::new(),
            folder: folder.to_owned(),
            disk,
        }
    }

    /// Adds a record for a position that is likely to occur in many games. Such records are merged
    /// in the front cache.
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

    #[inline]
    pub(super) fn push(&mut self, record: R) {
        let partition = record.partition();
        let block = &mut self.open[partition];
        block.push(record);
        if block.len() == BLOCK {
            self.close_block(partition);
        }
    }

    #[cold]
    fn close_block(&mut self, partition: usize) {
        let next = self.spare.pop().unwrap_or_else(|| Vec::with_capacity(BLOCK));
        let block = std::mem::replace(&mut self.open[partition], next);
        self.full[partition].push(block);
        self.blocks += 1;
    }

    /// Spills all stored records to disk if the memory limit is reached. Must be called between
    /// games. `elsewhere` is the number of bytes that the thread uses for other data, which counts
    /// towards the limit.
    pub(super) fn spill_if_needed(&mut self, elsewhere: usize) -> io::Result<()> {
        let left = self.max_blocks.saturating_sub(elsewhere / (BLOCK * size_of::<R>()));
        if self.blocks >= left.max(MIN_BLOCKS) { self.spill() } else { Ok(()) }
    }

    fn spill(&mut self) -> io::Result<()> {
        let (file, disk) = (tempfile::tempfile_in(&self.folder)?, Arc::clone(&self.disk));
        let run = SortedRun::write(file, &disk, |partition, records| {
            self.drain(partition, records);
            Ok(())
        })?;
        self.runs.push(run);
        self.blocks = PARTITIONS;
        Ok(())
    }

    fn drain(&mut self, partition: usize, records: &mut Vec<R>) {
        for mut block in self.full[partition].drain(..) {
            records.append(&mut block);
            self.spare.push(block);
        }
        records.append(&mut self.open[partition]);
    }

    pub(super) fn finish(mut self) -> Collected<R> {
        let front = std::mem::take(&mut self.front);
        let kept = front.into_iter().filter(|record| *record != R::EMPTY);
        kept.for_each(|record| self.push(record));
        Collected { full: self.full, open: self.open, runs: self.runs }
    }
}

#[derive(Debug)]
pub(super) struct Disk {
    limit: Option<u64>,
    used: AtomicU64,
}

impl Disk {
    pub(super) fn new(limit: Option<u64>) -> Self {
        Disk { limit, used: AtomicU64::new(0) }
    }

    fn take(&self, bytes: u64) -> io::Result<()> {
        let used = self.used.fetch_add(bytes, Relaxed) + bytes;
        match self.limit {
            Some(limit) if used > limit => Err(io::Error::other(format!(
                "the counts need more than the {limit} bytes of disk that --disk allows; repeat \
                 the command with more to resume"
            ))),
            _ => Ok(()),
        }
    }

    fn give_back(&self, bytes: u64) {
        self.used.fetch_sub(bytes, Relaxed);
    }
}

/// A range of keys within one partition. Part numbers increase with the key, as in the book.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Part {
    number: usize,
    bits: u32,
}

impl Part {
    /// Creates part `number`, assuming that each partition is split into `2^bits` parts.
    pub(super) fn new(number: usize, bits: u32) -> Self {
        Part { number, bits: PARTITION_BITS + bits }
    }

    fn whole(partition: usize) -> Self {
        Part::new(partition, 0)
    }

    fn is_whole(self) -> bool {
        self.bits == PARTITION_BITS
    }

    fn partition(self) -> usize {
        self.number >> (self.bits - PARTITION_BITS)
    }

    #[inline]
    fn of(self, key: u64) -> usize {
        (key >> (u64::BITS - self.bits)) as usize
    }

    #[inline]
    fn holds(self, key: u64) -> bool {
        self.of(key) == self.number
    }
}

pub(super) struct Collected<R> {
    full: Vec<Vec<Vec<R>>>,
    open: Vec<Vec<R>>,
    runs: Vec<SortedRun>,
}

impl<R: PositionRecord> Collected<R> {
    pub(super) fn read(&self, partition: usize, records: &mut Vec<R>) -> io::Result<()> {
        self.read_part(Part::whole(partition), records)
    }

    pub(super) fn read_part(&self, part: Part, records: &mut Vec<R>) -> io::Result<()> {
        let (open, full) = (&self.open[part.partition()], &self.full[part.partition()]);
        for block in full.iter().chain([open]) {
            match part.is_whole() {
                true => records.extend_from_slice(block),
                false => records.extend(block.iter().filter(|record| part.holds(record.key()))),
            }
        }
        self.runs.iter().try_for_each(|run| run.read(part, records))
    }

    /// Deducts the records of `parts` from the used disk space, because their files are about to be
    /// deleted.
    pub(super) fn give_back(parts: &[Self], disk: &Disk) {
        let records: u64 = parts.iter().flat_map(|part| &part.runs).map(SortedRun::records).sum();
        disk.give_back(records * R::BYTES as u64);
    }

    pub(super) fn length(&self, partition: usize) -> u64 {
        let full: usize = self.full[partition].iter().map(Vec::len).sum();
        let on_disk: u64 =
            self.runs.iter().map(|run| run.slice(partition)).map(|(a, b)| b - a).sum();
        (full + self.open[partition].len()) as u64 + on_disk
    }

    /// Writes all records in `parts` to an empty file as a single run and syncs the file. Returns
    /// the run and the file's checksum.
    pub(super) fn keep(parts: &[Self], file: File, disk: &Disk) -> io::Result<(Self, u64)> {
        let mut file = ChecksumWriter::new(file);
        let ends = SortedRun::write_to(&mut file, disk, |partition, records| {
            parts.iter().try_for_each(|part| part.read(partition, records))
        })?;
        let (file, sum) = file.into_parts();
        file.sync_all()?;
        Ok((Self::of_run(SortedRun { file: Mutex::new(file), ends }), sum))
    }

    /// Opens a file written by [`Collected::keep`]. Fails if the file is incomplete, if its records
    /// are out of order, or if the game index in a record is `games` or more.
    pub(super) fn open(file: File, games: usize, disk: &Disk) -> io::Result<Self> {
        let run = SortedRun::open::<R>(file)?;
        run.check::<R>(games)?;
        disk.take(run.records() * R::BYTES as u64)?;
        Ok(Self::of_run(run))
    }

    fn of_run(run: SortedRun) -> Self {
        let nothing = || vec![Vec::new(); PARTITIONS];
        Collected { full: vec![Vec::new(); PARTITIONS], open: nothing(), runs: vec![run] }
    }
}

/// A file of sorted records, grouped by partition. A table at the end of the file stores where each
/// partition ends.
struct SortedRun {
    file: Mutex<File>,
    ends: Vec<u64>,
}

impl SortedRun {
    fn write<R: PositionRecord>(
        file: File,
        disk: &Disk,
        fill: impl FnMut(usize, &mut Vec<R>) -> io::Result<()>,
    ) -> io::Result<Self> {
        let ends = Self::write_to(&file, disk, fill)?;
        Ok(SortedRun { file: Mutex::new(file), ends })
    }

    /// Writes all partitions, with records supplied by `fill`. Returns the end of each partition,
    /// as a number of records from the start of the file.
    fn write_to<R: PositionRecord>(
        file: impl Write,
        disk: &Disk,
        mut fill: impl FnMut(usize, &mut Vec<R>) -> io::Result<()>,
    ) -> io::Result<Vec<u64>> {
        let mut writer = BufWriter::with_capacity(WRITE_BLOCK, file);
        let mut ends = Vec::with_capacity(PARTITIONS);
        let mut end = 0;
        let (mut records, mut combined) = (Vec::new(), Vec::new());
        for partition in 0..PARTITIONS {
            records.clear();
            fill(partition, &mut records)?;
            combine(&records, &mut combined);
            disk.take((combined.len() * R::BYTES) as u64)?;
            for record in &combined {
                writer.write_all(record.to_bytes().as_ref())?;
            }
            end += combined.len() as u64;
            ends.push(end);
        }
        for end in &ends {
            writer.write_all(&end.to_le_bytes())?;
        }
        writer.flush()?;
        Ok(ends)
    }

    fn open<R: PositionRecord>(mut file: File) -> io::Result<Self> {
        const END: usize = size_of::<u64>();
        let damaged = || invalid("a run is incomplete");
        let length = file.metadata()?.len();
        let body = length.checked_sub((PARTITIONS * END) as u64).ok_or_else(damaged)?;
        file.seek(SeekFrom::Start(body))?;
        let mut bytes = Vec::with_capacity(PARTITIONS * END);
        file.read_to_end(&mut bytes)?;
        let ends: Vec<u64> =
            bytes.as_chunks::<END>().0.iter().map(|end| u64::from_le_bytes(*end)).collect();
        let records = ends.last().copied().unwrap_or(0);
        let is_whole = ends.is_sorted() && records.checked_mul(R::BYTES as u64) == Some(body);
        if !is_whole {
            return Err(damaged());
        }
        Ok(SortedRun { file: Mutex::new(file), ends })
    }

    /// Fails if a record is in the wrong partition or out of order, or if the game index in a
    /// record is `games` or more.
    fn check<R: PositionRecord>(&self, games: usize) -> io::Result<()> {
        let mut file = self.file();
        file.rewind()?;
        let (mut bytes, mut records) = (Vec::new(), Vec::<R>::with_capacity(BLOCK));
        let (mut last, numbers) = (0, vec![0; games]);
        for partition in 0..PARTITIONS {
            let (start, end) = self.slice(partition);
            for first in (start..end).step_by(BLOCK) {
                bytes.resize((end - first).min(BLOCK as u64) as usize * R::BYTES, 0);
                file.read_exact(&mut bytes)?;
                records.clear();
                R::read_all(&bytes, &mut records);
                for record in &mut records {
                    if record.partition() != partition || record.key() < last {
                        return Err(invalid("the records of a run are not sorted"));
                    }
                    if !record.renumber(&numbers) {
                        return Err(invalid("a record of a run has no game"));
                    }
                    last = record.key();
                }
            }
        }
        Ok(())
    }

    fn records(&self) -> u64 {
        self.ends.last().copied().unwrap_or(0)
    }

    fn file(&self) -> MutexGuard<'_, File> {
        self.file.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn slice(&self, partition: usize) -> (u64, u64) {
        (if partition == 0 { 0 } else { self.ends[partition - 1] }, self.ends[partition])
    }

    fn read<R: PositionRecord>(&self, part: Part, records: &mut Vec<R>) -> io::Result<()> {
        let (mut start, mut end) = self.slice(part.partition());
        let mut file = self.file();
        if !part.is_whole() {
            let (first, last) = (start, end);
            start = first_of::<R>(&mut file, (first, last), |key| part.of(key) >= part.number)?;
            end = first_of::<R>(&mut file, (start, last), |key| part.of(key) > part.number)?;
        }
        let mut bytes = vec![0; (end - start) as usize * R::BYTES];
        file.seek(SeekFrom::Start(start * R::BYTES as u64))?;
        file.read_exact(&mut bytes)?;
        drop(file);
        R::read_all(&bytes, records);
        Ok(())
    }
}

fn invalid(reason: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, reason)
}

/// Searches a sorted range of a file by bisection. Returns the index of the first record whose key
/// satisfies `is_there`.
fn first_of<R: PositionRecord>(
    file: &mut File,
    (mut low, mut high): (u64, u64),
    is_there: impl Fn(u64) -> bool,
) -> io::Result<u64> {
    let (mut bytes, mut record) = (vec![0; R::BYTES], Vec::with_capacity(1));
    while low < high {
        let middle = low.midpoint(high);
        file.seek(SeekFrom::Start(middle * R::BYTES as u64))?;
        file.read_exact(&mut bytes)?;
        record.clear();
        R::read_all(&bytes, &mut record);
        match record.first().is_some_and(|record| is_there(record.key())) {
            true => high = middle,
            false => low = middle + 1,
        }
    }
    Ok(low)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::position::Color;
    use crate::games::book::builder::records::{CountedGame, Record, Visit, group};
    use crate::games::pgn::GameResult;

    fn contents(
        store: Store<Record>,
        bits: u32,
    ) -> (Vec<crate::games::book::format::entry::BookEntry>, usize) {
        let collected = store.finish();
        let mut entries = Vec::new();
        for number in 0..PARTITIONS << bits {
            let mut records = Vec::new();
            collected.read_part(Part::new(number, bits), &mut records).expect("readable");
            group(&records, &mut Vec::new(), |entry, _| entries.push(entry.clone()));
        }
        (entries, collected.runs.len())
    }

    #[test]
    fn spilling_to_disk_gives_the_same_entries() {
        let folder = std::env::temp_dir();
        let disk = || Arc::new(Disk::new(None));
        let mut small = Store::new(0, &folder, disk());
        let mut large = Store::new(1 << 30, &folder, disk());
        // Marsaglia's xorshift generator ("Xorshift RNGs", 2003). Every third key is one of 1,000,
        // so that some keys occur often.
        let mut state = 88_172_645_463_325_252_u64;
        for number in 0..1_500_000_u64 {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            let key = if number % 3 == 0 { (state % 1000) << 50 } else { state };
            let result = [GameResult::White, GameResult::Draw][(state >> 40 & 1) as usize];
            let (side, mv, again) = (Color::White, None, false);
            let visit = Visit { key, pawn_key: 0, side, mv, again };
            let record = Record::of(&visit, &CountedGame::new(result, 0));
            for store in [&mut small, &mut large] {
                if number % 2 == 0 {
                    store.push(record);
                } else {
                    store.push_common(record);
                }
                store.spill_if_needed(0).expect("the disk has room");
            }
        }
        let ((small, runs), (large, no_runs)) = (contents(small, 3), contents(large, 0));
        assert!(runs > 1 && no_runs == 0, "{runs} runs");
        assert!(large.is_sorted_by_key(|entry| entry.key));
        assert_eq!(large.iter().map(|entry| entry.reached.games()).sum::<u64>(), 1_500_000);
        assert!(small == large);
    }
}
