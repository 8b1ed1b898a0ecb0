//! `tabia train`: creates training data, tunes weights and trains networks.

mod export;
mod games;
mod net;
mod pack;
mod pgn;
mod relabel;
mod selection;
mod tune;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Subcommand;

use super::work::{interruption, progress_bar};
use crate::support::files::FileKind;

const SELF_PLAY: FileKind =
    FileKind { name: "a file of self-play", recognises: |head| head.starts_with(b"tabia games ") };

/// The input games and the output file.
#[derive(Debug, clap::Args)]
struct Paths {
    /// Games made by `tabia train games`, packed or not
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The file to write
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
}

/// Make training data, tune weights and train networks
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Export(export::Args),
    Games(games::Args),
    Net(net::Args),
    Pack(pack::Args),
    Pgn(pgn::Args),
    Relabel(relabel::Args),
    Tune(tune::Args),
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    match &args.command {
        Command::Export(args) => export::run(args),
        Command::Games(args) => games::run(args),
        Command::Net(args) => net::run(args),
        Command::Pack(args) => pack::run(args),
        Command::Pgn(args) => pgn::run(args),
        Command::Relabel(args) => relabel::run(args),
        Command::Tune(args) => tune::run(args),
    }
}

fn share(text: &str) -> Result<f32, String> {
    match text.parse() {
        Ok(share) if (0.0..=1.0).contains(&share) => Ok(share),
        _ => Err("expected a number from 0 to 1".to_owned()),
    }
}
