//! `tabia eval`: what both evaluations think of a position.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use crate::cli::judge::evaluation;
use crate::position::Position;

/// Show what the evaluations think of a position
///
/// The classical one term by term, the network man by man.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Position as FEN (default: the start position)
    fen: Vec<String>,
    /// Show the view of this network, made by `tabia train net`, too
    #[arg(long, value_name = "FILE")]
    network: Option<PathBuf>,
}

/// Prints the breakdown as a table, and the network's view as a board.
///
/// # Errors
/// If the FEN is no legal position, or the file no network.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let position = match args.fen.is_empty() {
        true => Position::start(),
        false => Position::from_fen(&args.fen.join(" "))?,
    };
    let evaluation = evaluation(args.network.as_deref())?;
    write!(std::io::stdout().lock(), "{}", evaluation.explain(&position))?;
    Ok(ExitCode::SUCCESS)
}
