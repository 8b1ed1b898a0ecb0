//! `tabia book build`: games to a book.

use std::fmt;
use std::io::{self, BufWriter, IntoInnerError, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::Context;

use super::disk::foretell;
use super::facets::FacetArgs;
use super::progress::BuildProgress;
use super::{book_output, grouped, parse_side, size};
use crate::book::{
    Book, BuildOptions, BuildTally, Checkpoints, DEFAULT_MAX_PLY, EcoRange, FaultListener,
    GameFilter, Monitor, build,
};
use crate::cli::output::{self, errln, outln};
use crate::cli::work::{INTERRUPTED, cores, on_interruption};
use crate::cli::writing::{FAULTS, Force, files_of};
use crate::files::{NewFile, Output};
use crate::pgn::{GameResult, Language, PgnInput};
use crate::position::Color;
use crate::words::{parse_seconds, visible};

/// What is added to the name of a book for the folder of what a long build has done so far.
const UNFINISHED: &str = ".unfinished";

/// Make a book from games in PGN
///
/// A build of more than a minute keeps what it has done in the folder BOOK.unfinished: the same command
/// goes on from there, whatever has ended it.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Files, folders, or - for standard input; .gz, .bz2 and .zst are read as they are
    #[arg(required = true, value_name = "IN")]
    inputs: Vec<PathBuf>,
    /// The book to write
    #[arg(short, long, value_name = "BOOK")]
    output: PathBuf,
    #[command(flatten)]
    force: Force,
    /// Plies of each game that count
    #[arg(long, default_value_t = DEFAULT_MAX_PLY, value_parser = clap::value_parser!(u32).range(1..=1000))]
    max_ply: u32,
    #[command(flatten)]
    prune: PruneArgs,
    /// Take in only the moves of one side
    #[arg(long, value_parser = parse_side)]
    side: Option<Color>,
    /// Count games and lines without a result, too
    #[arg(long)]
    undecided: bool,
    /// Count a game once, however often it comes (same players, year, moves and result)
    #[arg(long)]
    unique: bool,
    /// Whose letters stand for the pieces (de, fr, es …; default: each file shows it)
    #[arg(long, value_name = "CODE")]
    language: Option<Language>,
    /// Keep which games the counts are of: `book show` takes filters then, and lists games
    #[arg(long)]
    facets: bool,
    /// Stop at the first broken game
    #[arg(long)]
    strict: bool,
    #[command(flatten)]
    resources: Resources,
    /// Disk space that what waits to be sorted may take, besides the book, such as 40G (default: as much as
    /// there is)
    #[arg(long, value_parser = parse_memory, value_name = "SIZE")]
    disk: Option<usize>,
    /// Seconds between checkpoints, from which the same command goes on after a kill; 0 for none
    #[arg(long, default_value = "60", value_parser = parse_interval, value_name = "SECONDS")]
    checkpoint: Duration,
    /// Throw away what was kept of a build that was broken off
    #[arg(long)]
    afresh: bool,
    /// Write all faults to this file
    #[arg(long, value_name = "FILE")]
    errors: Option<PathBuf>,
    #[command(flatten)]
    filter: GameFilterArgs,
}

/// What stays out of a book, however it is made.
#[derive(Debug, clap::Args)]
pub(super) struct PruneArgs {
    /// Leave out positions that fewer games reached, and moves played in fewer
    #[arg(long, default_value_t = 1)]
    pub(super) min_games: u64,
    /// Leave out moves with which their side scored less, in percent
    #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=100))]
    pub(super) min_score: u32,
}

/// What the work may use, and whether it tells of itself.
#[derive(Debug, clap::Args)]
pub(super) struct Resources {
    /// Threads (default: one for each core)
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(super) threads: Option<u16>,
    /// Memory that may be used, such as 256M or 4G; what does not fit waits on disk
    #[arg(long, default_value = "1G", value_parser = parse_memory)]
    pub(super) memory: usize,
    /// Say nothing but errors
    #[arg(short, long)]
    pub(super) quiet: bool,
}

/// Which games count.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Which games count")]
pub(super) struct GameFilterArgs {
    /// Both players have at least this rating
    #[arg(long, value_name = "ELO")]
    min_elo: Option<u32>,
    /// Both players have at most this rating
    #[arg(long, value_name = "ELO")]
    max_elo: Option<u32>,
    #[command(flatten)]
    facets: FacetArgs,
    /// ECO codes (B90, B20-B99, C), separated by commas
    #[arg(long, value_delimiter = ',', value_name = "CODES")]
    eco: Vec<EcoRange>,
    /// At least so many seconds for each player, 60 increments included
    #[arg(long, value_name = "SECONDS")]
    min_seconds: Option<u32>,
    /// At most so many seconds for each player, 60 increments included
    #[arg(long, value_name = "SECONDS")]
    max_seconds: Option<u32>,
    /// Results (1-0, 1/2-1/2, 0-1), separated by commas
    #[arg(long, value_delimiter = ',', value_parser = parse_result, value_name = "RESULTS")]
    result: Vec<GameResult>,
    /// The name of a player, or a part of it; may be given more than once
    #[arg(long, value_name = "NAME")]
    player: Vec<String>,
    /// One of the players has one of these titles (GM,IM)
    #[arg(long, value_delimiter = ',', value_name = "TITLES")]
    title: Vec<String>,
}

