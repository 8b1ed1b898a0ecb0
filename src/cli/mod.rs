//! The command line: arguments, then resolved configuration, then one subcommand.

mod autoplay;
mod bench;
mod eval;
mod perft;
mod train;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// A chess engine for the xboard protocol that knows its openings by position.
#[derive(Debug, Parser)]
#[command(version, about)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
}

/// What `tabia` can do besides playing.
#[derive(Debug, Subcommand)]
enum Command {
    Autoplay(Box<autoplay::Args>),
    Bench(bench::Args),
    Eval(eval::Args),
    Perft(perft::Args),
    Train(train::Args),
}

/// Runs the command line of the process.
pub fn main() -> ExitCode {
    let cli = Cli::parse();
    let done = match cli.command {
        Some(Command::Autoplay(args)) => autoplay::run(&args),
        Some(Command::Bench(args)) => bench::run(&args),
        Some(Command::Eval(args)) => eval::run(&args),
        Some(Command::Perft(args)) => perft::run(&args),
        Some(Command::Train(args)) => train::run(&args),
        None => Ok(ExitCode::SUCCESS),
    };
    done.unwrap_or_else(|error| {
        eprintln!("tabia: {error:#}");
        ExitCode::FAILURE
    })
}
