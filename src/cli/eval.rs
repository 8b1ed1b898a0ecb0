//! `tabia eval`: what both evaluations think of a position.

use std::io::Write;
use std::process::ExitCode;

use crate::cli::judge::Judge;
use crate::cli::output;
use crate::cli::usage::of_arguments;
use crate::position::Position;

/// Show what the evaluations think of a position
///
/// The classical one term by term, the network man by man; the latter not with
/// `--evaluation classical`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Position as FEN (default: the start position)
    fen: Vec<String>,
    #[command(flatten)]
    judge: Judge,
}

/// Prints the breakdown as a table, and the network's view as a board.
///
/// # Errors
/// If the FEN is no legal position, or the file no network.
pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let position = match args.fen.is_empty() {
        true => Position::start(),
        false => Position::from_fen(&args.fen.join(" ")).map_err(of_arguments)?,
    };
    write!(output::stdout(), "{}", args.judge.open()?.explain(&position))?;
    Ok(ExitCode::SUCCESS)
}