fn parse_result(text: &str) -> Result<GameResult, String> {
    GameResult::from_token(text.as_bytes())
        .ok_or_else(|| "expected 1-0, 1/2-1/2, 0-1 or *".to_owned())
}

fn parse_interval(text: &str) -> Result<Duration, String> {
    parse_seconds(text).ok_or_else(|| "expected seconds, such as 60 or 0.5".to_owned())
}

fn parse_memory(text: &str) -> Result<usize, String> {
    let bad = || "expected a number with K, M or G, such as 256M".to_owned();
    let (number, shift) = match text.as_bytes().last().map(u8::to_ascii_uppercase) {
        Some(b'K') => (&text[..text.len() - 1], 10),
        Some(b'M') => (&text[..text.len() - 1], 20),
        Some(b'G') => (&text[..text.len() - 1], 30),
        _ => (text, 20),
    };
    number.parse::<usize>().ok().and_then(|number| number.checked_mul(1 << shift)).ok_or_else(bad)
}

impl GameFilterArgs {
    pub(super) fn resolve(&self) -> GameFilter {
        let lower = |texts: &[String]| texts.iter().map(|text| text.to_lowercase()).collect();
        GameFilter {
            min_elo: self.min_elo,
            max_elo: self.max_elo,
            facets: self.facets.resolve(),
            eco: self.eco.clone(),
            min_seconds: self.min_seconds,
            max_seconds: self.max_seconds,
            results: self.result.clone(),
            players: lower(&self.player),
            titles: lower(&self.title),
            side: None,
        }
    }
}

impl Args {
    /// Where the faults go.
    fn errors_output(&self, inputs: &[PgnInput]) -> Option<Output<'_>> {
        let output = Output::new(self.errors.as_deref()?, FAULTS).force(self.force.allowed);
        Some(output.apart_from(files_of(inputs)).apart_from([&self.output]))
    }

    /// Beside the book, under its name.
    fn checkpoints(&self) -> Checkpoints {
        let mut folder = self.output.clone().into_os_string();
        folder.push(UNFINISHED);
        Checkpoints {
            folder: folder.into(),
            every: self.checkpoint,
            disk: self.disk.map(|bytes| bytes as u64),
            afresh: self.afresh,
        }
    }

    fn resolve(&self) -> BuildOptions {
        let folder = self.output.parent().filter(|folder| !folder.as_os_str().is_empty());
        BuildOptions {
            max_ply: self.max_ply,
            undecided: self.undecided,
            filter: self.filter.resolve(),
            unique: self.unique,
            language: self.language,
            side: self.side,
            min_games: self.prune.min_games,
            min_score: self.prune.min_score,
            facets: self.facets,
            strict: self.strict,
            threads: self.resources.threads.map_or_else(cores, usize::from),
            memory: self.resources.memory,
            spill_folder: folder.unwrap_or(Path::new(".")).to_owned(),
            checkpoints: (!self.checkpoint.is_zero()).then(|| self.checkpoints()),
        }
    }
}

/// Builds a book.
///
/// # Errors
/// If an input does not exist, no game counts, or the book cannot be written; the old book, if
/// there is one, stays as it is.
pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let inputs = PgnInput::from_paths(&args.inputs)?;
    let options = args.resolve();
    let output = book_output(&args.output, args.force, files_of(&inputs)).create()?;
    let errors =
        args.errors_output(&inputs).map(|errors| FaultFile::create(&errors)).transpose()?;
    let mut monitor = Monitor::default();
    monitor.faults = errors.as_ref().map(FaultFile::listener);
    stop_on_interrupt(&monitor)?;
    let start = Instant::now();
    if !args.resources.quiet {
        let folder = args.checkpoints().folder;
        foretell(&inputs, &folder, args.max_ply, args.facets);
    }
    let built = {
        let _progress = (!args.resources.quiet).then(|| BuildProgress::start(&inputs, &monitor));
        build(&inputs, &options, &monitor, output)
    };
    let broken_inputs = built.as_ref().map_or(&[][..], |(_, tally)| &tally.broken_inputs);
    errors.map_or(Ok(()), |errors| errors.keep(broken_inputs))?;
    let (file, tally) =
        built.with_context(|| format!("{} was not written", args.output.display()))?;
    file.keep().with_context(|| format!("cannot write {}", args.output.display()))?;
    let unfinished = args.checkpoints();
    if !monitor.is_stopped() {
        let folder = unfinished.folder.display();
        unfinished.forget().with_context(|| format!("cannot remove {folder}"))?;
    }
    report_faults(&tally, args.resources.quiet, args.errors.is_some());
    if !args.resources.quiet {
        report_games(&tally, start.elapsed(), monitor.resumed.load(Relaxed))?;
        report_book(&args.output)?;
    }
    if monitor.is_stopped() {
        outln!("Interrupted: the book holds the games that were read until then.")?;
        if unfinished.folder.is_dir() {
            outln!("The same command goes on from there, by {}.", unfinished.folder.display())?;
        }
        return Ok(ExitCode::from(INTERRUPTED));
    }
    Ok(ExitCode::SUCCESS)
}

