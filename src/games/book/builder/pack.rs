//! Builds a book from rows of partial counts. This is the second half of a build, after the games
//! have been counted.
//!
//! Rows arrive in pieces, each covering a range of keys. If the ranges are narrow, as in sorted
//! files, each partition of the book is read only from the few pieces that may contain its rows.
//! Otherwise, all rows go through the same stores as in a build, which sort them, on disk if
//! necessary.

use std::io::{self, Read, Seek, Write};
use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

use super::records::{BookRecord, PARTITION_BITS, RESULTS, Record, Visit};
use super::rows::PartialRow;
use super::store::{Collected, Disk, Store};
use super::{
    BuildError, BuildOptions, FIXED_MEMORY, Monitor, Partitioned, Source, THREAD_MEMORY, lock,
    on_threads, part_bits, write_entries,
};
use crate::games::book::format::manifest::Manifest;
use crate::games::book::format::pawn_filter::PawnSet;
use crate::games::book::format::writer::{Block, BookWriter};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::games::book) struct Piece {
    pub rows: u64,
    /// The range of the rows' keys. The keys are signed integers, as in Parquet files.
    pub keys: RangeInclusive<i64>,
}

pub(in crate::games::book) trait RowSource: Sync {
    fn pieces(&self) -> &[Piece];

    fn read(
        &self,
        piece: usize,
        take: &mut dyn FnMut(&PartialRow) -> io::Result<()>,
    ) -> io::Result<()>;
}

pub(in crate::games::book) struct Packing<'a> {
    /// Build options. Only the pruning conditions, the memory limit, the number of threads and the
    /// spill folder are used.
    pub options: &'a BuildOptions,
    pub monitor: &'a Monitor,
    pub manifest: &'a Manifest,
    /// The expected sum of the game counts in all rows.
    pub visits: u64,
    /// The expected checksum of all rows (the sum of [`PartialRow::sum`]), if known.
    pub sum: Option<u64>,
}

/// The base-2 logarithm of the maximum number of partitions when rows are read in place, that is,
/// directly from the pieces in which they are stored, without being sorted first.
const MAX_BITS: u32 = 20;
/// Maximum number of rows to read in place, as a percentage of all rows. It can exceed 100 because
/// some pieces are read repeatedly. Beyond this limit, sorting all rows is cheaper.
const MAX_READ: u64 = 150;

/// Builds a book from rows and writes it to an empty `output`. Fails if there are no rows, if rows
/// are missing or duplicated, or if the build is cancelled through the monitor.
pub(in crate::games::book) fn pack<W: Read + Write + Seek>(
    source: &impl RowSource,
    packing: &Packing<'_>,
    output: W,
) -> Result<W, BuildError> {
    let mut writer = BookWriter::new(output)?;
    let seen = Seen::new(packing.monitor);
    let rows = source.pieces().iter().map(|piece| piece.rows).sum();
    packing.monitor.all_rows.store(rows, Relaxed);
    let written = write_rows(source, packing, &seen, &mut writer);
    if packing.monitor.is_stopped() {
        return Err(BuildError::Interrupted("not all counts are in the book"));
    }
    written?;
    let Seen { pawns, visits, sum, .. } = seen;
    let (visits, sum) = (visits.into_inner(), sum.into_inner());
    if visits == 0 {
        return Err(BuildError::NoGames("there are no rows".to_owned()));
    }
    if visits != packing.visits {
        return Err(BuildError::Output(format!(
            "the rows count {visits} visits of games, the manifests {}: a part is missing or \
             present twice",
            packing.visits
        )));
    }
    if packing.sum.is_some_and(|expected| expected != sum) {
        let reason = "the rows differ from those that were counted: a file is damaged";
        return Err(BuildError::Output(reason.to_owned()));
    }
    let mut all = PawnSet::new();
    lock(&pawns).iter().for_each(|some| all.join(some));
    Ok(writer.finish(&all, packing.manifest)?)
}

fn write_rows<W: Read + Write + Seek>(
    source: &impl RowSource,
    packing: &Packing<'_>,
    seen: &Seen<'_>,
    writer: &mut BookWriter<'_, W>,
) -> io::Result<()> {
    let Packing { options, monitor, .. } = packing;
    match narrow_bits(source.pieces(), options) {
        Some(bits) => {
            let parts = InPlace { source, pieces: pieces_of(source.pieces(), bits), seen };
            write_entries(&Interruptible { parts, monitor }, options, monitor, writer)
        }
        None => {
            let collected = collect(source, options, seen)?;
            let bits = part_bits(&collected, options);
            let parts = Source { collected: &collected, games: None, bits };
            write_entries(&Interruptible { parts, monitor }, options, monitor, writer)
        }
    }
}

