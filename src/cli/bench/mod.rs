//! `tabia bench`: measures the node count and speed of the search, and runs suites of positions.

mod threads;
mod transpositions;

use std::io::Write;
use std::process::ExitCode;

use clap::Subcommand;

use crate::chess::score::Depth;
use crate::cli::args::{EvaluationArgs, depth};
use crate::cli::output;
use crate::engine::search::bench;

/// Search fixed positions and print the node count and the speed
///
/// The node count at a fixed depth is a signature: it changes if the search changes.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(super) struct Args {
    #[command(subcommand)]
    suite: Option<Suite>,
    /// Depth in plies
    #[arg(long, default_value_t = bench::BENCH_DEPTH, value_parser = depth())]
    depth: Depth,
    #[command(flatten)]
    evaluation: EvaluationArgs,
    /// Print one JSON object instead of text
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum Suite {
    Threads(threads::Args),
    Transpositions(transpositions::Args),
    /// Print the constants of the search as parameters for `tabia tune`
    #[cfg(feature = "tune")]
    Constants,
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    match &args.suite {
        None => sign(args),
        Some(Suite::Threads(args)) => threads::run(args),
        Some(Suite::Transpositions(args)) => transpositions::run(args),
        #[cfg(feature = "tune")]
        Some(Suite::Constants) => {
            write!(
                output::stdout(),
                "{}",
                crate::engine::search::constants::parameters().concat()
            )?;
            Ok(ExitCode::SUCCESS)
        }
    }
}

/// Searches the fixed positions and prints the total node count, the signature of the search.
fn sign(args: &Args) -> anyhow::Result<ExitCode> {
    let mut out = output::stdout();
    let mut positions = Vec::new();
    let total = bench::bench(args.depth, args.evaluation.open()?, &mut |fen, result| {
        positions.push(serde_json::json!({
            "fen": fen, "nodes": result.nodes, "seconds": result.elapsed.as_secs_f64(),
        }));
        if !args.json {
            // Write errors are ignored. If the pipe is closed, writing the final line will report
            // the error.
            let _ = writeln!(
                out,
                "{:>10} nodes {:>6.3} s  {fen}",
                result.nodes,
                result.elapsed.as_secs_f64()
            );
        }
    });
    if args.json {
        let summary = serde_json::json!({
            "depth": args.depth, "nodes": total.nodes, "nps": total.speed().round(),
            "seconds": total.elapsed.as_secs_f64(), "positions": positions,
        });
        writeln!(out, "{summary}")?;
    } else {
        writeln!(out, "{} nodes {:.0} nps", total.nodes, total.speed())?;
    }
    Ok(ExitCode::SUCCESS)
}
