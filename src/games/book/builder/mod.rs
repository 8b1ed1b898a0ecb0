//! Builds a book from games.
//!
//! Each thread processes one chunk of text after another. For every game, it creates one record
//! (key, move, result) per position, up to the maximum depth. The top bits of the key determine a
//! record's partition, so the partitions are in the same order as the book. Each partition is then
//! sorted and grouped into entries. This is three to four times as fast as counting in one hash
//! map, because the working set stays in the cache.
//!
//! The bytes of a book depend only on its set of games, not on their order. If the records exceed
//! `--memory`, they are sorted, written to disk, and read back in parts that fit into memory.

mod checkpoint;
mod checkpoint_file;
#[cfg(feature = "parquet")]
mod count;
mod counter;
mod draft;
#[cfg(feature = "parquet")]
mod facet_records;
mod filter;
mod game_records;
mod options;
#[cfg(feature = "parquet")]
mod pack;
mod records;
#[cfg(feature = "parquet")]
mod rows;
mod stage;
mod store;
mod tally;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Cursor, Read, Seek, Write};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, ScopedJoinHandle};
use std::time::Instant;

use crossbeam::channel::{self, Receiver, Sender};
use thiserror::Error;

pub use checkpoint::Checkpoints;
#[cfg(fuzzing)]
pub(crate) use checkpoint::save_state;
pub use draft::BookOutput;
pub(super) use filter::of_side;
pub use filter::{EcoRange, GameFilter};
pub(crate) use filter::{names_player, surname_letters};
pub use options::{BuildOptions, DEFAULT_MAX_PLY, DEFAULT_MEMORY, FaultListener, Monitor};
pub(super) use records::partition_of;
pub use tally::{BuildTally, GameFault};

#[cfg(feature = "parquet")]
pub(super) use count::{Counted, count};
#[cfg(feature = "parquet")]
pub(super) use pack::{Packing, Piece, RowSource, pack};
#[cfg(feature = "parquet")]
pub(super) use rows::{FacetKind, PartialRow, RowFacets};

use super::facets::{FileRecord, GameLog, GamesTable};
use super::format::error::BookError;
use super::format::pawn_filter::PawnSet;
use super::format::writer::{Block, BookWriter};
use super::lookup::Book;
use crate::games::pgn::{Chunks, OpeningCache, PgnInput, TextReader, language_of};
use crate::support::files::{FileError, describe};
use crate::support::threads::{STACK, start};
use checkpoint::CheckpointWriter;
use counter::{GameCounter, Shared};
use draft::BookDraft;
use game_records::GameRecord;
use records::{BookRecord, PARTITIONS, PositionRecord, Record};
use stage::{ChunkSource, STAGES_OF_EQUAL_TEXT, Until};
use store::{Collected, Part, Store};
use tally::{ChunkTally, Tallies, TallySoFar};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Admission {
    Counted,
    Undecided,
    Empty,
    Duplicate,
}

