//! `tabia bench threads`: measures the speedup from several threads.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use crate::chess::score::Depth;
use crate::cli::args::{TableMemory, cores, depth};
use crate::cli::list::{List, list};
use crate::cli::output;
use crate::cli::usage::wrong;
use crate::cli::work::{positions_of, progress_bar, stop_switch};
use crate::cli::writing::Force;
use crate::engine::search::{Config, Sharing};
use crate::support::files::{FileKind, Output};
use crate::tools::suite::threads::{
    Bench, SpeedupSummary, SpeedupTrial, Timing, picture, summarise,
};

/// The default depth in plies. One thread takes one or two seconds for it.
const DEFAULT_DEPTH: Depth = 20;

/// Measure the speedup from several threads
///
/// One thread and every number in --threads search each position to the same depth in turn, with
/// empty tables. Run this on an idle machine, with no more threads than cores.
/// docs/measurements/threads-method.md explains the columns.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Numbers of threads; 1 measures the noise (default: 2, 4, 8 … up to the number of cores)
    #[arg(short, long, value_parser = list(clap::value_parser!(u16).range(1..=256)))]
    threads: Option<List<u16>>,
    /// Depth of every search in plies
    #[arg(long, default_value_t = DEFAULT_DEPTH, value_parser = depth())]
    depth: Depth,
    /// File of positions, one FEN per line (default: 60 from self-play)
    #[arg(long, value_name = "FILE")]
    positions: Option<PathBuf>,
    /// Search only the first N positions
    #[arg(short = 'n', long, value_name = "N")]
    number: Option<usize>,
    #[command(flatten)]
    memory: TableMemory,
    /// Allow more threads than cores, to show how the tree grows
    #[arg(long)]
    crowded: bool,
    /// Print one JSON object instead of text
    #[arg(long)]
    json: bool,
    /// Draw the speedups next to published ones (SVG)
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    #[command(flatten)]
    force: Force,
}

impl Args {
    fn resolve_threads(&self) -> Vec<usize> {
        let cores = cores();
        match self.threads.as_deref().unwrap_or_default() {
            [] => (1..).map(|power| 1 << power).take_while(|&threads| threads <= cores).collect(),
            chosen => chosen.iter().map(|&threads| threads.into()).collect(),
        }
    }

    fn picture(&self) -> Option<Output<'_>> {
        let output = Output::new(self.svg.as_deref()?, FileKind::SVG).force(self.force.allowed);
        Some(output.apart_from(&self.positions))
    }
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let threads = args.resolve_threads();
    anyhow::ensure!(
        !threads.is_empty(),
        wrong("there is only one core; --threads 2 measures nevertheless")
    );
    let picture_file = args.picture();
    picture_file.as_ref().map_or(Ok(()), Output::check)?;
    let trials = measure(args, &threads)?;
    let summaries = summarise(&threads, &trials);
    let mut out = output::stdout();
    if args.json {
        let rows: Vec<_> = summaries.iter().map(row).collect();
        let trials: Vec<_> = trials.iter().map(|found| trial(&threads, found)).collect();
        writeln!(
            out,
            "{}",
            serde_json::json!({ "depth": args.depth, "threads": rows, "positions": trials })
        )?;
    } else {
        write_tables(&mut out, &summaries, &trials)?;
    }
    if let Some(file) = picture_file {
        anyhow::ensure!(
            !trials.is_empty(),
            "{} is not drawn: no position was searched in all ways; let it run longer",
            file.path().display()
        );
        file.write(picture(&summaries).as_bytes())?;
    }
    Ok(ExitCode::SUCCESS)
}

fn measure(args: &Args, threads: &[usize]) -> anyhow::Result<Vec<SpeedupTrial>> {
    let mut positions = positions_of(args.positions.as_deref())?;
    positions.truncate(args.number.unwrap_or(usize::MAX));
    let switch = stop_switch()?;
    let cores = args.crowded.then_some(usize::MAX);
    let config = Config { memory_mb: args.memory.mebibytes(), cores, ..Config::default() };
    let mut bench = Bench::new(threads, &config, args.depth)?;
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
    Ok(trials)
}