/// A source of entries that fails once the build is cancelled through the monitor, because an
/// incomplete book is useless.
struct Interruptible<'a, P> {
    parts: P,
    monitor: &'a Monitor,
}

/// Fails if the build was cancelled through the monitor. [`pack`] replaces this error with its own
/// message.
fn check_stopped(monitor: &Monitor) -> io::Result<()> {
    if monitor.is_stopped() { Err(io::ErrorKind::Interrupted.into()) } else { Ok(()) }
}

impl<P: Partitioned> Partitioned for Interruptible<'_, P> {
    type Record = P::Record;

    fn parts(&self) -> usize {
        self.parts.parts()
    }

    fn block(
        &self,
        number: usize,
        buffers: &mut (Vec<P::Record>, Vec<P::Record>),
        options: &BuildOptions,
    ) -> io::Result<Block> {
        check_stopped(self.monitor)?;
        self.parts.block(number, buffers, options)
    }
}

struct Seen<'a> {
    monitor: &'a Monitor,
    /// A pool of pawn sets. A thread that reads rows takes a set from the pool and returns it
    /// afterwards.
    pawns: Mutex<Vec<PawnSet>>,
    visits: AtomicU64,
    sum: AtomicU64,
}

/// Number of rows between updates of the monitor's counters.
const REPORTED_ROWS: u64 = 1 << 12;

impl<'a> Seen<'a> {
    fn new(monitor: &'a Monitor) -> Self {
        let [visits, sum] = [0, 0].map(AtomicU64::new);
        Seen { monitor, pawns: Mutex::default(), visits, sum }
    }

    /// Reads rows with `read`, adds them to the running totals, and passes the records made from
    /// them to `push`.
    fn records(
        &self,
        read: impl FnOnce(&mut dyn FnMut(&PartialRow) -> io::Result<()>) -> io::Result<()>,
        mut push: impl FnMut(Record) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut pawns = lock(&self.pawns).pop().unwrap_or_else(PawnSet::new);
        let (mut visits, mut sum, mut rows) = (0, 0_u64, 0);
        let done = read(&mut |row| {
            rows += 1;
            if rows == REPORTED_ROWS {
                self.monitor.rows.fetch_add(rows, Relaxed);
                rows = 0;
                check_stopped(self.monitor)?;
            }
            pawns.insert(u64::from(row.pawns) << u32::BITS);
            // The counts in damaged rows may be so large that their sum overflows.
            visits = row.games.iter().fold(visits, |sum: u64, &games| sum.saturating_add(games));
            sum = sum.wrapping_add(row.sum());
            records_of(row, &mut push)
        });
        self.monitor.rows.fetch_add(rows, Relaxed);
        lock(&self.pawns).push(pawns);
        self.visits.fetch_add(visits, Relaxed);
        self.sum.fetch_add(sum, Relaxed);
        done
    }
}

fn records_of(row: &PartialRow, push: &mut impl FnMut(Record) -> io::Result<()>) -> io::Result<()> {
    let PartialRow { key, side, mv, again, .. } = *row;
    let visit = Visit { key, pawn_key: 0, side, mv, again };
    for (result, &games) in RESULTS.into_iter().zip(&row.games) {
        // Counts in a book saturate at `u32::MAX`, so they must saturate in the records too.
        let mut left = u32::try_from(games).unwrap_or(u32::MAX);
        while left > 0 {
            let some = left.min(Record::MAX_GAMES);
            push(Record::of_games(&visit, result, some))?;
            left -= some;
        }
    }
    Ok(())
}

/// Returns the base-2 logarithm of the number of partitions to use when rows are read in place.
/// Returns `None` if the partitions being processed would not fit into memory, or if too many rows
/// would have to be read more than once.
fn narrow_bits(pieces: &[Piece], options: &BuildOptions) -> Option<u32> {
    let rows: u64 = pieces.iter().map(|piece| piece.rows).sum();
    let memory = options.memory.saturating_sub(FIXED_MEMORY + THREAD_MEMORY * options.threads);
    // Each record is in memory twice: as read and as sorted. A row is assumed to become two
    // records, one for each of two results.
    let bytes = 4 * size_of::<Record>() as u64 * options.threads.max(1) as u64;
    let fits = |&bits: &u32| (rows >> bits) * bytes <= memory as u64;
    let bits = (PARTITION_BITS..=MAX_BITS).find(fits)?;
    let read: u64 =
        pieces.iter().map(|piece| piece.rows * partitions_of(piece, bits).count() as u64).sum();
    (read <= rows * MAX_READ / 100).then_some(bits)
}

