//! Games to a book.
//!
//! Threads take chunks of text, and every game gives a record for each of its positions up to the
//! maximum depth: key, move, result. The records are kept in partitions by the top bits of the
//! key, which follow each other in the order of the book. Then each partition is sorted and
//! grouped into entries: three to four times as fast as counting into one hash map, since nothing
//! of it misses the cache. Records that the memory has no room for wait on disk, sorted.
//!
//! The bytes of a book depend on the set of its games alone: sums do not care for their order, and
//! nothing else is written.

mod counter;
mod filter;
mod game_records;
mod options;
mod records;
mod store;
mod tally;

use std::collections::BTreeMap;
use std::io::{self, Cursor, Read, Seek, Write};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, ScopedJoinHandle};

use crossbeam::channel::{self, Receiver, Sender};
use thiserror::Error;

pub use filter::{EcoRange, GameFilter, ParseFilterError};
pub use options::{BuildOptions, DEFAULT_MAX_PLY, DEFAULT_MEMORY, FaultListener, Monitor};
pub use tally::{BuildTally, GameFault};

use super::facets::{FileRecord, GameLog, GamesTable};
use super::pawn_filter::PawnSet;
use super::writer::{Block, BookWriter};
use super::{Book, BookError};
use crate::files::in_words;
use crate::pgn::{Chunk, Chunks, OpeningCache, PgnInput, TextReader, language_of};
use counter::{GameCounter, Shared};
use game_records::GameRecord;
use records::{PARTITIONS, PositionRecord, Record};
use store::{Collected, Store};
use tally::{ChunkTally, Tallies};

/// What became of a game whose tags passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Admission {
    Counted,
    Undecided,
    Empty,
    Duplicate,
}

/// Why no book was built.
#[derive(Debug, Error)]
pub enum BuildError {
    /// No game counts.
    #[error("no readable game that counts: {0}")]
    NoGames(String),
    /// A game is broken, and the build is strict.
    #[error("{0}")]
    Broken(String),
    /// Disk or memory trouble on the way.
    #[error("the book cannot be written: {0}")]
    Output(String),
}

impl From<io::Error> for BuildError {
    fn from(error: io::Error) -> Self {
        BuildError::Output(in_words(&error))
    }
}

/// Memory that a build needs besides records: program, buffers of text and blocks.
const FIXED_MEMORY: usize = 26 << 20;
/// Memory of each thread besides records: its chunk, front cache, pawn set, half-filled blocks and
/// the partition that it is sorting.
const THREAD_MEMORY: usize = 12 << 20;

