//! `tabia book build`: builds a book from games.

use std::collections::HashSet;
use std::fmt;
use std::io::{self, BufWriter, IntoInnerError, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};

use super::disk::estimate;
use super::facets::FacetArgs;
use super::progress::BuildProgress;
use super::{BookOutputArgs, extent, parse_side, size};
use crate::chess::position::Color;
use crate::cli::args::{GamePaths, Threads, parse_memory};
use crate::cli::output::{self, errln, outln};
use crate::cli::work::{INTERRUPTED, on_interruption};
use crate::cli::writing::{FAULTS, Force, files_of};
use crate::games::book::{
    Book, BookOutput, BuildOptions, BuildTally, Checkpoints, DEFAULT_MAX_PLY, EcoRange,
    FaultListener, GameFilter, Monitor, build,
};
use crate::games::pgn::{GameResult, Language, PgnInput, UNFINISHED};
use crate::support::files::{Cannot, NewFile, Output, describe};
use crate::support::words::{counted, grouped, parse_seconds, plural, visible};

/// Make a book from PGN games
///
/// A build that takes longer than a minute stores checkpoints in the folder BOOK.unfinished. If the
/// build is interrupted, the same command resumes it.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    pub(super) output: BookOutputArgs,
    #[command(flatten)]
    pub(super) prune: PruneArgs,
    /// Count identical games once (same players, year, moves and result)
    #[arg(long)]
    pub(super) unique: bool,
    #[command(flatten)]
    pub(super) run: RunArgs,
    // This group must be last, because its help heading would also apply to options that follow it.
    #[command(flatten)]
    pub(super) counting: CountingArgs,
}

/// Options that determine what is counted.
#[derive(Debug, clap::Args)]
pub(super) struct CountingArgs {
    #[command(flatten)]
    pub(super) games: GamePaths,
    /// Count only the first N plies of each game
    #[arg(long, value_name = "N", default_value_t = DEFAULT_MAX_PLY, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(super) max_ply: u32,
    /// Count one side's moves only; --player and --title then refer to that side
    #[arg(long, value_parser = parse_side)]
    pub(super) side: Option<Color>,
    /// Also count games without a result
    #[arg(long)]
    pub(super) undecided: bool,
    /// Store which games the counts come from, for filters and game lists
    #[arg(long)]
    pub(super) facets: bool,
    #[command(flatten)]
    pub(super) filter: GameFilterArgs,
}

impl CountingArgs {
    pub(super) fn options(&self) -> BuildOptions {
        BuildOptions {
            max_ply: self.max_ply,
            undecided: self.undecided,
            filter: self.filter.resolve(self.side),
            side: self.side,
            facets: self.facets,
            ..BuildOptions::default()
        }
    }
}

/// Options that do not affect the counts.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct RunArgs {
    #[command(flatten)]
    pub(super) reading: ReadingArgs,
    #[command(flatten)]
    pub(super) resources: Resources,
    /// Limit on disk space for data that does not fit into memory, such as 40G (default: no limit)
    #[arg(long, value_parser = parse_memory, value_name = "SIZE", hide_short_help = true)]
    disk: Option<usize>,
    /// Seconds between checkpoints; 0 disables them
    #[arg(long, default_value = "60", value_parser = parse_interval, value_name = "S", hide_short_help = true)]
    checkpoint: Duration,
    /// Discard the checkpoints of an earlier run
    #[arg(long)]
    pub(super) afresh: bool,
    /// Write all errors found in the games to this file
    #[arg(long, value_name = "FILE")]
    pub(super) errors: Option<PathBuf>,
}

/// Options for reading games.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct ReadingArgs {
    /// Language of the piece letters (de, fr, es …; default: that of each file)
    #[arg(long, value_name = "CODE", hide_short_help = true)]
    pub(super) language: Option<Language>,
    /// Stop at the first game with an error
    #[arg(long, hide_short_help = true)]
    pub(super) strict: bool,
}

/// Options that omit rare positions, and rare or weak moves.
#[derive(Debug, clap::Args)]
pub(super) struct PruneArgs {
    /// Omit positions reached and moves played in fewer than N games
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(super) min_games: u64,
    /// Omit moves that scored less than P percent for their side
    #[arg(long, value_name = "P", default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=100))]
    pub(super) min_score: u32,
}

