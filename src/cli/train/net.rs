//! `tabia train net`: trains a network on self-play games.

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

use indicatif::ProgressBar;

use super::selection::SelectionArgs;
use super::{Paths, interruption, progress_bar};
use crate::cli::args::Threads;
use crate::cli::output::outln;
use crate::cli::writing::{CHECKPOINT, Force, NETWORK};
use crate::engine::eval::nnue::{BUCKETS, HIDDEN, INPUTS};
use crate::support::files::{FileKind, Output, write_whole};
use crate::support::threads;
use crate::tools::train::net::{Data, Parameters, TrainProgress, TrainSettings, Trainer, plot};

const REPORT_INTERVAL: Duration = Duration::from_secs(30);

/// Train a network on self-play games
///
/// The shape of the network is fixed when the program is built. After each epoch and after Ctrl-C,
/// three files are written: the network; next to it, a file with the extension `.checkpoint`, which
/// --resume needs; and a plot of the losses with the extension `.svg`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    paths: Paths,
    #[command(flatten)]
    force: Force,
    /// Resume from the checkpoint next to the output, with the same settings and games
    #[arg(long)]
    resume: bool,
    /// Start with the weights of this network; missing neurons get random weights
    #[arg(long, value_name = "FILE")]
    from: Option<PathBuf>,
    /// Number of passes over the data
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u16).range(1..))]
    epochs: u16,
    /// Number of positions for each step
    #[arg(long, default_value_t = 16384, value_parser = clap::value_parser!(u32).range(64..))]
    batch: u32,
    /// Step size at the start
    #[arg(long, default_value_t = 1e-3)]
    rate: f32,
    /// Step size at the end
    #[arg(long, default_value_t = 1e-5)]
    final_rate: f32,
    /// Weight decay for a step of size 1
    #[arg(long, hide_short_help = true, default_value_t = 0.01)]
    decay: f32,
    /// Share of each step that all king buckets have in common
    #[arg(long, hide_short_help = true, default_value_t = 0.5, value_parser = super::share)]
    common: f32,
    /// Power of the error to minimise; a higher power emphasises large errors
    #[arg(long, hide_short_help = true, default_value_t = 2.0, value_parser = power)]
    power: f32,
    /// Balance of piece counts: 0 weights them by frequency, 1 weights them equally
    #[arg(long, hide_short_help = true, default_value_t = 0.0, value_parser = super::share)]
    balance: f32,
    #[command(flatten)]
    selection: SelectionArgs,
    #[command(flatten)]
    threads: Threads,
    /// Seed for the initial weights and the order of positions
    #[arg(long, hide_short_help = true, default_value_t = 1)]
    seed: u64,
}

fn power(text: &str) -> Result<f32, String> {
    match text.parse() {
        Ok(power) if (1.0..=4.0).contains(&power) => Ok(power),
        _ => Err("expected a number from 1 to 4".to_owned()),
    }
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    args.check_outputs()?;
    let interrupted = interruption()?;
    let data = args.selection.read(&args.paths.files, &args.threads, args.seed)?;
    let mut trainer = begin(args, &data)?;
    outln!(
        "({INPUTS} -> {HIDDEN})x2 -> 1, {BUCKETS} sets of output weights; {} steps, {} of them taken",
        trainer.all_steps(),
        trainer.steps()
    )?;
    train(args, &mut trainer, &interrupted)?;
    save(args, &trainer)?;
    let network = trainer.quantised()?;
    let error = trainer.parameters().quantisation_error(&network, data.curve(), &data.held_out);
    outln!(
        "held-out loss {:.6}, in integers {:.6}; integers are off by {:.2} centipawns on average, \
         {:.1} at most\nnetwork in {}",
        trainer.held_out_loss(),
        error.loss,
        error.mean,
        error.max,
        args.paths.output.display()
    )?;
    Ok(ExitCode::SUCCESS)
}

impl Args {
    fn settings(&self) -> io::Result<TrainSettings> {
        Ok(TrainSettings {
            epochs: self.epochs.into(),
            batch: self.batch as usize,
            rate: self.rate,
            final_rate: self.final_rate,
            decay: self.decay,
            common: self.common,
            power: self.power,
            balance: self.balance,
            threads: threads::available(self.threads.count())?,
            seed: self.seed,
        })
    }