/// Builds a book from inputs and writes it to an empty `output`, which is handed back with what
/// became of the games.
///
/// # Errors
/// If no game counts, a game is broken and the build is strict, or the output cannot be written.
pub fn build<W: Read + Write + Seek>(
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

/// As [`build`], by records of this kind.
fn build_of<R: PositionRecord, W: Read + Write + Seek>(
    inputs: &[PgnInput],
    options: &BuildOptions,
    monitor: &Monitor,
    output: W,
) -> Result<(W, BuildTally), BuildError> {
    let files = files_of(inputs, options);
    let shared = Shared::new(options);
    let (mut gathered, tally) = read_games::<R>(inputs, &shared, monitor)?;
    if let (true, Some(fault)) = (options.strict, tally.faults.first()) {
        return Err(BuildError::Broken(fault.to_string()));
    }
    if tally.games.total() == 0 {
        return Err(BuildError::NoGames(what_was_there(&tally)));
    }
    let logs = std::mem::take(&mut gathered.logs);
    let games = match options.facets {
        true => Some(GamesTable::new(logs, &files, |_, _| true)?),
        false => None,
    };
    let mut writer = BookWriter::new(output)?;
    if let Some(games) = &games {
        writer = writer.with_facets(&games.bytes, &options.spill_folder);
    }
    let source = Source { collected: &gathered.collected, games: games.as_ref() };
    write_entries(&source, options, monitor, &mut writer)?;
    drop(gathered.collected);
    let manifest = tally.manifest(options, monitor.is_stopped());
    Ok((writer.finish(&gathered.pawns, &manifest)?, tally))
}

/// What a book with facets says of its inputs.
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
/// As [`build`].
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

/// Why there is no game, in words.
fn what_was_there(tally: &BuildTally) -> String {
    if let Some(broken) = tally.broken_inputs.first() {
        return broken.clone();
    }
    let skipped = tally.skipped;
    let reasons = [
        (skipped.undecided, "without a result (--undecided takes them in)"),
        (skipped.variants, "of other variants"),
        (skipped.empty, "without a legal move"),
        (skipped.filtered, "kept out by the filters"),
    ];
    let found: Vec<String> = reasons
        .iter()
        .filter(|(number, _)| *number > 0)
        .map(|(number, what)| format!("{number} {what}"))
        .collect();
    match (found.is_empty(), skipped.untagged > 0) {
        (false, _) => found.join(", "),
        (true, true) => "there is text, but no game in it".to_owned(),
        (true, false) => "it is empty".to_owned(),
    }
}

/// What was read of all games.
struct Gathered<R> {
    /// The records of each thread.
    collected: Vec<Collected<R>>,
    /// The games that they number, of a book with facets.
    logs: Vec<GameLog>,
    pawns: PawnSet,
}

/// Reads all games on all threads, and tells what became of them.
fn read_games<R: PositionRecord>(
    inputs: &[PgnInput],
    shared: &Shared<'_>,
    monitor: &Monitor,
) -> Result<(Gathered<R>, BuildTally), BuildError> {
    let chunks = Chunks::new(inputs.to_vec(), monitor.bytes.clone());
    let source = Mutex::new(ChunkSource { chunks, taken: 0 });
    let tallies = Tallies::new(inputs, monitor.faults.as_ref());
    let work = || read_share(&source, shared, monitor, &tallies);
    let (mut collected, mut logs, mut pawns) = (Vec::new(), Vec::new(), None);
    for (records, more, log) in on_threads(shared.options.threads, &work)? {
        collected.push(records);
        logs.extend(log);
        match &mut pawns {
            None => pawns = Some(more),
            Some(pawns) => pawns.join(&more),
        }
    }
    let gathered = Gathered { collected, logs, pawns: pawns.unwrap_or_else(PawnSet::new) };
    let source = source.into_inner().unwrap_or_else(PoisonError::into_inner);
    Ok((gathered, tallies.finish(&source.chunks.into_broken())))
}

/// Where the threads take their chunks.
struct ChunkSource {
    chunks: Chunks,
    /// Chunks taken so far.
    taken: u64,
}

impl ChunkSource {
    /// The next chunk and its number over all inputs.
    fn next(&mut self, text: &mut Vec<u8>) -> Option<(u64, Chunk)> {
        let chunk = self.chunks.next(text)?;
        let number = self.taken;
        self.taken += 1;
        Some((number, chunk))
    }
}

/// Runs `work` on so many threads and collects what they return; on this one if one is enough.
fn on_threads<T: Send>(
    threads: usize,
    work: &(impl Fn() -> io::Result<T> + Sync),
) -> io::Result<Vec<T>> {
    if threads <= 1 {
        return Ok(vec![work()?]);
    }
    thread::scope(|scope| {
        join((0..threads).map(|_| scope.spawn(work)).collect())?.into_iter().collect()
    })
}

/// What threads return; an error if one has panicked.
fn join<T>(threads: Vec<ScopedJoinHandle<'_, T>>) -> io::Result<Vec<T>> {
    // All of them: their scope would panic for a thread that has, and that nobody joined.
    let results: Vec<_> = threads.into_iter().map(ScopedJoinHandle::join).collect();
    let died = |_| io::Error::other("a thread of the build has died");
    results.into_iter().map(|result| result.map_err(died)).collect()
}

/// What one thread does: chunk after chunk until there is none.
fn read_share<R: PositionRecord>(
    source: &Mutex<ChunkSource>,
    shared: &Shared<'_>,
    monitor: &Monitor,
    tallies: &Tallies<'_>,
) -> io::Result<(Collected<R>, PawnSet, Option<GameLog>)> {
    let options = shared.options;
    let threads = options.threads.max(1);
    let memory = options.memory.saturating_sub(FIXED_MEMORY) / threads;
    let store = Store::new(memory.saturating_sub(THREAD_MEMORY), &options.spill_folder);
    let mut counter = GameCounter::new(shared, store);
    let mut text = Vec::new();
    let mut experience = OpeningCache::default();
    while !monitor.is_stopped() {
        let Some((number, chunk)) = lock(source).next(&mut text) else { break };
        let turn = tallies.turn(number);
        let mut tally = ChunkTally::new(chunk, text.len(), tallies.most_faults());
        tally.language = options.language.unwrap_or_else(|| language_of(&text));
        let mut reader = TextReader::new(&text, chunk.line, experience, tally.language);
        let mut begin = reader.place();
        while let Some(end) = reader.read_game(&mut counter) {
            tally.note(end, counter.verdict());
            let game = &text[begin..reader.place()];
            counter.locate(chunk.input, chunk.offset + begin as u64, game);
            begin = reader.place();
            counter.relieve()?;
        }
        experience = reader.into_experience();
        monitor.games.fetch_add(tally.found, Relaxed);
        if options.strict && tally.is_broken() {
            monitor.stop();
        }
        turn.hand_in(tally);
    }
    let (store, pawns, log) = counter.into_parts();
    Ok((store.finish(), pawns, log))
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Where the entries come from.
struct Source<'a, R> {
    collected: &'a [Collected<R>],
    /// The games, in a book with facets.
    games: Option<&'a GamesTable>,
}

impl<R: PositionRecord> Source<'_, R> {
    /// The entries of a partition that stay.
    fn block(
        &self,
        partition: usize,
        (records, sorted): &mut (Vec<R>, Vec<R>),
        options: &BuildOptions,
    ) -> io::Result<Block> {
        records.clear();
        for (thread, part) in self.collected.iter().enumerate() {
            let begin = records.len();
            part.read(partition, records)?;
            if let Some(games) = self.games {
                let numbers = &games.numbers[thread];
                records[begin..].iter_mut().for_each(|record| record.renumber(numbers));
            }
        }
        Ok(R::encode(records, sorted, options, self.games.map_or(0, |games| games.games)))
    }
}