/// The first Ctrl-C ends the reading of games; the second one the program.
pub(super) fn stop_on_interrupt(monitor: &Monitor) -> anyhow::Result<()> {
    let monitor = monitor.clone();
    on_interruption(move || {
        if monitor.is_stopped() {
            std::process::exit(INTERRUPTED.into());
        }
        monitor.stop();
    })
}

/// The file of `--errors`, written while the games are read. Clones share it.
#[derive(Clone)]
struct FaultFile {
    path: PathBuf,
    written: Arc<Mutex<io::Result<BufWriter<NewFile>>>>,
}

impl FaultFile {
    fn create(output: &Output<'_>) -> anyhow::Result<Self> {
        let written = Arc::new(Mutex::new(Ok(BufWriter::new(output.stream()?))));
        Ok(FaultFile { path: output.path().to_owned(), written })
    }

    fn listener(&self) -> FaultListener {
        let file = self.clone();
        FaultListener::new(move |fault| file.add(&fault))
    }

    /// Adds a line. After a failure there are no more.
    fn add(&self, line: &impl fmt::Display) {
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        let failed = match &mut *written {
            Ok(file) => writeln!(file, "{line}").err(),
            Err(_) => None,
        };
        if let Some(error) = failed {
            *written = Err(error);
        }
    }

    /// Ends the file with what became of inputs, and puts it in its place.
    fn keep(self, broken_inputs: &[String]) -> anyhow::Result<()> {
        broken_inputs.iter().for_each(|broken| self.add(broken));
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        let written = std::mem::replace(&mut *written, Err(io::ErrorKind::BrokenPipe.into()));
        let whole = written.and_then(|file| file.into_inner().map_err(IntoInnerError::into_error));
        whole.and_then(NewFile::keep).map_err(|error| {
            let reason = crate::files::in_words(&error);
            anyhow::anyhow!("cannot write {}: {reason}", self.path.display())
        })
    }
}

/// Tells of the first faults and of all inputs that cannot be read.
pub(super) fn report_faults(tally: &BuildTally, quiet: bool, all_are_written: bool) {
    tally.broken_inputs.iter().for_each(|broken| errln!("tabia: {broken}"));
    if quiet {
        return;
    }
    tally.faults.iter().for_each(|fault| errln!("{fault}"));
    let more = tally.broken + tally.contradictions - tally.faults.len() as u64;
    if more > 0 && !all_are_written {
        errln!("{} more games with faults; --errors FILE lists them", grouped(more));
    }
}

/// Tells what became of the games, of which `before` were read by a build that was broken off.
pub(super) fn report_games(tally: &BuildTally, time: Duration, before: u64) -> anyhow::Result<()> {
    let mut out = output::stdout();
    let seconds = time.as_secs_f64().max(1e-3);
    let games = tally.games;
    let found = games.total() + tally.skipped.total();
    if before > 0 {
        let new = grouped(found - before.min(found));
        writeln!(out, "{} games read, the last {new} of them in {seconds:.2} s", grouped(found))?;
    } else {
        writeln!(
            out,
            "{} games read in {seconds:.2} s: {} games/s, {:.0} MB/s",
            grouped(found),
            grouped((found as f64 / seconds) as u64),
            tally.bytes as f64 / 1e6 / seconds,
        )?;
    }
    write!(
        out,
        "{} counted: +{} ={} -{}",
        grouped(games.total()),
        games.white,
        games.draws,
        games.black
    )?;
    writeln!(
        out,
        "{}",
        if games.undecided > 0 { format!(" *{}", games.undecided) } else { String::new() }
    )?;
    for (name, language) in &tally.foreign {
        let (name, letters) = (visible(name), language.letters());
        writeln!(out, "{name}: the pieces are {letters} ({language})")?;
    }
    if tally.broken > 0 {
        writeln!(out, "{} broken; the moves before the fault counted", grouped(tally.broken))?;
    }
    if tally.contradictions > 0 {
        let games = grouped(tally.contradictions);
        writeln!(out, "{games} with another result after the moves than in the Result tag")?;
    }
    if tally.skipped.total() > 0 {
        writeln!(out, "{} skipped: {}", grouped(tally.skipped.total()), tally.skipped)?;
    }
    Ok(())
}

/// Tells what is in the book.
pub(super) fn report_book(path: &Path) -> anyhow::Result<()> {
    // Not the whole book: it may be larger than the memory that is allowed.
    let (positions, moves) = Book::extent(path)?;
    let bytes = path.metadata().map_or(0, |metadata| metadata.len());
    outln!(
        "{}: {} positions, {} moves, {}",
        path.display(),
        grouped(positions),
        grouped(moves),
        size(bytes),
    )?;
    Ok(())
}