/// The memory that a command may use, and whether it reports progress.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct Resources {
    #[command(flatten)]
    threads: Threads,
    /// Memory to use, such as 256M or 4G; excess data goes to disk
    #[arg(long, value_name = "SIZE", default_value = "1G", value_parser = parse_memory)]
    memory: usize,
    /// Print errors only
    #[arg(short, long)]
    pub(super) quiet: bool,
}

impl Resources {
    /// Adds the limits to the options. Data that exceeds the memory is stored next to `output`.
    pub(super) fn limit(&self, options: BuildOptions, output: &Path) -> BuildOptions {
        let folder = output.parent().filter(|folder| !folder.as_os_str().is_empty());
        BuildOptions {
            threads: self.threads.count(),
            memory: self.memory,
            spill_folder: folder.unwrap_or(Path::new(".")).to_owned(),
            ..options
        }
    }
}

/// Options that select the games to count.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Game selection")]
pub(super) struct GameFilterArgs {
    /// Minimum rating of both players
    #[arg(long, value_name = "ELO")]
    min_elo: Option<u32>,
    /// Maximum rating of both players
    #[arg(long, value_name = "ELO")]
    max_elo: Option<u32>,
    #[command(flatten)]
    facets: FacetArgs,
    /// ECO codes, such as B90,B20-B99,C
    #[arg(long, value_delimiter = ',', value_name = "CODES")]
    eco: Vec<EcoRange>,
    /// Minimum time per player in seconds, including 60 increments
    #[arg(long, value_name = "S", hide_short_help = true)]
    min_seconds: Option<u32>,
    /// Maximum time per player in seconds, including 60 increments
    #[arg(long, value_name = "S", hide_short_help = true)]
    max_seconds: Option<u32>,
    /// Results, such as 1-0,1/2-1/2
    #[arg(long, value_delimiter = ',', value_parser = parse_result, value_name = "RESULTS")]
    result: Vec<GameResult>,
    /// Part of a player's name; may be repeated
    #[arg(long, value_name = "NAME")]
    player: Vec<String>,
    /// Player titles, such as GM,IM
    #[arg(long, value_delimiter = ',', value_name = "TITLES")]
    title: Vec<String>,
}

pub(in crate::cli) fn lowercase(names: &[String]) -> Vec<String> {
    names.iter().map(|name| name.to_lowercase()).collect()
}

fn parse_result(text: &str) -> Result<GameResult, String> {
    GameResult::from_token(text.as_bytes())
        .ok_or_else(|| "expected 1-0, 1/2-1/2, 0-1 or *".to_owned())
}

fn parse_interval(text: &str) -> Result<Duration, String> {
    parse_seconds(text).ok_or_else(|| "expected seconds, such as 60 or 0.5".to_owned())
}

impl GameFilterArgs {
    pub(super) fn resolve(&self, side: Option<Color>) -> GameFilter {
        let names_players = !(self.player.is_empty() && self.title.is_empty());
        GameFilter {
            min_elo: self.min_elo,
            max_elo: self.max_elo,
            facets: self.facets.resolve(),
            eco: self.eco.clone(),
            min_seconds: self.min_seconds,
            max_seconds: self.max_seconds,
            results: self.result.clone(),
            players: lowercase(&self.player),
            titles: lowercase(&self.title),
            side: side.filter(|_| names_players),
            rated_side: None,
        }
    }
}