/// The reason why no book was built.
#[derive(Debug, Error)]
pub enum BuildError {
    /// No game was counted.
    #[error("cannot build a book: no readable game counts: {0}")]
    NoGames(String),
    /// An input derived from games, such as partial counts, cannot be used.
    #[cfg(feature = "parquet")]
    #[error("{0}")]
    Input(String),
    /// The task was stopped through the monitor, and its incomplete result is useless.
    #[cfg(feature = "parquet")]
    #[error("interrupted: {0}")]
    Interrupted(&'static str),
    /// A game in the input is broken, and the build is set to stop at broken games (`strict`).
    #[error("{0}")]
    Broken(String),
    /// The checkpoint cannot be read, or no longer matches the inputs.
    #[error("cannot resume from {folder}: {reason}; to discard it, add --afresh")]
    Checkpoint {
        /// The checkpoint folder.
        folder: String,
        /// The cause of the error.
        reason: String,
    },
    /// A disk or memory error.
    #[error("cannot write the output: {0}")]
    Output(String),
}

impl From<FileError> for BuildError {
    fn from(error: FileError) -> Self {
        BuildError::Output(error.to_string())
    }
}

impl From<io::Error> for BuildError {
    fn from(error: io::Error) -> Self {
        BuildError::Output(describe(&error))
    }
}

/// Memory that a build uses besides its records, in bytes: the program itself, text buffers and
/// blocks.
const FIXED_MEMORY: usize = 26 << 20;
/// Memory that each thread uses besides its records, in bytes: its chunk, front cache, pawn set,
/// half-filled blocks, and the partition being sorted.
const THREAD_MEMORY: usize = 12 << 20;

/// Builds a book from inputs and writes it to an empty `output`. If the build has checkpoints, call
/// [`Checkpoints::forget`] once the book is in its final place.
///
/// # Errors
/// If no game is counted, if a game is broken and the build is strict, if the output cannot be
/// written, or if the build cannot resume from existing checkpoints.
pub fn build<W: BookOutput>(
    inputs: &[PgnInput],
    options: &BuildOptions,
    monitor: &Monitor,
    output: W,
) -> Result<(W, BuildTally), BuildError> {
    match options.facets {
        false => build_of::<Record, W>(inputs, options, monitor, output),
        true => build_of::<GameRecord, W>(inputs, options, monitor, output),
    }
}

fn build_of<R: BookRecord, W: BookOutput>(
    inputs: &[PgnInput],
    options: &BuildOptions,
    monitor: &Monitor,
    mut output: W,
) -> Result<(W, BuildTally), BuildError> {
    let files = files_of(inputs, options);
    let shared = Shared::new(options);
    // `gather` also locks the checkpoint folder, so that the build has exclusive access.
    let (mut gathered, tally, mut checkpointer) = gather::<R>(inputs, &shared, monitor)?;
    if tally.games.total() == 0 {
        // All inputs were read without finding a game to count, so the checkpoints are useless.
        // Remove them, so that repeating the command reads the inputs again.
        let kept = options.checkpoints.as_ref().filter(|_| !monitor.is_stopped());
        kept.map_or(Ok(()), Checkpoints::forget)?;
        return Err(BuildError::NoGames(what_was_there(&tally)));
    }
    tally.warn_about_variations();
    let logs = std::mem::take(&mut gathered.logs);
    let games = match options.facets {
        true => Some(GamesTable::new(logs, &files, |_, _| true)?),
        false => None,
    };
    let bits = part_bits(&gathered.collected, options);
    let source = Source { collected: &gathered.collected, games: games.as_ref(), bits };
    // If the build was stopped before all games were read, the next run has to write the whole book
    // again, so no draft is needed.
    let is_whole = !monitor.is_stopped();
    let manifest = tally.manifest(options, !is_whole);
    match checkpointer
        .as_mut()
        .filter(|checkpointer| is_whole && checkpointer.has_any() && !options.facets)
    {
        Some(checkpointer) => {
            let (draft, writer) = write_draft(&source, options, monitor, checkpointer)?;
            drop(gathered.collected);
            draft.commit(&writer.finish(&gathered.pawns, &manifest)?, &mut output)?;
        }
        None => {
            let mut writer = BookWriter::new(output)?;
            if let Some(games) = &games {
                writer = writer.with_facets(&games.bytes, &options.spill_folder);
            }
            write_entries(&source, options, monitor, &mut writer)?;
            drop(gathered.collected);
            output = writer.finish(&gathered.pawns, &manifest)?;
        }
    }
    Ok((output, tally))
}

fn write_draft<'k, 'a>(
    source: &impl Partitioned,
    options: &BuildOptions,
    monitor: &Monitor,
    checkpointer: &'k mut CheckpointWriter<'a>,
) -> io::Result<(BookDraft<'k, 'a>, BookWriter<'static, File>)> {
    let (mut draft, mut writer) = BookDraft::begin(checkpointer, options, source.parts())?;
    let place = (draft.parts(), &mut writer);
    write_parts(source, options, monitor, place, |writer, parts| draft.keep_if_due(writer, parts))?;
    Ok((draft, writer))
}

fn gather<'a, R: PositionRecord>(
    inputs: &[PgnInput],
    shared: &Shared<'a>,
    monitor: &Monitor,
) -> Result<(Gathered<R>, BuildTally, Option<CheckpointWriter<'a>>), BuildError> {
    let (gathered, tally, checkpointer) = read_games::<R>(inputs, shared, monitor)?;
    match tally.faults.first() {
        Some(fault) if shared.options.strict => Err(BuildError::Broken(fault.clone())),
        _ => Ok((gathered, tally, checkpointer)),
    }
}

fn files_of(inputs: &[PgnInput], options: &BuildOptions) -> Vec<FileRecord> {
    let record = |input: &PgnInput| FileRecord {
        path: input.name(),
        absolute: input.absolute_name().unwrap_or_default(),
        bytes: input.size().unwrap_or(0),
    };
    if options.facets { inputs.iter().map(record).collect() } else { Vec::new() }
}

