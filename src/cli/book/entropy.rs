//! `tabia book entropy`: measures how varied the moves chosen from a book are.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use super::{open, policy};
use crate::chess::score::Score;
use crate::cli::output;
use crate::games::book::{Chooser, MAX_LOSS, MoveSelection, PlyEntropy, Policy, entropy};
use crate::support::words::rounded;

/// Measure how much the engine's openings vary
///
/// Prints, for each ply, the entropy of the move in bits (1 for two equally likely moves, 2 for
/// four) and the share of games in which the book has a move. It prints these figures for the
/// policy and for the book's games.
#[derive(Debug, clap::Args)]
pub(super) struct EntropyArgs {
    /// The book (.tbk, .bin or .pgn), or `embedded`
    book: PathBuf,
    /// Number of plies from the start position
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u16).range(1..=40))]
    plies: u16,
    /// Policy for choosing moves
    #[arg(long, default_value_t = Policy::default(), value_parser = policy())]
    policy: Policy,
    /// Maximum loss of an analysed move, in centipawns
    #[arg(long, value_name = "CP", default_value_t = MAX_LOSS)]
    max_loss: Score,
}

pub(super) fn run(args: &EntropyArgs) -> anyhow::Result<ExitCode> {
    let book = open(&args.book)?;
    let mut chooser = Chooser::new(args.policy, 0);
    chooser.max_loss = args.max_loss;
    let plies = usize::from(args.plies);
    let chosen = entropy(&book, &MoveSelection::Policy(&chooser), plies);
    let played = entropy(&book, &MoveSelection::Games, plies);
    let mut out = output::stdout();
    writeln!(out, "ply  policy {:<12} as played", args.policy.to_string())?;
    let cell = |found: &PlyEntropy| {
        format!("{:.2} bits, {:>3.0}%", rounded(found.bits, 2), 100.0 * found.covered)
    };
    for (ply, (chosen, played)) in chosen.iter().zip(&played).enumerate() {
        writeln!(out, "{:>3}  {:<19} {}", ply + 1, cell(chosen), cell(played))?;
    }
    let sum =
        |found: &[PlyEntropy]| rounded(found.iter().map(|ply| ply.bits * ply.covered).sum(), 2);
    writeln!(out, "sum  {:<19} {:.2} bits", format!("{:.2} bits", sum(&chosen)), sum(&played))?;
    Ok(ExitCode::SUCCESS)
}
