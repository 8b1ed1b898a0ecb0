//! `tabia eval`: prints the classical and the network evaluation of each position.

use std::io::Write;
use std::process::ExitCode;

use crate::chess::position::Position;
use crate::cli::args::EvaluationArgs;
use crate::cli::output;
use crate::cli::usage::of_arguments;

/// Show the evaluations of positions
///
/// Prints the score that the search uses, the classical evaluation by term, and the network
/// evaluation by piece (not with `--evaluation classical`). Each FEN may be given as one argument
/// or as six.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Positions as FEN (default: the start position)
    #[arg(value_name = "FEN")]
    fens: Vec<String>,
    #[command(flatten)]
    evaluation: EvaluationArgs,
}

/// Prints the score that the search uses, a table of the terms of the evaluation, and a board with
/// the value of each piece according to the network. If any argument is wrong, nothing is printed.
pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let fens = fens(&args.fens);
    let mut positions = fens
        .iter()
        .map(|fen| Position::from_fen(fen).map_err(of_arguments))
        .collect::<anyhow::Result<Vec<_>>>()?;
    if positions.is_empty() {
        positions.push(Position::start());
    }
    let evaluation = args.evaluation.open()?;
    let mut out = output::stdout();
    for (index, position) in positions.iter().enumerate() {
        if positions.len() > 1 {
            let gap = if index > 0 { "\n" } else { "" };
            writeln!(out, "{gap}{}", position.fen())?;
        }
        write!(out, "{}", evaluation.explain(position))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Joins arguments into FENs. An argument is a FEN or one field of a FEN. A field with a board
/// starts a new FEN.
fn fens(arguments: &[String]) -> Vec<String> {
    let mut fens: Vec<String> = Vec::new();
    for word in arguments.iter().flat_map(|argument| argument.split_whitespace()) {
        let is_board = word.len() > 1 && word.contains('/');
        match fens.last_mut() {
            Some(fen) if !is_board => {
                fen.push(' ');
                fen.push_str(word);
            }
            _ => fens.push(word.to_owned()),
        }
    }
    fens
}
