//! `tabia train tune`: fits the weights of the evaluation to the results of games.

use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::Ordering::Relaxed;

use super::{interruption, progress_bar};
use crate::chess::score::Score;
use crate::cli::args::Threads;
use crate::cli::output::{self, errln};
use crate::cli::writing::{Force, WEIGHTS};
use crate::engine::eval::LOGISTIC_SCALE;
use crate::engine::eval::tuning::tuned;
use crate::support::files::Output;
use crate::tools::train::tune::{
    Samples, TuneOutcome, TuneProgress, TuneSettings, normalised, source_file, tune,
};
use crate::tools::train::{Sample, SampleSelection, Sampler};

/// The number of consecutive samples held out together, so that few games are split.
const BLOCK: usize = 500;

/// Tune the weights of the classical evaluation (Texel's method)
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Games (.pgn), self-play games (.games), or lines of `FEN | score | result` (.zst if
    /// compressed)
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Rust source file to write
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    #[command(flatten)]
    force: Force,
    /// Maximum number of positions from each PGN game
    #[arg(long, hide_short_help = true, default_value_t = 10)]
    per_game: usize,
    /// Plies to skip at the start of each PGN game
    #[arg(long, hide_short_help = true, default_value_t = 16)]
    skip_plies: usize,
    /// Skip positions whose absolute evaluation exceeds this many centipawns
    #[arg(long, hide_short_help = true, default_value_t = 1000)]
    limit: Score,
    /// Share of the search score in the target; the rest is the game's result
    #[arg(long, default_value_t = 0.0, value_parser = super::share)]
    score_share: f32,
    /// Number of passes over the data
    #[arg(long, default_value_t = 40)]
    epochs: usize,
    /// Initial step size in centipawns
    #[arg(long, default_value_t = 1.0)]
    rate: f32,
    /// Number of positions for each step
    #[arg(long, default_value_t = 16384, value_parser = clap::value_parser!(u32).range(1..))]
    batch: u32,
    /// Weight decay towards the initial weights
    #[arg(long, hide_short_help = true, default_value_t = 1e-10)]
    decay: f32,
    /// Passes without improvement on the held-out positions before stopping
    #[arg(long, default_value_t = 8)]
    patience: usize,
    /// Hold out every Nth block of 500 positions
    #[arg(long, hide_short_help = true, default_value_t = 10, value_parser = clap::value_parser!(u32).range(2..))]
    validation_every: u32,
    #[command(flatten)]
    threads: Threads,
    /// Seed for selecting and ordering positions
    #[arg(long, hide_short_help = true, default_value_t = 1)]
    seed: u64,
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let target = Output::new(&args.output, WEIGHTS).force(args.force.allowed);
    let target = target.apart_from(&args.files);
    target.check()?;
    let interrupted = interruption()?;
    let (samples, games) = read(args)?;
    let mut out = output::stdout();
    writeln!(out, "{} positions, {games} games", samples.len())?;
    let [training, validation] = split(&samples, args);
    anyhow::ensure!(
        !training.is_empty() && !validation.is_empty(),
        "too few positions to tune on: give at least {} quiet ones",
        BLOCK * args.validation_every as usize
    );
    writeln!(out, "{} to tune on, {} held out", training.len(), validation.len())?;
    let outcome = tune(tuned(), &training, &validation, &args.settings(), |progress| {
        report(progress);
        !interrupted.load(Relaxed)
    });
    let model = normalised(&outcome.model, &training);
    let origin = origin(args, &outcome, training.len(), validation.len());
    let text = source_file(&model.values.rounded(), model.logistic_scale, &origin);
    target.write(text.as_bytes())?;
    writeln!(out, "{origin}")?;
    writeln!(out, "logistic scale {:.1}", model.logistic_scale)?;
    Ok(ExitCode::SUCCESS)
}

impl Args {
    fn settings(&self) -> TuneSettings {
        TuneSettings {
            epochs: self.epochs,
            rate: self.rate,
            batch: self.batch as usize,
            decay: self.decay,
            patience: self.patience,
            threads: self.threads.count(),
            seed: self.seed,
        }
    }
}

fn read(args: &Args) -> anyhow::Result<(Vec<Sample>, usize)> {
    let mut sampler = Sampler::new(SampleSelection {
        per_game: args.per_game,
        skip_plies: args.skip_plies,
        limit: args.limit,
        seed: args.seed,
    });
    let bar = progress_bar(args.files.len(), "reading files");
    for file in &args.files {
        sampler.read(file)?;
        bar.inc(1);
    }
    bar.finish_and_clear();
    Ok(sampler.finish())
}

fn split(samples: &[Sample], args: &Args) -> [Samples; 2] {
    let every = args.validation_every as usize;
    let held_out = |block: usize| block % every == every - 1;
    [false, true].map(|wanted| {
        let blocks: Vec<&[Sample]> = samples
            .chunks(BLOCK)
            .enumerate()
            .filter(|&(block, _)| held_out(block) == wanted)
            .map(|(_, samples)| samples)
            .collect();
        Samples::in_parallel(&blocks, args.threads.count(), |sample| {
            target(sample, args.score_share)
        })
    })
}

/// Returns the target value: a mixture of the game's result and the result expected by the search.
/// `score_share` is the weight of the expected result.
fn target(sample: &Sample, score_share: f32) -> f32 {
    let Some(score) = sample.score else { return sample.result };
    let expected = 1.0 / (1.0 + (-f64::from(score) / LOGISTIC_SCALE).exp());
    score_share * expected as f32 + (1.0 - score_share) * sample.result
}

fn report(progress: TuneProgress) {
    let TuneProgress { epoch, training, validation } = progress;
    if std::io::stderr().is_terminal() || epoch % 5 == 0 {
        errln!("epoch {epoch:>3}: error {training:.6}, held out {validation:.6}");
    }
}

fn origin(args: &Args, outcome: &TuneOutcome, training: usize, validation: usize) -> String {
    let names = args.files.iter().filter_map(|file| file.file_name());
    let names: Vec<_> = names.map(|name| name.to_string_lossy()).collect();
    let files = match names.as_slice() {
        few if few.len() <= 4 => few.join(", "),
        many => format!("{} and {} other files", many[0], many.len() - 1),
    };
    format!(
        "Data: {files}: {training} positions, {validation} held out.\n\
         Settings: {} a game, score share {}, rate {}, batch {}, decay {:e}, seed {}.\n\
         Mean square error after {} epochs: {:.6} -> {:.6}, held out {:.6} -> {:.6}.",
        args.per_game,
        args.score_share,
        args.rate,
        args.batch,
        args.decay,
        args.seed,
        outcome.after.epoch,
        outcome.before.training,
        outcome.after.training,
        outcome.before.validation,
        outcome.after.validation,
    )
}