    fn checkpoint(&self) -> PathBuf {
        self.paths.output.with_extension("checkpoint")
    }

    fn plot(&self) -> PathBuf {
        self.paths.output.with_extension("svg")
    }

    fn check_outputs(&self) -> anyhow::Result<()> {
        let inputs = || self.paths.files.iter().chain(&self.from);
        let (checkpoint, plot) = (self.checkpoint(), self.plot());
        let outputs =
            [(&self.paths.output, NETWORK), (&checkpoint, CHECKPOINT), (&plot, FileKind::SVG)];
        for (path, kind) in outputs {
            Output::new(path, kind).force(self.force.allowed).apart_from(inputs()).check()?;
        }
        Ok(())
    }
}

fn begin<'d>(args: &Args, data: &'d Data) -> anyhow::Result<Trainer<'d>> {
    if args.resume {
        return Ok(Trainer::resume(args.settings()?, data, &args.checkpoint())?);
    }
    Ok(match &args.from {
        Some(path) => {
            let weights = Parameters::grown_from(path, args.seed)?;
            Trainer::beginning_with(weights, args.settings()?, data)
        }
        None => Trainer::new(args.settings()?, data),
    })
}

fn train(args: &Args, trainer: &mut Trainer, interrupted: &AtomicBool) -> anyhow::Result<()> {
    let mut reporter = TrainReporter::new(trainer.steps(), trainer.all_steps());
    while !interrupted.load(Relaxed)
        && let Some(progress) = trainer.step()
    {
        reporter.report(&progress);
        if progress.epoch_loss.is_some() {
            save(args, trainer)?;
        }
    }
    reporter.bar.finish_and_clear();
    if trainer.steps() < trainer.all_steps() {
        // Ignore errors, because the result must be saved even if this message cannot be printed.
        let _ = outln!("interrupted after {} steps; --resume continues", trainer.steps());
    }
    Ok(())
}

fn save(args: &Args, trainer: &Trainer) -> anyhow::Result<()> {
    let write = |path: &Path, bytes: &[u8]| anyhow::Ok(write_whole(path, bytes)?);
    trainer.save(&args.checkpoint())?;
    write(&args.paths.output, &trainer.quantised()?.to_bytes())?;
    if trainer.history().is_empty() {
        return Ok(());
    }
    write(&args.plot(), plot(trainer.history()).as_bytes())
}

struct TrainReporter {
    bar: ProgressBar,
    start: Instant,
    last_report: Instant,
    /// The number of examples used since this run started.
    examples: usize,
}

impl TrainReporter {
    fn new(steps: u64, all_steps: u64) -> Self {
        let bar = progress_bar(all_steps as usize, "steps");
        bar.set_position(steps);
        TrainReporter { bar, start: Instant::now(), last_report: Instant::now(), examples: 0 }
    }

    fn report(&mut self, progress: &TrainProgress) {
        let TrainProgress { epochs, steps, examples, loss, rate, epoch_loss } = *progress;
        self.examples += examples;
        let speed = self.examples as f64 / self.start.elapsed().as_secs_f64().max(1e-9);
        self.bar.set_position(steps);
        self.bar
            .set_message(format!("epoch {}, loss {loss:.6}, {speed:.0} positions/s", epochs + 1));
        if let Some(loss) = epoch_loss {
            self.print_line(&format!(
                "epoch {epochs:>3}: loss {:.6}, held out {:.6}, rate {rate:.1e}, {speed:.0} \
                 positions/s",
                loss.training, loss.held_out
            ));
        } else if self.bar.is_hidden() && self.last_report.elapsed() >= REPORT_INTERVAL {
            self.print_line(&format!(
                "step {steps:>6}: loss {loss:.6}, rate {rate:.1e}, {speed:.0} positions/s"
            ));
        }
    }

    fn print_line(&mut self, line: &str) {
        self.last_report = Instant::now();
        // Ignore errors, because training should continue even if this line cannot be printed.
        let _ = self.bar.suspend(|| outln!("{line}"));
    }
}