impl Args {
    fn errors_output(&self, inputs: &[PgnInput]) -> Option<Output<'_>> {
        let output = Output::new(self.run.errors.as_deref()?, FAULTS);
        let output = output.force(self.output.force.allowed);
        Some(output.apart_from(files_of(inputs)).apart_from([&self.output.path]))
    }

    /// Returns the checkpoints, which are stored next to the book and named after it.
    pub(super) fn checkpoints(&self) -> Checkpoints {
        let mut folder = self.output.path.clone().into_os_string();
        folder.push(UNFINISHED);
        Checkpoints {
            folder: folder.into(),
            every: self.run.checkpoint,
            disk: self.run.disk.map(|bytes| bytes as u64),
            afresh: self.run.afresh,
        }
    }

    /// Describes which games, positions and moves are included, as stored in the manifest.
    pub(super) fn describe_filters(&self) -> Vec<String> {
        self.resolve().describe()
    }

    /// Returns these arguments with `games` as the inputs and with the counting options recorded in
    /// a book. Fails if a counting option is set here and differs from the recorded one.
    pub(super) fn with_options_of(&self, recorded: Self, games: GamePaths) -> anyhow::Result<Self> {
        let (own, of_book) = (self.describe_filters(), recorded.describe_filters());
        let max_ply = recorded.counting.max_ply;
        if !own.is_empty() && own != of_book {
            bail!("the book was built with other filters ({})", of_book.join("; "));
        }
        if self.counting.max_ply != DEFAULT_MAX_PLY && self.counting.max_ply != max_ply {
            bail!("the book counts {max_ply} plies of each game");
        }
        if self.counting.facets && !recorded.counting.facets {
            bail!("the book has no facets");
        }
        Ok(recorded.running(games, self.output.force, &self.run))
    }

    pub(super) fn running(self, games: GamePaths, force: Force, run: &RunArgs) -> Self {
        Args {
            counting: CountingArgs { games, ..self.counting },
            output: BookOutputArgs { force, ..self.output },
            run: run.clone(),
            ..self
        }
    }

    fn resolve(&self) -> BuildOptions {
        let options = BuildOptions {
            unique: self.unique,
            language: self.run.reading.language,
            strict: self.run.reading.strict,
            min_games: self.prune.min_games,
            min_score: self.prune.min_score,
            checkpoints: (!self.run.checkpoint.is_zero()).then(|| self.checkpoints()),
            ..self.counting.options()
        };
        self.run.resources.limit(options, &self.output.path)
    }
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let (inputs, again) = inputs_once(&args.counting.games.games)?;
    let output = args.output.apart_from(files_of(&inputs)).create()?;
    report_named_again(&again);
    let start = Instant::now();
    let (file, tally, monitor) = build_shown(args, &inputs, output)?;
    file.keep()?;
    let unfinished = args.checkpoints();
    if !monitor.is_stopped() {
        unfinished.forget().map_err(|error| {
            let (book, folder) = (args.output.path.display(), unfinished.folder.display());
            let reason = describe(&error);
            anyhow::anyhow!(
                "{book} is written, but {folder} cannot be removed: {reason}; remove it"
            )
        })?;
    }
    report_faults(&tally, args.run.resources.quiet, args.run.errors.is_some());
    if !args.unique {
        report_repeats(&tally);
    }
    if !args.run.resources.quiet {
        report_games(&tally, start.elapsed(), monitor.resumed.load(Relaxed))?;
        report_book(&args.output.path)?;
    }
    if monitor.is_stopped() {
        outln!("Interrupted: the book holds the games that were read until then.")?;
        if unfinished.folder.is_dir() {
            outln!("The same command continues with {}.", unfinished.folder.display())?;
        }
        return Ok(ExitCode::from(INTERRUPTED));
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns the inputs at these paths without repeated files, and the names of the repeated files.
pub(super) fn inputs_once(paths: &[PathBuf]) -> anyhow::Result<(Vec<PgnInput>, Vec<String>)> {
    let (mut seen, mut again) = (HashSet::new(), Vec::new());
    let mut inputs = PgnInput::from_paths(paths)?;
    inputs.retain(|input| {
        let PgnInput::File(path) = input else { return true };
        let is_new = path.canonicalize().map_or(true, |path| seen.insert(path));
        again.extend((!is_new).then(|| input.name()));
        is_new
    });
    Ok((inputs, again))
}

pub(super) fn report_named_again(names: &[String]) {
    for name in names {
        errln!("{} is named twice; it is read once", visible(name));
    }
}

/// Builds a book and shows the progress. Returns the output, the tally of games, and the monitor,
/// through which Ctrl-C stops the build.
pub(super) fn build_shown<W: BookOutput>(
    args: &Args,
    inputs: &[PgnInput],
    output: W,
) -> anyhow::Result<(W, BuildTally, Monitor)> {
    let errors = args.errors_output(inputs).map(|errors| FaultFile::create(&errors)).transpose()?;
    let mut monitor = Monitor::default();
    monitor.faults = errors.as_ref().map(FaultFile::listener);
    stop_on_interrupt(&monitor)?;
    if !args.run.resources.quiet {
        estimate(inputs, &args.checkpoints().folder, args.counting.max_ply, args.counting.facets);
    }
    let built = {
        let _progress = (!args.run.resources.quiet).then(|| BuildProgress::start(inputs, &monitor));
        build(inputs, &args.resolve(), &monitor, output)
    };
    let broken_inputs = built.as_ref().map_or(&[][..], |(_, tally)| &tally.broken_inputs);
    errors.map_or(Ok(()), |errors| errors.keep(broken_inputs))?;
    let (output, tally) =
        built.with_context(|| format!("{} was not written", args.output.path.display()))?;
    Ok((output, tally, monitor))
}

/// Reports inputs that have the same text, because their games have been counted twice.
fn report_repeats(tally: &BuildTally) {
    for (number, input) in tally.inputs.iter().enumerate() {
        let before = tally.inputs[..number].iter().find(|other| {
            !input.checksum.is_empty() && input.games > 0 && other.is_same_text(input)
        });
        if let Some(before) = before {
            errln!(
                "{} has the same text as {}: its {} games count twice; omit one of them, or \
                 build with --unique",
                visible(&input.name),
                visible(&before.name),
                grouped(input.games)
            );
        }
    }
}

/// Makes the first Ctrl-C stop reading games and the second one end the program.
pub(super) fn stop_on_interrupt(monitor: &Monitor) -> anyhow::Result<()> {
    let monitor = monitor.clone();
    on_interruption(move || {
        if monitor.is_stopped() {
            std::process::exit(INTERRUPTED.into());
        }
        monitor.stop();
    })
}

/// The file given by `--errors`, which is written while games are read. Clones share the same file.
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

    /// Adds a line to the file. After a write error, later lines are dropped.
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

    /// Adds a line for each unreadable input, and moves the file to its final path.
    fn keep(self, broken_inputs: &[String]) -> anyhow::Result<()> {
        broken_inputs.iter().for_each(|broken| self.add(broken));
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        let written = std::mem::replace(&mut *written, Err(io::ErrorKind::BrokenPipe.into()));
        let whole = written.and_then(|file| file.into_inner().map_err(IntoInnerError::into_error));
        Ok(whole.cannot("write", &self.path)?.keep()?)
    }
}

