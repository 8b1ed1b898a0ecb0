//! `tabia perft`: counts the leaves of the move tree.

use std::io::Write;
use std::ops::RangeInclusive;
use std::process::ExitCode;
use std::time::Instant;

use crate::chess::position::{Position, perft};
use crate::cli::output;
use crate::cli::usage::of_arguments;
use crate::engine::controller::PERFT_DEPTHS;
use crate::support::words::number_of;

/// Count the leaves of the legal move tree for each first move
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Depth in plies
    #[arg(value_parser = clap::value_parser!(u32).range(depths()))]
    depth: u32,
    /// Position as FEN (default: the start position)
    fen: Vec<String>,
}

/// The range of supported depths, in the type that clap requires.
fn depths() -> RangeInclusive<i64> {
    i64::from(*PERFT_DEPTHS.start())..=i64::from(*PERFT_DEPTHS.end())
}

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
    writeln!(out, "{} {speed:.0} nps", number_of(total, "node"))?;
    Ok(ExitCode::SUCCESS)
}
