//! `tabia train games`: self-play, as data to tune on.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

use anyhow::Context;
use crossbeam::channel::{Receiver, bounded};

use super::{interruption, progress_bar};
use crate::score::Score;
use crate::train::{GameSettings, Sample, SelfPlay};

/// Play the engine against itself and keep the quiet positions with score and result
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Where the samples go: lines of `FEN | score | result`; a name in .zst is compressed
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Games to play
    #[arg(long, default_value_t = 1000)]
    games: usize,
    /// Nodes a move
    #[arg(long, default_value_t = 1000, value_parser = clap::value_parser!(u64).range(1..))]
    nodes: u64,
    /// Random plies at the beginning of each game
    #[arg(long, default_value_t = 8)]
    random_plies: usize,
    /// Openings with a higher score, in centipawns, are not played
    #[arg(long, default_value_t = 400)]
    opening_limit: Score,
    /// Games at once, each in its own thread
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u16).range(1..=256))]
    threads: u16,
    /// What the openings follow from; other seeds give other games
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// Plays the games and writes the samples, game after game.
///
/// # Errors
/// If the file cannot be written.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let interrupted = interruption()?;
    let folder = args.output.parent().filter(|folder| !folder.as_os_str().is_empty());
    let file = tempfile::NamedTempFile::new_in(folder.unwrap_or(Path::new(".")))
        .with_context(|| format!("cannot write beside {}", args.output.display()))?;
    let compressed = args.output.extension().is_some_and(|extension| extension == "zst");
    let samples = play(args, &interrupted, file.as_file(), compressed)
        .with_context(|| format!("cannot write {}", args.output.display()))?;
    file.persist(&args.output)
        .with_context(|| format!("cannot write {}", args.output.display()))?;
    println!("{samples} samples in {}", args.output.display());
    Ok(ExitCode::SUCCESS)
}

/// Plays in all threads; returns the number of samples written.
fn play(
    args: &Args,
    interrupted: &AtomicBool,
    file: &File,
    compressed: bool,
) -> std::io::Result<usize> {
    let started = AtomicUsize::new(0);
    let (sender, receiver) = bounded(64);
    std::thread::scope(|scope| {
        for thread in 0..args.threads {
            let (sender, started) = (sender.clone(), &started);
            scope.spawn(move || {
                let seed = args.seed.wrapping_mul(1 << 16).wrapping_add(thread.into());
                let mut player = SelfPlay::new(args.settings(), seed);
                while started.fetch_add(1, Relaxed) < args.games && !interrupted.load(Relaxed) {
                    if sender.send(player.play()).is_err() {
                        return; // the writer failed
                    }
                }
            });
        }
        drop(sender);
        if compressed {
            let mut encoder = zstd::Encoder::new(file, zstd::DEFAULT_COMPRESSION_LEVEL)?;
            let samples = write(args, receiver, &mut encoder)?;
            encoder.finish()?;
            Ok(samples)
        } else {
            let mut buffered = BufWriter::new(file);
            let samples = write(args, receiver, &mut buffered)?;
            buffered.flush()?;
            Ok(samples)
        }
    })
}

/// Writes games as they come.
fn write(
    args: &Args,
    games: Receiver<Vec<Sample>>,
    out: &mut impl Write,
) -> std::io::Result<usize> {
    let bar = progress_bar(args.games, "games");
    let mut samples = 0;
    for game in games {
        for sample in &game {
            writeln!(out, "{sample}")?;
        }
        samples += game.len();
        bar.inc(1);
    }
    bar.finish_and_clear();
    Ok(samples)
}

impl Args {
    fn settings(&self) -> GameSettings {
        GameSettings {
            nodes: self.nodes,
            random_plies: self.random_plies,
            opening_limit: self.opening_limit,
            ..GameSettings::default()
        }
    }
}
