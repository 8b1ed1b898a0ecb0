//! `tabia bench transpositions`: measures how much the search benefits from a book at inner nodes.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context;

use crate::chess::position::Position;
use crate::cli::args::TableMemory;
use crate::cli::list::{List, list};
use crate::cli::output;
use crate::cli::work::{progress_bar, stop_switch};
use crate::cli::writing::{EPD, Force, files_of};
use crate::engine::search::{BookSearch, Config, Limits, Searcher, TimeLimit};
use crate::games::book::Book;
use crate::games::pgn::PgnInput;
use crate::support::files::{Cannot, Output};
use crate::support::words::parse_time;
use crate::tools::suite::transpositions::{
    Attempt, Drawn, MODES, Mean, ModeSummary, ModeTrial, Selector, SuiteSelection, attempt,
    summarise,
};
use clap::builder::StringValueParser;

/// Compare each mode of using the book inside the search with plain search
///
/// The positions are not in the book, but their games return to it within a few plies.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The book (.tbk, .bin or .pgn)
    #[arg(long, value_name = "BOOK")]
    book: PathBuf,
    /// PGN files or folders with games that are not in the book; may be compressed
    #[arg(long, value_name = "PGN", required = true, num_args = 1..)]
    games: Vec<PathBuf>,
    /// Number of positions to search
    #[arg(long, default_value_t = 100)]
    positions: usize,
    /// Maximum number of plies before a game returns to the book
    #[arg(long, default_value_t = 6)]
    reach: usize,
    /// Seconds on the clock; the increment is one hundredth of this
    #[arg(long, default_value = "10", value_parser = parse_time)]
    clock: Duration,
    /// Start no new iteration after N nodes, instead of using a clock
    #[arg(long, value_name = "N", conflicts_with = "clock")]
    nodes: Option<u64>,
    /// Modes to compare
    #[arg(long, default_value = "stop,value,steer,first", value_parser = list(StringValueParser::new()))]
    modes: List<String>,
    /// Judge the moves by a search with N times as many nodes
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = clap::value_parser!(u64).range(1..))]
    judge: u64,
    #[command(flatten)]
    memory: TableMemory,
    /// Seed for selecting the positions
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Write the positions to this file as openings (EPD), without searching
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,
    #[command(flatten)]
    force: Force,
    /// Print one JSON object instead of text
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let book = Book::open(&args.book)?;
    let Drawn { positions, found, answered } = select(args, &book)?;
    anyhow::ensure!(
        !positions.is_empty(),
        "no game is out of the book and comes back within {} plies; give more games, or others \
         than those of the book",
        args.reach
    );
    let mut out = output::stdout();
    if let Some(path) = &args.save {
        let epd: String = positions.iter().map(epd_line).collect();
        let output = Output::new(path, EPD).force(args.force.allowed);
        let output = output.apart_from([&args.book]);
        output.apart_from(files_of(&PgnInput::from_paths(&args.games)?)).write(epd.as_bytes())?;
        writeln!(
            out,
            "{} of {found} positions in {}; {answered} more that the book answers at the root",
            positions.len(),
            path.display()
        )?;
        return Ok(ExitCode::SUCCESS);
    }
    let modes = args.modes.iter().map(|mode| parse_mode(mode)).collect::<Result<Vec<_>, _>>()?;
    let trials = search(args, &book, &modes, &positions)?;
    let summaries = summarise(&modes, &trials);
    if args.json {
        let rows: Vec<_> = summaries.iter().map(to_json).collect();
        writeln!(
            out,
            "{}",
            serde_json::json!({ "found": found, "answered": answered, "modes": rows })
        )?;
    } else {
        writeln!(
            out,
            "{} of {found} positions searched; {answered} more are answered by the book at the root",
            trials.len()
        )?;
        summaries.iter().try_fold((), |(), summary| write_summary(&mut out, summary))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn select(args: &Args, book: &Book) -> anyhow::Result<Drawn> {
    let selection = SuiteSelection {
        reach: args.reach,
        max_plies: 60,
        positions: args.positions,
        seed: args.seed,
    };
    let mut selector = Selector::new(book, selection);
    let inputs = PgnInput::from_paths(&args.games)?;
    let bar = progress_bar(inputs.len(), "reading files");
    for input in &inputs {
        selector.read(input).cannot("read", input.name())?;
        bar.inc(1);
    }
    bar.finish_and_clear();
    Ok(selector.finish())
}

fn search(
    args: &Args,
    book: &Book,
    modes: &[BookSearch],
    positions: &[Position],
) -> anyhow::Result<Vec<ModeTrial>> {
    let switch = stop_switch()?;
    let by_clock = Limits {
        time: TimeLimit::Clock {
            remaining: args.clock,
            increment: args.clock / 100,
            moves_to_go: None,
        },
        ..Limits::default()
    };
    let by_nodes = |nodes| Limits { soft_nodes: Some(nodes), ..Limits::default() };
    let limits = args.nodes.map_or(by_clock, by_nodes);
    let how = Attempt { book, modes, limits: &limits, judge_factor: args.judge };
    let mut searcher =
        Searcher::new(Config { memory_mb: args.memory.mebibytes(), ..Config::default() });
    let bar = progress_bar(positions.len(), "positions");
    let mut trials = Vec::new();
    for position in positions {
        let trial = attempt(&mut searcher, position, &how, &switch);
        if switch.is_stopped() {
            break;
        }
        trials.push(trial);
        bar.inc(1);
    }
    bar.finish_and_clear();
    Ok(trials)
}

fn epd_line(position: &Position) -> String {
    let fen = position.to_string();
    let fields: Vec<&str> = fen.split(' ').take(4).collect();
    format!("{} c0 \"transposes\";\n", fields.join(" "))
}

fn write_summary(out: &mut impl Write, summary: &ModeSummary) -> std::io::Result<()> {
    let share = |count: usize, of: usize| 100.0 * count as f64 / of.max(1) as f64;
    let ModeSummary { positions, used, cost_used, cost, .. } = *summary;
    writeln!(
        out,
        "{:<6} used {used:>4} ({:>3.0}%)   nodes {:>3.0}% where used, {:>3.0}% over all",
        summary.mode.name(),
        share(used, positions),
        100.0 * cost_used,
        100.0 * cost
    )?;
    let [plain, with] = summary.agreement_used;
    let [all_plain, all_with] = summary.agreement;
    writeln!(
        out,
        "       the judge's move: {with} against {plain} without the book where used, {all_with} \
         against {all_plain} over all"
    )?;
    let [plain, with] = summary.loss.map(describe);
    writeln!(
        out,
        "       centipawns lost: {with} against {plain} without the book; {} more where used, {} \
         more over all",
        describe(summary.price_used),
        describe(summary.price)
    )
}

fn describe(Mean { mean, error }: Mean) -> String {
    format!("{mean:.1} ± {error:.1}")
}

fn parse_mode(name: &str) -> anyhow::Result<BookSearch> {
    let mode = MODES.into_iter().find(|mode| mode.name() == name);
    mode.with_context(|| format!("--modes: `{name}` is none of stop, value, steer and first"))
}

fn to_json(summary: &ModeSummary) -> serde_json::Value {
    let pair = |Mean { mean, error }| serde_json::json!({ "mean": mean, "error": error });
    serde_json::json!({
        "mode": summary.mode.name(), "positions": summary.positions, "used": summary.used,
        "cost_used": summary.cost_used, "cost": summary.cost,
        "agreement_used": { "plain": summary.agreement_used[0], "book": summary.agreement_used[1] },
        "agreement": { "plain": summary.agreement[0], "book": summary.agreement[1] },
        "loss": { "plain": pair(summary.loss[0]), "book": pair(summary.loss[1]) },
        "price_used": pair(summary.price_used), "price": pair(summary.price),
    })
}
