//! `tabia train relabel`: replaces the scores in self-play games with scores computed by a later
//! network.

use std::io;
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::time::Instant;

use anyhow::Context;

use super::{Paths, SELF_PLAY, interruption};
use crate::cli::args::{EvaluationArgs, Threads};
use crate::cli::output::outln;
use crate::cli::work::{INTERRUPTED, Progress};
use crate::engine::search::STACK_SIZE;
use crate::support::files::{FileError, Output};
use crate::support::threads;
use crate::tools::train::{
    GameReader, Judgement, PackedFile, PackedPart, PlayedGame, Relabeller, block_positions,
    game_fault,
};

/// Evaluate the positions of self-play games again
///
/// Moves and results are kept. The output is packed; see `tabia train pack`. The same command
/// resumes an interrupted run. The same settings give the same output with any number of threads.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    paths: Paths,
    /// Nodes for each position, after which no new iteration starts (default: no search)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    nodes: Option<u64>,
    #[command(flatten)]
    evaluation: EvaluationArgs,
    #[command(flatten)]
    threads: Threads,
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let interrupted = interruption()?;
    Output::new(&args.paths.output, SELF_PLAY).apart_from(&args.paths.files).check()?;
    let judgement = Judgement { evaluation: args.evaluation.open()?, nodes: args.nodes };
    let settings: Vec<String> = args
        .paths
        .files
        .iter()
        .map(|path| settings_of(path, &judgement))
        .collect::<anyhow::Result<_>>()?;
    let (output, held) = PackedFile::open(&args.paths.output)?;
    check_held(&args.paths.output, &held, &settings)?;
    let threads = args.threads.count();
    let mut work = Work {
        output,
        judgement: &judgement,
        threads,
        interrupted: &interrupted,
        progress: Progress::new(args.paths.files.iter().map(|path| size(path)).sum(), 0, "bytes"),
        passed: 0,
        begun: Instant::now(),
        games: 0,
        positions: 0,
    };
    for (number, (path, settings)) in args.paths.files.iter().zip(&settings).enumerate() {
        let done = match held.get(number) {
            // All parts of the output except the last are complete, so their inputs are skipped.
            Some(_) if number + 1 < held.len() => {
                work.pass(path);
                continue;
            }
            Some(part) => part.games,
            None => {
                work.output.begin(settings)?;
                0
            }
        };
        if !work.relabel(path, done)? {
            let _ = outln!("interrupted; the same command goes on");
            return Ok(ExitCode::from(INTERRUPTED));
        }
    }
    let before: usize = held.iter().map(|part| part.games).sum();
    work.print_totals(before, &args.paths.output)?;
    Ok(ExitCode::SUCCESS)
}

fn settings_of(path: &Path, judgement: &Judgement) -> anyhow::Result<String> {
    let reader = GameReader::open(path)?;
    let (bytes, old) = (reader.bytes(), reader.settings());
    Ok(format!("judged by {judgement}; in a file of {bytes} bytes: {old}"))
}

fn check_held(path: &Path, held: &[PackedPart], wanted: &[String]) -> Result<(), FileError> {
    let mut wanted = wanted.iter();
    for PackedPart { settings: found, .. } in held {
        let wanted = wanted.next().map_or("nothing", String::as_str);
        if found != wanted {
            let reason =
                format!("it was begun with {found}, not with {wanted}; choose another file");
            return Err(FileError::new("add games to", path, reason));
        }
    }
    Ok(())
}

struct Work<'a> {
    output: PackedFile,
    judgement: &'a Judgement,
    threads: usize,
    interrupted: &'a AtomicBool,
    /// The progress, measured in bytes of input.
    progress: Progress,
    /// The total size of the completed input files in bytes.
    passed: u64,
    begun: Instant,
    games: usize,
    positions: usize,
}

impl Work<'_> {
    /// Evaluates the games in one file, except the first `done`. Returns whether the file was
    /// completed.
    fn relabel(&mut self, path: &Path, done: usize) -> anyhow::Result<bool> {
        let full = block_positions(self.judgement.nodes.unwrap_or(1));
        let mut reader = GameReader::open(path)?;
        for _ in 0..done {
            reader.read_game()?;
        }
        loop {
            let first = reader.games() + 1;
            let mut games = Vec::new();
            let mut positions = 0;
            while positions < full
                && let Some(game) = reader.read_game()?
            {
                positions += game.moves.len();
                games.push(game);
            }
            if games.is_empty() {
                break;
            }
            let Some(judged) = self.judge(&games)? else { return Ok(false) };
            let judged = (first..).zip(judged).map(|(game, judged)| {
                let what = "a move is illegal; `tabia train pack` leaves such games out";
                judged.ok_or_else(|| game_fault(path, game, what))
            });
            self.output.append(&judged.collect::<Result<Vec<_>, _>>()?)?;
            self.games += games.len();
            self.positions += positions;
            self.progress.set(self.passed + reader.whole_bytes());
        }
        self.pass(path);
        Ok(true)
    }

    fn pass(&mut self, path: &Path) {
        self.passed += size(path);
        self.progress.set(self.passed);
    }

    /// Evaluates games on all threads. Returns `None` if interrupted.
    fn judge(&self, games: &[PlayedGame]) -> io::Result<Option<Vec<Option<PlayedGame>>>> {
        let next = AtomicUsize::new(0);
        let mut judged: Vec<(usize, Option<PlayedGame>)> = std::thread::scope(|scope| {
            let work = || {
                let mut relabeller = Relabeller::new(self.judgement);
                let mut judged = Vec::new();
                while !self.interrupted.load(Relaxed)
                    && let number = next.fetch_add(1, Relaxed)
                    && let Some(game) = games.get(number)
                {
                    judged.push((number, relabeller.judge(game)));
                }
                judged
            };
            let threads = threads::start(scope, (self.threads, STACK_SIZE), |_| work)?;
            let join = |thread: std::thread::ScopedJoinHandle<'_, _>| {
                thread.join().expect("a worker panicked")
            };
            Ok::<_, io::Error>(threads.into_iter().flat_map(join).collect())
        })?;
        judged.sort_unstable_by_key(|&(number, _)| number);
        let all = judged.len() == games.len();
        Ok(all.then(|| judged.into_iter().map(|(_, game)| game).collect()))
    }

    fn print_totals(&self, before: usize, path: &Path) -> anyhow::Result<()> {
        self.progress.finish();
        let Work { games, positions, .. } = self;
        let rate = *positions as f64 / self.begun.elapsed().as_secs_f64().max(1e-9);
        outln!(
            "{games} games added to {before} in {}: {positions} positions, {rate:.0} positions/s",
            path.display()
        )
        .context("cannot tell")
    }
}

fn size(path: &Path) -> u64 {
    path.metadata().map_or(0, |metadata| metadata.len())
}
