//! `tabia perft`: counts the leaves of the move tree.

use std::io::Write;
use std::process::ExitCode;
use std::time::Instant;

use crate::position::{Position, divide};

/// Count the leaves of the legal move tree, by first move
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Depth in plies
    #[arg(value_parser = clap::value_parser!(u32).range(1..=20))]
    depth: u32,
    /// Position as FEN (default: the start position)
    fen: Vec<String>,
}

/// Prints the count below each move, then the sum and the speed.
///
/// # Errors
/// If the FEN is no legal position.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let position = match args.fen.is_empty() {
        true => Position::start(),
        false => Position::from_fen(&args.fen.join(" "))?,
    };
    let start = Instant::now();
    let mut out = std::io::stdout().lock();
    let mut total = 0;
    for (mv, nodes) in divide(&position, args.depth) {
        writeln!(out, "{mv} {nodes}")?;
        total += nodes;
    }
    let speed = total as f64 / start.elapsed().as_secs_f64().max(1e-9);
    writeln!(out, "{total} nodes {speed:.0} nps")?;
    Ok(ExitCode::SUCCESS)
}