/// Builds a book in memory.
///
/// # Errors
/// See [`build`].
pub fn build_in_memory(
    inputs: &[PgnInput],
    options: &BuildOptions,
    name: &str,
) -> Result<(Book, BuildTally), BookError> {
    let output = Cursor::new(Vec::new());
    let (output, tally) = build(inputs, options, &Monitor::default(), output)
        .map_err(|error| BookError::NoGames { name: name.to_owned(), reason: error.to_string() })?;
    Ok((Book::from_bytes(output.into_inner(), name)?, tally))
}

/// The end of a message about an input with variations and games without a result.
const IS_REPERTOIRE: &str = "has variations: if it is a repertoire, use `tabia repertoire build`";

fn what_was_there(tally: &BuildTally) -> String {
    if let Some(broken) = tally.broken_inputs.first() {
        return broken.clone();
    }
    let skipped = tally.skipped;
    let reasons = [
        (skipped.undecided, "without a result (--undecided includes them)"),
        (skipped.variants, "of other variants"),
        (skipped.empty, "without a legal move"),
        (skipped.filtered, "excluded by the filters"),
    ];
    let found: Vec<String> = reasons
        .iter()
        .filter(|(number, _)| *number > 0)
        .map(|(number, what)| format!("{number} {what}"))
        .collect();
    match (found.is_empty(), skipped.untagged > 0) {
        (false, _) if tally.main_lines > 0 && skipped.undecided > 0 => {
            format!("{}; the input {IS_REPERTOIRE}", found.join(", "))
        }
        (false, _) => found.join(", "),
        (true, true) => "it contains text, but no game".to_owned(),
        (true, false) => "it is empty".to_owned(),
    }
}

struct Gathered<R> {
    collected: Vec<Collected<R>>,
    logs: Vec<GameLog>,
    pawns: PawnSet,
}

impl<R> Default for Gathered<R> {
    fn default() -> Self {
        Gathered { collected: Vec::new(), logs: Vec::new(), pawns: PawnSet::new() }
    }
}

impl<R> Gathered<R> {
    fn append(&mut self, other: Self) {
        self.collected.extend(other.collected);
        self.logs.extend(other.logs);
        self.pawns.join(&other.pawns);
    }
}

fn read_games<'a, R: PositionRecord>(
    inputs: &[PgnInput],
    shared: &Shared<'a>,
    monitor: &Monitor,
) -> Result<(Gathered<R>, BuildTally, Option<CheckpointWriter<'a>>), BuildError> {
    let mut chunks = Chunks::new(inputs.to_vec(), monitor.bytes.clone());
    let (mut gathered, mut tally) = (Gathered::default(), TallySoFar::default());
    let mut checkpointer = None;
    if let Some((mut found, beginning)) = CheckpointWriter::begin(inputs, shared)? {
        if let Some(beginning) = beginning {
            found.resume(&beginning, inputs, &mut chunks, monitor)?;
            (gathered, tally) = (beginning.gathered, beginning.tally);
        }
        checkpointer = Some(found);
    }
    loop {
        let until = checkpointer.as_ref().map(|checkpointer| Until {
            time: checkpointer.due(),
            bytes: tally.total.bytes / STAGES_OF_EQUAL_TEXT,
        });
        let faults = FaultListener::recording(monitor.faults.as_ref());
        let listener = faults.as_ref().map(|(listener, _)| listener);
        let source = Mutex::new(ChunkSource { chunks, taken: 0, bytes: 0, until, is_over: false });
        let tallies = Tallies::new(inputs, listener, tally);
        let mut stage = read_stage(&source, shared, monitor, &tallies)?;
        let source = source.into_inner().unwrap_or_else(PoisonError::into_inner);
        chunks = source.chunks;
        tally = tallies.finish();
        tally.note_checksums(&chunks.take_checksums());
        tally.note_broken(&chunks.take_broken(), inputs);
        gathered.pawns.join(&stage.pawns);
        let is_over = source.is_over || monitor.is_stopped();
        let place = chunks.so_far();
        if let Some(checkpointer) = &mut checkpointer {
            let begin = Instant::now();
            if checkpointer.is_worth_keeping(&place, is_over) {
                let received = faults
                    .map_or_else(Vec::new, |(_, received)| std::mem::take(&mut lock(&received)));
                let progress = (place, &tally, received);
                stage = checkpointer.keep(stage, &gathered.pawns, progress, shared)?;
            }
            checkpointer.put_off(begin.elapsed());
        }
        gathered.append(stage);
        if is_over {
            return Ok((gathered, tally.total, checkpointer));
        }
    }
}

