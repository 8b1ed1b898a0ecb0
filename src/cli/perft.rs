//! `tabia perft`: counts the leaves of the move tree.

use std::io::Write;
use std::process::ExitCode;
use std::time::Instant;

use crate::cli::output;
use crate::cli::usage::of_arguments;
use crate::position::{Position, perft};

/// The deepest count that can be asked for, in plies. None beyond some dozen ever ends; this one
/// keeps the stack from overflowing meanwhile.
pub(super) const DEEPEST: u32 = 99;

/// Count the leaves of the legal move tree, by first move
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Depth in plies
    #[arg(value_parser = clap::value_parser!(u32).range(1..=i64::from(DEEPEST)))]
    depth: u32,
    /// Position as FEN (default: the start position)
    fen: Vec<String>,
}

/// Prints the count below each move as soon as it is known, then the sum and the speed.
///
/// # Errors
/// If the FEN is no legal position.
pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let position = match args.fen.is_empty() {
        true => Position::start(),
        false => Position::from_fen(&args.fen.join(" ")).map_err(of_arguments)?,
    };
    let start = Instant::now();
    let mut out = output::stdout();
    let mut total = 0;
    for mv in position.legal_moves().iter() {
        let nodes = perft(&position.play(mv), args.depth - 1);
        writeln!(out, "{mv} {nodes}")?;
        total += nodes;
    }
    let speed = total as f64 / start.elapsed().as_secs_f64().max(1e-9);
    writeln!(out, "{total} nodes {speed:.0} nps")?;
    Ok(ExitCode::SUCCESS)
}