/// Returns the indices of the partitions, out of `2^bits`, that may contain rows of a piece.
fn partitions_of(piece: &Piece, bits: u32) -> impl Iterator<Item = usize> {
    // The keys are signed integers, so keys with the top bit set are negative and come first.
    let place = |key: &i64| key >> (u64::BITS - bits);
    let mask = (1_usize << bits) - 1;
    (place(piece.keys.start())..=place(piece.keys.end())).map(move |place| place as usize & mask)
}

fn pieces_of(pieces: &[Piece], bits: u32) -> Vec<Vec<usize>> {
    let mut of_partitions = vec![Vec::new(); 1 << bits];
    for (number, piece) in pieces.iter().enumerate() {
        partitions_of(piece, bits).for_each(|partition| of_partitions[partition].push(number));
    }
    of_partitions
}

struct InPlace<'a, S> {
    source: &'a S,
    pieces: Vec<Vec<usize>>,
    seen: &'a Seen<'a>,
}

impl<S: RowSource> Partitioned for InPlace<'_, S> {
    type Record = Record;

    fn parts(&self) -> usize {
        self.pieces.len()
    }

    fn block(
        &self,
        partition: usize,
        (records, sorted): &mut (Vec<Record>, Vec<Record>),
        options: &BuildOptions,
    ) -> io::Result<Block> {
        records.clear();
        let shift = u64::BITS - self.pieces.len().ilog2();
        let read = |take: &mut dyn FnMut(&PartialRow) -> io::Result<()>| {
            let mut take_own = |row: &PartialRow| match row.key >> shift == partition as u64 {
                true => take(row),
                false => Ok(()),
            };
            self.pieces[partition]
                .iter()
                .try_for_each(|&piece| self.source.read(piece, &mut take_own))
        };
        self.seen.records(read, |record| {
            records.push(record);
            Ok(())
        })?;
        Ok(Record::encode(records, sorted, options, 0))
    }
}