fn read_stage<R: PositionRecord>(
    source: &Mutex<ChunkSource>,
    shared: &Shared<'_>,
    monitor: &Monitor,
    tallies: &Tallies<'_>,
) -> io::Result<Gathered<R>> {
    let work = || read_share(source, shared, monitor, tallies);
    let mut stage = Gathered::default();
    for (records, pawns, log) in on_threads(shared.options.threads, &work)? {
        stage.collected.push(records);
        stage.logs.extend(log);
        stage.pawns.join(&pawns);
    }
    Ok(stage)
}

/// Runs `work` on up to `threads` threads and collects all results. If `threads` is at most 1, runs
/// it on the current thread.
pub(super) fn on_threads<T: Send>(
    threads: usize,
    work: &(impl Fn() -> io::Result<T> + Sync),
) -> io::Result<Vec<T>> {
    if threads <= 1 {
        return Ok(vec![work()?]);
    }
    thread::scope(|scope| join(start(scope, (threads, STACK), |_| work)?)?.into_iter().collect())
}

fn join<T>(threads: Vec<ScopedJoinHandle<'_, T>>) -> io::Result<Vec<T>> {
    // Join all threads before reporting errors, because a scope panics if a panicked thread was not
    // joined.
    let results: Vec<_> = threads.into_iter().map(ScopedJoinHandle::join).collect();
    let died = |_| io::Error::other("a thread of the build has panicked");
    results.into_iter().map(|result| result.map_err(died)).collect()
}

fn read_share<R: PositionRecord>(
    source: &Mutex<ChunkSource>,
    shared: &Shared<'_>,
    monitor: &Monitor,
    tallies: &Tallies<'_>,
) -> io::Result<(Collected<R>, PawnSet, Option<GameLog>)> {
    let options = shared.options;
    let threads = options.threads.max(1);
    let memory = options.memory.saturating_sub(FIXED_MEMORY) / threads;
    let disk = Arc::clone(&shared.disk);
    let store = Store::new(memory.saturating_sub(THREAD_MEMORY), &options.spill_folder, disk);
    let mut counter = GameCounter::new(shared, store);
    let mut text = Vec::new();
    let mut openings = OpeningCache::default();
    while !monitor.is_stopped() {
        let Some((number, chunk)) = lock(source).next(&mut text) else { break };
        let turn = tallies.turn(number);
        let mut tally = ChunkTally::new(chunk, text.len(), tallies.max_faults());
        tally.language = options.language.unwrap_or_else(|| language_of(&text));
        let mut reader = TextReader::new(&text, chunk.line, openings, tally.language);
        let mut begin = reader.place();
        while let Some(end) = reader.read_game(&mut counter) {
            tally.note(end, counter.verdict());
            let is_main_line = counter.take_skipped_variations();
            tally.note_lines(counter.unusual_start(), is_main_line);
            let game = &text[begin..reader.place()];
            counter.finish_game(chunk.input, chunk.offset + begin as u64, game);
            begin = reader.place();
            counter.spill_if_needed()?;
        }
        openings = reader.into_openings();
        monitor.games.fetch_add(tally.found, Relaxed);
        if options.strict && tally.is_broken() {
            monitor.stop();
        }
        turn.submit(tally);
    }
    let (store, pawns, log) = counter.into_parts();
    Ok((store.finish(), pawns, log))
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Maximum memory that a record needs while it is being sorted, as a multiple of its size. The
/// record is held in memory as read, as sorted, and as part of an entry.
const COPIES: u64 = 4;
const MIN_SORTING: usize = 16 << 20;
/// The base-2 logarithm of the maximum number of parts per partition. Reading more parts would
/// require too many seeks.
const MAX_PART_BITS: u32 = 10;

trait Partitioned: Sync {
    type Record: BookRecord;

    fn parts(&self) -> usize;

    fn block(
        &self,
        number: usize,
        buffers: &mut (Vec<Self::Record>, Vec<Self::Record>),
        options: &BuildOptions,
    ) -> io::Result<Block>;
}

struct Source<'a, R> {
    collected: &'a [Collected<R>],
    games: Option<&'a GamesTable>,
    bits: u32,
}

/// Returns the base-2 logarithm of the number of parts per partition needed to keep all threads
/// within the memory limit. A book with facets always has one part per partition: its bytes depend
/// on the number of parts, which therefore must not depend on the memory limit.
fn part_bits<R: PositionRecord>(collected: &[Collected<R>], options: &BuildOptions) -> u32 {
    if !R::JOINS {
        return 0;
    }
    let length = |partition| collected.iter().map(|part| part.length(partition)).sum();
    let longest: u64 = (0..PARTITIONS).map(length).max().unwrap_or(0);
    let bytes = longest * size_of::<R>() as u64 * COPIES * options.threads.max(1) as u64;
    let memory = options.memory.saturating_sub(FIXED_MEMORY).max(MIN_SORTING) as u64;
    bytes.div_ceil(memory).next_power_of_two().trailing_zeros().min(MAX_PART_BITS)
}

