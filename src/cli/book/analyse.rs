//! `tabia book analyse`: searches the positions of a book and stores the results in it.

use std::io::Cursor;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::bail;
use indicatif::ProgressBar;

use super::{book_output, grouped, open, write};
use crate::chess::position::{KeyMap, Position};
use crate::cli::judge::Judge;
use crate::cli::output::outln;
use crate::cli::work::{INTERRUPTED, cores, on_interruption, positions_of, progress_bar};
use crate::cli::writing::Force;
use crate::engine::search::{Config, Limits};
use crate::games::book::{
    AnalysisJournal, Book, BookValue, EMBEDDED_NAME, frontier_moves, grow, open_journal,
};
use crate::support::files::Output;
use crate::support::words::{counted, parse_time};
use crate::tools::suite::Switch;
use crate::tools::suite::analyse::{Analysis, Plan};

/// Interval of progress lines without a terminal.
const REPORT_INTERVAL: Duration = Duration::from_secs(60);

/// Search the positions of a book, and keep value, depth and best move in it
///
/// Positions that most games reached come first. What is found is backed up along the moves of the
/// book: a position is worth its best reply, of those that stay in the analysis and those that leave
/// it. With --grow the book is gone on with where its games end: the best moves that lead out of the
/// analysis, and the positions after them, are taken in, those first that play is likeliest to come
/// to. An analysis that was ended, by Ctrl-C or the power, is continued by the same command; so is one with
/// more nodes, or of fewer games.
#[derive(Debug, clap::Args)]
pub(super) struct AnalyseArgs {
    /// The book (.tbk), or `embedded`
    book: PathBuf,
    /// The book to write (default: the one that is analysed)
    #[arg(short, long, value_name = "BOOK")]
    output: Option<PathBuf>,
    #[command(flatten)]
    force: Force,
    /// Leave out positions that fewer games reached
    #[arg(long, value_name = "N", default_value_t = 10)]
    min_games: u64,
    /// Nodes for each search; what was searched with fewer is searched again
    #[arg(long, value_name = "N", default_value_t = 1_000_000, value_parser = clap::value_parser!(u64).range(1..))]
    nodes: u64,
    /// Seconds for each search, instead of nodes; what was searched is not searched again
    #[arg(long, value_parser = parse_time, conflicts_with = "nodes")]
    seconds: Option<Duration>,
    /// Positions of fewer games, or of none, that the analysis is to have in the end
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    grow: u64,
    /// Search only these positions (FEN or EPD, one a line); all others keep the values that they have
    #[arg(long, value_name = "FILE", conflicts_with_all = ["grow", "again"])]
    only: Option<PathBuf>,
    /// Take over what analyses of other books have found of the same positions
    #[arg(long, value_name = "BOOK", conflicts_with = "again")]
    known: Vec<PathBuf>,
    /// Search everything again
    #[arg(long)]
    again: bool,
    /// Searches at a time (default: one for each core)
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    threads: Option<u16>,
    /// Mebibytes for the transposition table of each search
    #[arg(long, value_name = "MB", default_value_t = 16, value_parser = clap::value_parser!(u32).range(1..=65_536))]
    memory: u32,
    #[command(flatten)]
    judge: Judge,
}

impl AnalyseArgs {
    fn plan(&self) -> anyhow::Result<Plan> {
        let limits = self.seconds.map_or_else(|| Limits::nodes(self.nodes), Limits::move_time);
        let (memory_mb, evaluation) = (self.memory as usize, self.judge.open()?);
        let config = Config { memory_mb, evaluation, ..Config::default() };
        let positions = self.only.as_deref().map(|file| positions_of(Some(file))).transpose()?;
        let only = positions.map(|positions| positions.iter().map(|one| (one.key(), ())).collect());
        Ok(Plan { min_games: self.min_games, only, limits, config })
    }

    /// Creates a stop switch for each search thread.
    fn switches(&self) -> Vec<Switch> {
        let threads = self.threads.map_or_else(cores, usize::from);
        (0..threads).map(|_| Switch::default()).collect()
    }

