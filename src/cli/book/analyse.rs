//! `tabia book analyse`: searches the positions of a book and stores the results in it.

use std::io::Cursor;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::bail;

use super::{book_output, grouped, open, write};
use crate::chess::position::{KeyMap, Position};
use crate::cli::args::{EvaluationArgs, SearchLimit, TableMemory, Threads};
use crate::cli::output::outln;
use crate::cli::work::{Progress, exit_status, positions_of, stop_switches};
use crate::cli::writing::Force;
use crate::engine::search::{Config, Limits};
use crate::games::book::{Book, BookValue, EMBEDDED_NAME, grow, has_grown_from};
use crate::support::files::Output;
use crate::support::words::counted;
use crate::tools::suite::Switch;
use crate::tools::suite::analysis::{
    Analysis, AnalysisJournal, Plan, frontier_moves, open_journal,
};

const NODES: u64 = 1_000_000;

/// Search the positions of a book and store the values in it
///
/// Starts with the positions reached in the most games. Values are backed up along the book's
/// moves: a position has the value of its best move, whether that move leads to an analysed
/// position or not. --grow extends the book beyond its games: it adds the best moves that lead out
/// of the analysis, the most likely ones first. The same command resumes an interrupted analysis,
/// even with more nodes or a lower --min-games.
#[derive(Debug, clap::Args)]
#[command(
    mut_arg("nodes", |arg| arg.help(format!("Nodes for each position (default: {NODES})"))),
    mut_arg("memory", |arg| arg.default_value("16M"))
)]
pub(super) struct AnalyseArgs {
    /// The book (.tbk), or `embedded`
    book: PathBuf,
    /// The book to write (default: the input book)
    #[arg(short, long, value_name = "BOOK")]
    output: Option<PathBuf>,
    #[command(flatten)]
    force: Force,
    /// Skip positions reached in fewer than N games
    #[arg(long, value_name = "N", default_value_t = 10)]
    min_games: u64,
    #[command(flatten)]
    limit: SearchLimit,
    /// Also cover N positions reached in fewer than --min-games games, or in no game
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    grow: u64,
    /// Search only these positions (FEN or EPD, one per line)
    #[arg(long, value_name = "FILE", conflicts_with_all = ["grow", "again"])]
    only: Option<PathBuf>,
    /// Reuse analysis results from another book; may be repeated
    #[arg(long, value_name = "BOOK", conflicts_with = "again")]
    known: Vec<PathBuf>,
    /// Search all positions again
    #[arg(long)]
    again: bool,
    #[command(flatten)]
    threads: Threads,
    #[command(flatten)]
    memory: TableMemory,
    #[command(flatten)]
    evaluation: EvaluationArgs,
}

impl AnalyseArgs {
    fn plan(&self) -> anyhow::Result<Plan> {
        let nodes = self.limit.nodes.unwrap_or(NODES);
        let limits = self.limit.seconds.map_or_else(|| Limits::nodes(nodes), Limits::move_time);
        let (memory_mb, evaluation) = (self.memory.mebibytes(), self.evaluation.open()?);
        let config = Config { memory_mb, evaluation, ..Config::default() };
        let positions = self.only.as_deref().map(|file| positions_of(Some(file))).transpose()?;
        let only = positions.map(|positions| positions.iter().map(|one| (one.key(), ())).collect());
        Ok(Plan { min_games: self.min_games, only, limits, config })
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

pub(super) fn run(args: &AnalyseArgs) -> anyhow::Result<ExitCode> {
    let target = args.target()?;
    let plan = args.plan()?;
    let book = args.begin(target)?;
    // The input book is not protected from overwriting, because the output contains everything in
    // it.
    let output = book_output(target, args.force, args.known.iter().chain(&args.only));
    output.check()?;
    let mut path = target.as_os_str().to_owned();
    path.push(".analysis");
    let (journal, found) = open_journal(Path::new(&path), &book)?;
    let old = if args.again { Vec::new() } else { args.known(&book)? };
    let analysis = Analysis::new(&book, old.into_iter().chain(found), plan);
    print_start(&analysis)?;
    let switches = stop_switches(args.threads.count())?;
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
    Ok(exit_status(work.is_stopped()))
}

/// The number of rounds in which a book grows. Each round uses the results of the previous ones.
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

    fn round(&mut self, mut journal: AnalysisJournal) -> anyhow::Result<()> {
        let mut progress = Progress::new(self.analysis.len() as u64, 0, "positions");
        let searched = self.analysis.search(&self.switches, |value| {
            journal.append(&value.to_bytes())?;
            progress.step();
            self.searched += 1;
            anyhow::Ok(())
        });
        progress.finish();
        searched?;
        let values = self.analysis.back_up(&self.book);
        self.book = write(&self.output, |file| self.book.write_with_values(&values, file))?;
        Ok(journal.remove()?)
    }

    /// Adds a fraction of the `wanted` positions to the book. Returns `false` if all of them have
    /// been added already or the book cannot be extended further. The book is written immediately,
    /// so that the same command can resume from it.
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
        self.analysis.extend(&self.book, &frontier_moves);
        Ok(true)
    }
}

impl AnalyseArgs {
    /// Opens the book to extend: the output, if an earlier run already extended the input book;
    /// otherwise, the input book itself.
    fn begin(&self, target: &Path) -> anyhow::Result<Book> {
        let book = open(&self.book)?;
        if self.grow > 0 && book.holds_weights() {
            bail!(
                "{} has weights in place of games: what it grew would weigh nothing, and never be played",
                self.book.display()
            );
        }
        let before = Book::open(target).ok().filter(|before| has_grown_from(before, &book));
        Ok(before.unwrap_or(book))
    }

    /// Returns the known values of the positions in a book. They come from the book itself, the
    /// output of an earlier run, and the books given by `--known`. Values from longer searches come
    /// last.
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

/// Returns the values of the positions in `own` from the analysis of another book.
///
/// A move to a position that only the other analysis covers leads out of this book's analysis, but
/// the other book's `outside` results exclude such moves. If there are such positions, `outside` is
/// therefore replaced by `own`, the result of searching all moves.
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