/// Sorts and groups all partitions on all threads and writes their entries in order.
fn write_entries<R: PositionRecord, W: Read + Write + Seek>(
    source: &Source<'_, R>,
    options: &BuildOptions,
    monitor: &Monitor,
    writer: &mut BookWriter<'_, W>,
) -> io::Result<()> {
    let next = AtomicUsize::new(0);
    let threads = options.threads.max(1);
    let (sender, receiver) = channel::bounded(threads);
    thread::scope(|scope| {
        let encode = |sender: Sender<_>| {
            let next = &next;
            scope.spawn(move || encode_share(source, options, next, &sender))
        };
        let encoding = (0..threads).map(|_| encode(sender.clone())).collect();
        drop(sender);
        let written = append_in_order(receiver, monitor, writer);
        join(encoding)?;
        written
    })
}

/// Writes the entries of the partitions in their order, in whatever order they come.
fn append_in_order<W: Read + Write + Seek>(
    blocks: Receiver<(usize, io::Result<Block>)>,
    monitor: &Monitor,
    writer: &mut BookWriter<'_, W>,
) -> io::Result<()> {
    let mut early = BTreeMap::new();
    let mut due = 0;
    for (partition, block) in blocks {
        early.insert(partition, block?);
        while let Some(block) = early.remove(&due) {
            writer.append(&block)?;
            due += 1;
            monitor.parts.fetch_add(1, Relaxed);
        }
    }
    Ok(())
}

/// What one thread does: partition after partition until there is none, or nobody listens.
fn encode_share<R: PositionRecord>(
    source: &Source<'_, R>,
    options: &BuildOptions,
    next: &AtomicUsize,
    sender: &Sender<(usize, io::Result<Block>)>,
) {
    let mut buffers = (Vec::new(), Vec::new());
    loop {
        let partition = next.fetch_add(1, Relaxed);
        if partition >= PARTITIONS {
            return;
        }
        let block = source.block(partition, &mut buffers, options);
        if sender.send((partition, block)).is_err() {
            return;
        }
    }
}