    fn target(&self) -> anyhow::Result<&Path> {
        let is_book = self.book.extension().is_some_and(|extension| extension == "tbk");
        match &self.output {
            Some(path) => Ok(path),
            None if self.book.as_os_str() == EMBEDDED_NAME => {
                bail!("the embedded book cannot be written to; name a file with -o")
            }
            None if !is_book => bail!(
                "{} is no book of Tabia (.tbk); make one of it with `tabia book build` or `import`, \
                 or name one to write with -o",
                self.book.display()
            ),
            None => Ok(&self.book),
        }
    }
}

/// Searches the positions and writes the book.
///
/// # Errors
/// If the book cannot be read or written.
pub(super) fn run(args: &AnalyseArgs) -> anyhow::Result<ExitCode> {
    let target = args.target()?;
    let plan = args.plan()?;
    let book = args.begin(target)?;
    // The output may replace its own source, because it contains all of it.
    let output = book_output(target, args.force, [] as [&Path; 0]);
    output.check()?;
    let mut path = target.as_os_str().to_owned();
    path.push(".analysis");
    let (journal, found) = open_journal(Path::new(&path), &book)?;
    let old = if args.again { Vec::new() } else { args.known(&book)? };
    let analysis = Analysis::new(&book, old.into_iter().chain(found), plan);
    print_start(&analysis)?;
    let switches = args.switches();
    let thrown = switches.clone();
    on_interruption(move || thrown.iter().for_each(Switch::stop))?;
    let mut work =
        Work { book, analysis, output, journal_path: path.into(), switches, searched: 0 };
    work.round(journal)?;
    while !work.is_stopped() && work.grow(args.grow)? {
        print_growth(&work.analysis, args.grow)?;
        let (mut journal, _) = open_journal(&work.journal_path, &work.book)?;
        work.analysis
            .wanted()
            .try_for_each(|wanted| journal.append(&wanted.to_bytes()).map(drop))?;
        work.round(journal)?;
    }
    print_end(&work.book, work.searched)?;
    Ok(if work.is_stopped() { ExitCode::from(INTERRUPTED) } else { ExitCode::SUCCESS })
}

/// Number of rounds in which a book grows; results of a round decide where the next one extends it.
const ROUNDS: u64 = 20;

struct Work<'a> {
    book: Book,
    analysis: Analysis,
    output: Output<'a>,
    journal_path: PathBuf,
    switches: Vec<Switch>,
    searched: u64,
}

impl Work<'_> {
    fn is_stopped(&self) -> bool {
        self.switches.iter().any(Switch::is_stopped)
    }

    /// Searches the remaining positions, and writes the book with all results.
    fn round(&mut self, mut journal: AnalysisJournal) -> anyhow::Result<()> {
        let mut progress = Progress::new(self.analysis.len());
        let searched = self.analysis.search(&self.switches, |value| {
            journal.append(&value.to_bytes())?;
            progress.step();
            anyhow::Ok(())
        });
        progress.bar.finish_and_clear();
        searched?;
        self.searched += progress.done;
        let values = self.analysis.back_up(&self.book);
        self.book = write(&self.output, |file| self.book.write_with_values(&values, file))?;
        Ok(journal.remove()?)
    }

    /// Extends the book by a share of `wanted` positions; returns `false` if it has them or there
    /// are none left. The file is written at once, so that the same command can resume.
    fn grow(&mut self, wanted: u64) -> anyhow::Result<bool> {
        let left = wanted.saturating_sub(self.analysis.beyond);
        let share = wanted.div_ceil(ROUNDS).min(left);
        let frontier_moves = frontier_moves(&self.book, usize::try_from(share)?);
        if frontier_moves.is_empty() {
            return Ok(false);
        }
        let values: Vec<BookValue> = self.book.values().collect();
        let grown = grow(&self.book, &frontier_moves, Cursor::new(Vec::new()))?;
        let grown = Book::from_bytes(grown.into_inner(), self.book.name())?;
        self.book = write(&self.output, |file| grown.write_with_values(&values, file))?;
        self.analysis.take_in(&self.book, &frontier_moves);
        Ok(true)
    }
}

