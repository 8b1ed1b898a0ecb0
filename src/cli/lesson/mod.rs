//! `tabia lesson`: the algorithms to be watched at work.

mod output;
mod tree;

use std::process::ExitCode;

use clap::Subcommand;

/// See the algorithms at work: trees, traces, node counts, splitting, the book
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Tree(tree::Args),
}

/// Runs one of the lessons.
///
/// # Errors
/// In one line: what is wrong, where, and what to do.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    match &args.command {
        Command::Tree(args) => tree::run(args),
    }
}