pub(super) fn report_faults(tally: &BuildTally, quiet: bool, all_are_written: bool) {
    tally.broken_inputs.iter().for_each(|broken| errln!("tabia: {broken}"));
    if quiet {
        return;
    }
    tally.faults.iter().for_each(|fault| errln!("{fault}"));
    let more = tally.broken + tally.contradictions - tally.faults.len() as u64;
    if more > 0 && !all_are_written {
        errln!(
            "{} more {} with faults; --errors FILE lists them",
            grouped(more),
            plural(more, "game")
        );
    }
}

/// Prints the tally of the games. `before` is the number of games that were read before the build
/// was interrupted and resumed.
pub(super) fn report_games(tally: &BuildTally, time: Duration, before: u64) -> anyhow::Result<()> {
    let mut out = output::stdout();
    let seconds = time.as_secs_f64().max(1e-3);
    let games = tally.games;
    let found = games.total() + tally.skipped.total();
    if before > 0 {
        let new = grouped(found - before.min(found));
        writeln!(out, "{} read, the last {new} of them in {seconds:.2} s", counted(found, "game"))?;
    } else {
        writeln!(
            out,
            "{} read in {seconds:.2} s: {} games/s, {:.0} MB/s",
            counted(found, "game"),
            grouped((found as f64 / seconds) as u64),
            tally.bytes as f64 / 1e6 / seconds,
        )?;
    }
    writeln!(out, "{} counted: {games}", grouped(games.total()))?;
    for (name, language) in &tally.foreign {
        let (name, letters) = (visible(name), language.letters());
        writeln!(out, "{name}: the pieces are {letters} ({language})")?;
    }
    if tally.broken > 0 {
        writeln!(out, "{} broken; the moves before the error are counted", grouped(tally.broken))?;
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

pub(super) fn report_book(path: &Path) -> anyhow::Result<()> {
    // Read only the numbers of positions and moves, because loading the book may exceed the memory
    // limit.
    let (positions, moves) = Book::extent(path)?;
    let bytes = path.metadata().map_or(0, |metadata| metadata.len());
    outln!("{}: {}, {}", path.display(), extent(positions, moves), size(bytes),)?;
    Ok(())
}