impl AnalyseArgs {
    /// Opens the book to extend: the output if it was extended from the named one, otherwise the
    /// named one.
    fn begin(&self, target: &Path) -> anyhow::Result<Book> {
        let book = open(&self.book)?;
        if self.grow > 0 && book.holds_weights() {
            bail!(
                "{} has weights in place of games: what it grew would weigh nothing, and never be played",
                self.book.display()
            );
        }
        let before = Book::open(target).ok().filter(|before| before.has_grown_from(&book));
        Ok(before.unwrap_or(book))
    }

    /// Returns the known values of a book's positions: from the book itself, the earlier output,
    /// and other books. Values of longer searches are last.
    fn known(&self, book: &Book) -> anyhow::Result<Vec<BookValue>> {
        let before = self.output.as_deref().and_then(|path| Book::open(path).ok());
        let before = before.filter(|before| before.entries_checksum() == book.entries_checksum());
        let mut values: Vec<BookValue> = book.values().collect();
        values.extend(before.iter().flat_map(Book::values));
        if !self.known.is_empty() {
            let own: KeyMap<()> = book.entries().map(|entry| (entry.key, ())).collect();
            for path in &self.known {
                let other = open(path)?;
                values.extend(taken_over(&other, &own));
            }
        }
        values.sort_by_key(|value| (value.nodes, value.own_depth));
        Ok(values)
    }
}

/// Returns the values that another book's analysis has for these positions. If that analysis
/// included further positions, its best move outside the analysis may lead to one outside this
/// book. Only the results of searches over all moves are reliable then; searches without the other
/// moves are repeated where necessary.
fn taken_over(other: &Book, own: &KeyMap<()>) -> Vec<BookValue> {
    let (mut taken, left): (Vec<BookValue>, Vec<_>) =
        other.values().partition(|value| own.contains_key(&value.key));
    if !left.is_empty() {
        taken.iter_mut().for_each(|value| value.outside = value.own);
    }
    taken
}

fn print_start(analysis: &Analysis) -> std::io::Result<()> {
    let left = counted(analysis.len() as u64, "position");
    outln!("{left} to be searched, {} known", grouped(analysis.known() as u64))?;
    if analysis.out_of_reach > 0 {
        let positions = counted(analysis.out_of_reach, "position");
        outln!("{positions} left out: no moves of the book lead to them")?;
    }
    Ok(())
}

fn print_growth(analysis: &Analysis, wanted: u64) -> std::io::Result<()> {
    let [beyond, wanted, left] = [analysis.beyond, wanted, analysis.len() as u64].map(grouped);
    outln!("{beyond} of {wanted} positions taken in, {left} to be searched")
}

fn print_end(book: &Book, searched: u64) -> std::io::Result<()> {
    let (searched, values) = (counted(searched, "position"), grouped(book.values().len() as u64));
    outln!("{}: {searched} searched, {values} analysed", book.name())?;
    let start = Position::start();
    if let Some(value) = book.value(&start) {
        outln!("start position: {}", value.describe(&start))?;
    }
    Ok(())
}

struct Progress {
    bar: ProgressBar,
    wanted: u64,
    done: u64,
    begun: Instant,
    last_report: Instant,
}

impl Progress {
    fn new(wanted: usize) -> Self {
        let (bar, now) = (progress_bar(wanted, "positions"), Instant::now());
        Progress { bar, wanted: wanted as u64, done: 0, begun: now, last_report: now }
    }

    fn step(&mut self) {
        self.bar.inc(1);
        self.done += 1;
        if !self.bar.is_hidden() || self.last_report.elapsed() < REPORT_INTERVAL {
            return;
        }
        self.last_report = Instant::now();
        let rate = self.done as f64 / self.begun.elapsed().as_secs_f64();
        let minutes = (self.wanted - self.done) as f64 / rate / 60.0;
        let (done, wanted) = (grouped(self.done), grouped(self.wanted));
        // Searches continue even if nobody reads this.
        let _ = outln!("{done} of {wanted} positions, {rate:.1}/s, {minutes:.0} minutes left");
    }
}