fn collect(
    source: &impl RowSource,
    options: &BuildOptions,
    seen: &Seen<'_>,
) -> io::Result<Vec<Collected<Record>>> {
    let threads = options.threads.max(1);
    let memory = options.memory.saturating_sub(FIXED_MEMORY) / threads;
    let (next, disk) = (AtomicUsize::new(0), Arc::new(Disk::new(None)));
    on_threads(threads, &|| {
        let memory = memory.saturating_sub(THREAD_MEMORY);
        let mut store = Store::new(memory, &options.spill_folder, Arc::clone(&disk));
        loop {
            let piece = next.fetch_add(1, Relaxed);
            if piece >= source.pieces().len() {
                return Ok(store.finish());
            }
            seen.records(
                |take| source.read(piece, take),
                |record| {
                    store.push(record);
                    store.spill_if_needed(0)
                },
            )?;
        }
    })
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;
    use std::io::Cursor;

    use super::*;
    use crate::chess::position::Position;
    use crate::games::book::builder::{Counted, build, count};
    use crate::games::pgn::PgnInput;
    use crate::support::random::Random;

    struct Rows {
        rows: Vec<PartialRow>,
        size: usize,
        pieces: Vec<Piece>,
    }

    impl Rows {
        fn new(rows: Vec<PartialRow>, size: usize) -> Self {
            let piece = |rows: &[PartialRow]| {
                let keys = || rows.iter().map(|row| row.key.cast_signed());
                let (least, greatest) = (keys().min().expect("rows"), keys().max().expect("rows"));
                Piece { rows: rows.len() as u64, keys: least..=greatest }
            };
            Rows { pieces: rows.chunks(size).map(piece).collect(), rows, size }
        }
    }

    impl RowSource for Rows {
        fn pieces(&self) -> &[Piece] {
            &self.pieces
        }

        fn read(
            &self,
            piece: usize,
            take: &mut dyn FnMut(&PartialRow) -> io::Result<()>,
        ) -> io::Result<()> {
            let begin = piece * self.size;
            self.rows[begin..(begin + self.size).min(self.rows.len())].iter().try_for_each(take)
        }
    }

    fn games(number: usize) -> PgnInput {
        let mut random = Random::new(1);
        let mut text = String::new();
        for game in 0..number {
            let mut position = Position::start();
            for _ in 0..60 {
                let moves: Vec<_> = position.legal_moves().iter().collect();
                let few = if game % 3 == 0 { 3 } else { moves.len() };
                let Some(&mv) = moves.get(random.below(few.max(1))) else { break };
                let _ = write!(text, "{} ", position.san(mv));
                position = position.play(mv);
            }
            text.push_str(["1-0\n\n", "0-1\n\n", "1/2-1/2\n\n"][game % 3]);
        }
        PgnInput::Text("games".to_owned(), text.into_bytes().into())
    }

    fn rows_of(counted: &Counted) -> Vec<PartialRow> {
        let mut rows = Vec::new();
        for part in 0..Counted::PARTS {
            let mut take = |row: &PartialRow| {
                rows.push(*row);
                Ok(())
            };
            counted.rows(part, &mut take).expect("in memory");
        }
        rows
    }

    fn packed(source: &Rows, counted: &Counted, visits: u64) -> Result<Vec<u8>, BuildError> {
        let options = &BuildOptions { threads: 2, ..BuildOptions::default() };
        let monitor = &Monitor::default();
        let sum = Some(rows_of(counted).iter().map(PartialRow::sum).fold(0, u64::wrapping_add));
        let packing = Packing { options, monitor, manifest: &counted.manifest, visits, sum };
        pack(source, &packing, Cursor::new(Vec::new())).map(Cursor::into_inner)
    }

    #[test]
    fn packed_rows_equal_the_built_book_however_divided() {
        let options = BuildOptions::default();
        let (inputs, monitor) = ([games(300)], Monitor::default());
        let (book, _) = build(&inputs, &options, &monitor, Cursor::new(Vec::new())).expect("games");
        let counted = count(&inputs, &options, &monitor).expect("games");
        let rows = rows_of(&counted);
        assert!(rows.iter().any(|row| row.again), "some games repeat a position");
        let visits = rows.iter().flat_map(|row| row.games).sum();
        let mut shuffled = rows.clone();
        Random::new(2).shuffle(&mut shuffled);
        // Split every row into two, so that each part has some of its games.
        let shared = rows.iter().flat_map(|row| {
            let mut first = *row;
            first.games[0] /= 2;
            [first, PartialRow { games: [row.games[0] - first.games[0], 0, 0, 0], ..*row }]
        });
        let narrow = Rows::new(rows.clone(), 4);
        assert_eq!(narrow_bits(&narrow.pieces, &options), Some(PARTITION_BITS));
        let wide = Rows::new(shuffled, 1000);
        assert_eq!(narrow_bits(&wide.pieces, &options), None);
        for source in [narrow, wide, Rows::new(shared.collect(), 3)] {
            assert!(packed(&source, &counted, visits).expect("rows") == *book.get_ref());
        }
        for (source, name) in
            [(Rows::new(rows.clone(), 4), "in place"), (Rows::new(rows.clone(), 9000), "anew")]
        {
            let stopped = Monitor::default();
            stopped.stop();
            let packing = Packing {
                options: &options,
                monitor: &stopped,
                manifest: &counted.manifest,
                visits,
                sum: None,
            };
            let error =
                pack(&source, &packing, Cursor::new(Vec::new())).expect_err("it is stopped");
            assert!(matches!(error, BuildError::Interrupted(_)), "{name}: {error}");
        }
        let missing = Rows::new(rows[1..].to_vec(), 4);
        let error = packed(&missing, &counted, visits).expect_err("a row is missing").to_string();
        assert!(error.contains("missing"), "{error}");
        for change in [
            |row: &mut PartialRow| row.key ^= 1 << 17,
            |row: &mut PartialRow| row.pawns ^= 1,
            |row: &mut PartialRow| row.again = !row.again,
            |row: &mut PartialRow| row.side = !row.side,
            |row: &mut PartialRow| row.mv = None,
            |row: &mut PartialRow| row.games.rotate_left(1),
        ] {
            let mut changed = rows.clone();
            change(changed.iter_mut().find(|row| row.mv.is_some()).expect("a move"));
            let error = packed(&Rows::new(changed, 4), &counted, visits).expect_err("changed");
            assert!(error.to_string().contains("damaged"), "{error}");
        }
    }
}
