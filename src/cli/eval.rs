//! `tabia eval`: the evaluation of a position, term by term.

use std::io::Write;
use std::process::ExitCode;

use crate::eval::breakdown;
use crate::position::Position;

/// Show what the evaluation thinks of a position, term by term for both sides
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Position as FEN (default: the start position)
    fen: Vec<String>,
}

/// Prints the breakdown as a table.
///
/// # Errors
/// If the FEN is no legal position.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let position = match args.fen.is_empty() {
        true => Position::start(),
        false => Position::from_fen(&args.fen.join(" "))?,
    };
    write!(std::io::stdout().lock(), "{}", breakdown(&position))?;
    Ok(ExitCode::SUCCESS)
}