impl<R: BookRecord> Partitioned for Source<'_, R> {
    type Record = R;

    fn parts(&self) -> usize {
        PARTITIONS << self.bits
    }

    fn block(
        &self,
        number: usize,
        (records, sorted): &mut (Vec<R>, Vec<R>),
        options: &BuildOptions,
    ) -> io::Result<Block> {
        records.clear();
        for (thread, collected) in self.collected.iter().enumerate() {
            let begin = records.len();
            collected.read_part(Part::new(number, self.bits), records)?;
            if let Some(games) = self.games {
                let numbers = &games.numbers[thread];
                if !records[begin..].iter_mut().all(|record| record.renumber(numbers)) {
                    return Err(io::Error::new(io::ErrorKind::InvalidData, "a record has no game"));
                }
            }
        }
        Ok(R::encode(records, sorted, options, self.games.map_or(0, |games| games.games)))
    }
}

fn write_entries<W: Read + Write + Seek>(
    source: &impl Partitioned,
    options: &BuildOptions,
    monitor: &Monitor,
    writer: &mut BookWriter<'_, W>,
) -> io::Result<()> {
    write_parts(source, options, monitor, (0, writer), |_, _| Ok(()))
}

/// Like [`write_entries`], but starts at the given part. After each part, calls `after` with the
/// number of parts written so far.
fn write_parts<'w, W: Read + Write + Seek>(
    source: &impl Partitioned,
    options: &BuildOptions,
    monitor: &Monitor,
    (first, writer): (usize, &mut BookWriter<'w, W>),
    after: impl FnMut(&BookWriter<'w, W>, usize) -> io::Result<()>,
) -> io::Result<()> {
    let next = AtomicUsize::new(first);
    let threads = options.threads.max(1);
    let (sender, receiver) = channel::bounded(threads);
    thread::scope(|scope| {
        let encode = |_| {
            let (next, sender) = (&next, sender.clone());
            move || encode_share(source, options, next, &sender)
        };
        let encoding = start(scope, (threads, STACK), encode)?;
        drop(sender);
        let report = |parts: usize| {
            let share = parts as u64 * Monitor::PARTS / source.parts() as u64;
            monitor.parts.store(share, Relaxed);
        };
        let written = append_in_order(receiver, (first, writer), report, after);
        join(encoding)?;
        written
    })
}

/// Encoded parts, each with its number.
type Batch = Vec<(usize, io::Result<Block>)>;

/// Minimum size in bytes of a batch, unless it is the last one of its thread. In a small book, parts
/// are much smaller. If each part were sent singly, its transfer could suspend a thread, which takes
/// milliseconds on a busy machine.
const BATCH_BYTES: usize = 64 << 10;

fn append_in_order<'w, W: Read + Write + Seek>(
    batches: Receiver<Batch>,
    (first, writer): (usize, &mut BookWriter<'w, W>),
    report: impl Fn(usize),
    mut after: impl FnMut(&BookWriter<'w, W>, usize) -> io::Result<()>,
) -> io::Result<()> {
    let mut early = BTreeMap::new();
    let mut due = first;
    for (number, block) in batches.into_iter().flatten() {
        early.insert(number, block?);
        while let Some(block) = early.remove(&due) {
            writer.append(&block)?;
            due += 1;
            report(due);
            after(writer, due)?;
        }
    }
    Ok(())
}

fn encode_share(
    source: &impl Partitioned,
    options: &BuildOptions,
    next: &AtomicUsize,
    sender: &Sender<Batch>,
) {
    let mut buffers = (Vec::new(), Vec::new());
    let (mut batch, mut bytes) = (Batch::new(), 0);
    loop {
        let number = next.fetch_add(1, Relaxed);
        if number >= source.parts() {
            break;
        }
        let block = source.block(number, &mut buffers, options);
        bytes += block.as_ref().map_or(BATCH_BYTES, Block::size);
        batch.push((number, block));
        if bytes >= BATCH_BYTES {
            if sender.send(std::mem::take(&mut batch)).is_err() {
                return;
            }
            bytes = 0;
        }
    }
    // Fails only if the writer has failed, which ends the build.
    let _ = sender.send(batch);
}
