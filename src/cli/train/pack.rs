//! `tabia train pack`: packs self-play games for storage.

use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use indicatif::ProgressBar;

use super::{Paths, SELF_PLAY, interruption, progress_bar};
use crate::cli::args::Threads;
use crate::cli::output::outln;
use crate::cli::work::INTERRUPTED;
use crate::cli::writing::Force;
use crate::support::files::{Cannot, NewFile, Output};
use crate::tools::train::{GameReader, Packer};

/// Pack self-play games into less than two bytes per position
///
/// All commands that read self-play games also read packed ones. Several input files are packed
/// into one; `cat` joins packed files. Games with an illegal move are omitted and reported.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    paths: Paths,
    #[command(flatten)]
    threads: Threads,
    #[command(flatten)]
    force: Force,
}

#[derive(Default)]
struct Tally {
    games: usize,
    positions: usize,
    lost: usize,
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let interrupted = interruption()?;
    let output = Output::new(&args.paths.output, SELF_PLAY)
        .force(args.force.allowed)
        .apart_from(&args.paths.files);
    output.check()?;
    let threads = args.threads.count();
    let mut packer = Packer::new(output.create()?, threads);
    let mut tally = Tally::default();
    for path in &args.paths.files {
        if !pack(path, &mut packer, &mut tally, &interrupted)? {
            return Ok(ExitCode::from(INTERRUPTED)); // the incomplete output is deleted
        }
    }
    let (file, bytes) = packer.finish().cannot("write", &args.paths.output)?;
    file.keep()?;
    let Tally { games, positions, lost } = tally;
    outln!(
        "{games} games with {positions} positions in {}: {bytes} bytes, {:.2} a position",
        args.paths.output.display(),
        bytes as f64 / positions.max(1) as f64
    )?;
    anyhow::ensure!(lost == 0, "{lost} damaged games were left out");
    Ok(ExitCode::SUCCESS)
}

fn pack(
    path: &Path,
    packer: &mut Packer<NewFile>,
    tally: &mut Tally,
    interrupted: &AtomicBool,
) -> anyhow::Result<bool> {
    let mut reader = GameReader::open(path)?;
    let bar: ProgressBar = progress_bar(reader.bytes() as usize, "bytes");
    while let Some(game) = reader.read_game()? {
        if interrupted.load(Relaxed) {
            return Ok(false);
        }
        if game.replay(|_, _| ()) {
            tally.games += 1;
            tally.positions += game.moves.len();
            packer.add(reader.settings(), game).cannot("pack", path)?;
        } else {
            log::warn!("{}, game {}: a move is illegal", path.display(), reader.games());
            tally.lost += 1;
        }
        bar.set_position(reader.whole_bytes());
    }
    tally.lost += reader.lost();
    bar.finish_and_clear();
    Ok(true)
}
