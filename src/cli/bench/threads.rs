//! `tabia bench threads`: what several threads gain.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use crate::cli::output;
use crate::cli::usage::wrong;
use crate::cli::work::{cores, on_interruption, positions_of, progress_bar};
use crate::suite::Switch;
use crate::suite::threads::{Bench, SpeedupSummary, SpeedupTrial, Timing, summarise};
use crate::words::parse_time;

/// Measure how much sooner several threads reach a depth than one does
///
/// A search of its own, by one thread, sets the depth of each position: that of the first iteration it
/// completes after --seconds. Then one thread and each of the others search to it in turn, knowing
/// nothing. Compare on an idle machine, with no more threads than cores.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Numbers of threads (default: 2, 4, 8 ... as far as there are cores)
    #[arg(short, long, value_delimiter = ',', value_parser = clap::value_parser!(u16).range(1..=256))]
    threads: Vec<u16>,
    /// Seconds that one thread searches at least
    #[arg(long, default_value = "2", value_parser = parse_time)]
    seconds: Duration,
    /// File of positions, a FEN a line (default: 60 positions from Tabia's games with itself)
    #[arg(long, value_name = "FILE")]
    positions: Option<PathBuf>,
    /// Search no more than the first so many positions
    #[arg(short = 'n', long, value_name = "N")]
    number: Option<usize>,
    /// Mebibytes for each transposition table
    #[arg(long, default_value_t = 64)]
    memory: usize,
    /// Print JSON instead of a table
    #[arg(long)]
    json: bool,
}

impl Args {
    fn resolve_threads(&self) -> Vec<usize> {
        let cores = cores();
        match self.threads.as_slice() {
            [] => (1..).map(|power| 1 << power).take_while(|&threads| threads <= cores).collect(),
            chosen => chosen.iter().map(|&threads| threads.into()).collect(),
        }
    }
}

/// Searches the positions and prints what was gained; an interruption ends it with those done.
///
/// # Errors
/// If the positions cannot be read or the output not be written.
pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let threads = args.resolve_threads();
    anyhow::ensure!(
        !threads.is_empty(),
        wrong("there is one core only: say --threads 2 all the same")
    );
    let mut positions = positions_of(args.positions.as_deref())?;
    positions.truncate(args.number.unwrap_or(usize::MAX));
    let switch = Switch::default();
    let interrupted = switch.clone();
    on_interruption(move || interrupted.stop())?;
    let mut bench = Bench::new(&threads, args.memory, args.seconds)?;
    let bar = progress_bar(positions.len(), "positions");
    let mut trials = Vec::new();
    for position in &positions {
        trials.extend(bench.attempt(position, &switch));
        if switch.is_stopped() {
            break;
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    let summaries = summarise(&threads, &trials);
    let mut out = output::stdout();
    if args.json {
        let trials: Vec<_> = trials
            .iter()
            .map(|trial| {
                serde_json::json!({
                    "fen": trial.position.to_string(), "depth": trial.depth,
                    "scout": timing(&trial.scout), "single": timing(&trial.single),
                    "several": trial.several.iter().map(timing).collect::<Vec<_>>(),
                })
            })
            .collect();
        let rows: Vec<_> = summaries.iter().map(row).collect();
        writeln!(out, "{}", serde_json::json!({ "threads": rows, "positions": trials }))?;
    } else {
        write_table(&mut out, &summaries, &trials)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn timing(timing: &Timing) -> serde_json::Value {
    serde_json::json!({ "seconds": timing.elapsed.as_secs_f64(), "nodes": timing.nodes })
}

fn row(summary: &SpeedupSummary) -> serde_json::Value {
    let [lower, median, upper] = summary.speedup;
    serde_json::json!({
        "threads": summary.threads, "median": median, "quartiles": [lower, upper],
        "mean": summary.mean, "error": summary.error, "nodes": summary.nodes, "speed": summary.speed,
    })
}

fn write_table(
    out: &mut impl Write,
    summaries: &[SpeedupSummary],
    trials: &[SpeedupTrial],
) -> std::io::Result<()> {
    let seconds: f64 = trials.iter().map(|trial| trial.single.elapsed.as_secs_f64()).sum();
    let count = trials.len();
    writeln!(
        out,
        "{count} positions; one thread took {:.2} s each\n",
        seconds / count.max(1) as f64
    )?;
    writeln!(out, "threads  sooner: median  quartiles     mean            nodes   nodes/s")?;
    for SpeedupSummary { threads, speedup: [lower, median, upper], mean, error, nodes, speed } in
        summaries
    {
        writeln!(
            out,
            "{threads:>7}{median:>15.2}x  {lower:>4.2} to {upper:>4.2}{mean:>7.2}x ±{:>4.1}%{nodes:>9.2}x{speed:>9.2}x",
            100.0 * error
        )?;
    }
    Ok(())
}