fn trial(threads: &[usize], trial: &SpeedupTrial) -> serde_json::Value {
    let several = threads.iter().zip(&trial.several);
    serde_json::json!({
        "fen": trial.position.to_string(),
        "single": timing(1, &trial.single),
        "several": several.map(|(&threads, found)| timing(threads, found)).collect::<Vec<_>>(),
    })
}

fn timing(threads: usize, timing: &Timing) -> serde_json::Value {
    let Timing { elapsed, nodes, sharing: Sharing { splits, joined, joins, waiting } } = timing;
    serde_json::json!({
        "threads": threads, "seconds": elapsed.as_secs_f64(), "nodes": nodes, "splits": splits,
        "joined": joined, "joins": joins, "waiting": waiting.as_secs_f64(),
    })
}

fn row(summary: &SpeedupSummary) -> serde_json::Value {
    let [lower, median, upper] = summary.speedup;
    serde_json::json!({
        "threads": summary.threads, "median": median, "quartiles": [lower, upper],
        "mean": summary.mean, "error": summary.error, "total": summary.total,
        "nodes": summary.nodes, "speed": summary.speed, "waiting": summary.waiting,
        "splits": summary.splits, "joined": summary.joined, "joins": summary.joins,
    })
}

fn write_tables(
    out: &mut impl Write,
    summaries: &[SpeedupSummary],
    trials: &[SpeedupTrial],
) -> std::io::Result<()> {
    let time: Duration = trials.iter().map(|trial| trial.single.elapsed).sum();
    let count = trials.len();
    writeln!(
        out,
        "{count} positions; one thread took {:.2} s each\n",
        time.as_secs_f64() / count.max(1) as f64
    )?;
    writeln!(out, "threads  sooner: median        quartiles    mean            total")?;
    for summary in summaries {
        let SpeedupSummary { threads, speedup: [lower, median, upper], .. } = summary;
        writeln!(
            out,
            "{threads:>7}{median:>15.2}x{lower:>7.2} to {upper:<6.2}{:>7.2}x ±{:>4.1}%{:>9.2}x",
            summary.mean,
            100.0 * summary.error,
            summary.total
        )?;
    }
    writeln!(out, "\nthreads   nodes  nodes/s  waiting  splits/s  joined   joins/s")?;
    for summary in summaries {
        let SpeedupSummary { threads, nodes, speed, waiting, splits, joined, joins, .. } = summary;
        writeln!(
            out,
            "{threads:>7}{nodes:>7.2}x{speed:>8.2}x{:>8.1}%{splits:>10.0}{:>7.1}%{joins:>10.0}",
            100.0 * waiting,
            100.0 * joined
        )?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_fit_terminal_width() {
        let large = SpeedupSummary {
            threads: 256,
            speedup: [99.0, 150.0, 256.0],
            mean: 140.0,
            error: 0.5,
            total: 130.0,
            nodes: 12.0,
            speed: 250.0,
            waiting: 1.0,
            splits: 9_999_999.0,
            joined: 1.0,
            joins: 9_999_999.0,
        };
        let mut out = Vec::new();
        write_tables(&mut out, &[large], &[]).expect("written to memory");
        let text = String::from_utf8(out).expect("UTF-8");
        let rows: Vec<&str> = text.lines().collect();
        assert!(rows.iter().all(|row| row.chars().count() < 80), "{text}");
        for [head, row] in [[rows[2], rows[3]], [rows[5], rows[6]]] {
            // Each row must end at the same column as its heading, and its numbers must be
            // separated by spaces.
            assert_eq!(head.len(), row.chars().count(), "{text}");
            assert!(row.split_whitespace().count() >= 6, "{text}");
        }
        assert_eq!(rows[6], "    256  12.00x  250.00x   100.0%   9999999  100.0%   9999999");
    }
}
