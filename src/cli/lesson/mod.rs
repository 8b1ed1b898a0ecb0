//! `tabia lesson`: shows search algorithms step by step.

mod book;
mod engine;
mod exercise;
mod forest;
mod growth;
mod nodes;
mod output;
mod research;
mod split;
mod trace;
mod tree;

use std::process::ExitCode;

use clap::Subcommand;

/// Show search algorithms step by step, with exercises
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Tree(tree::Args),
    Forest(forest::Args),
    Exercise(exercise::Args),
    Trace(trace::Args),
    Nodes(nodes::Args),
    Research(research::Args),
    Split(split::Args),
    Book(book::Args),
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    match &args.command {
        Command::Tree(args) => tree::run(args),
        Command::Forest(args) => forest::run(args),
        Command::Exercise(args) => exercise::run(args),
        Command::Trace(args) => trace::run(args),
        Command::Nodes(args) => nodes::run(args),
        Command::Research(args) => research::run(args),
        Command::Split(args) => split::run(args),
        Command::Book(args) => book::run(args),
    }
}
