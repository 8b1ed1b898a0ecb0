//! The arguments of `tabia tune`, and the settings derived from them.

use std::path::{Path, PathBuf};

use anyhow::ensure;

use crate::cli::args::Concurrency;
use crate::cli::autoplay::{Both, Endings, check_limits, described, load_openings};
use crate::cli::usage::{of_arguments, wrong};
use crate::cli::writing::Force;
use crate::support::files::{FileKind, Output, read_plain};
use crate::tools::autoplay::config::EngineConfig;
use crate::tools::autoplay::openings::{Opening, OpeningChoice};
use crate::tools::autoplay::spsa::{Parameter, Plan, check_names, is_journal, read_parameters};

const JOURNAL: FileKind = FileKind { name: "the journal of a tuning", recognises: is_journal };

/// The maximum number of different openings. If there are more pairs of games, the openings are
/// reused from the first one on.
const MAX_OPENINGS: u64 = 100_000;

/// Tune an engine's options by playing games (SPSA)
///
/// Each iteration perturbs all options in opposite directions for two copies of the engine, plays
/// pairs of games between the copies, and moves the values towards those of the better copy. The
/// state is stored after each iteration. An interrupted run exits with 130, and the same command
/// resumes it.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Command line of the engine
    engine: String,
    /// Option to tune: NAME,START,MIN,MAX,C_END,R_END
    ///
    /// The fields are the option's name, its initial value, its bounds, and the final perturbation
    /// and learning rate.
    #[arg(long = "param", value_name = "PARAM")]
    parameters: Vec<Parameter>,
    /// File of parameters, one per line
    #[arg(long = "params", value_name = "FILE")]
    parameter_file: Option<PathBuf>,
    /// Number of iterations
    #[arg(short = 'n', long, default_value_t = 1000, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    iterations: u32,
    /// Number of game pairs in each iteration; a pair plays one opening with both colours
    #[arg(long, default_value_t = 8, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pairs: u32,
    /// Seed for the perturbations and the order of openings
    #[arg(long, hide_short_help = true, default_value_t = 1)]
    seed: u64,
    /// State file of the tuning run; an existing one is resumed
    #[arg(short, long, alias = "out", value_name = "FILE")]
    output: PathBuf,
    /// Plot every parameter over the course of the run (SVG)
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
    #[command(flatten)]
    pub concurrency: Concurrency,
    /// Write all traffic with the engines to this file
    #[arg(long, hide_short_help = true, value_name = "FILE")]
    pub trace: Option<PathBuf>,
    /// Print progress after every N iterations
    #[arg(long, hide_short_help = true, default_value_t = 10, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub every: u32,
    #[command(flatten)]
    force: Force,
    #[command(flatten)]
    both: Both,
    #[command(flatten)]
    openings: Openings,
    #[command(flatten)]
    endings: Endings,
}

/// The openings from which games start.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Openings")]
struct Openings {
    /// Openings (EPD or PGN) or a book (.tbk, .bin), in random order
    #[arg(long = "openings", default_value = "embedded", value_name = "FILE")]
    file: PathBuf,
    /// Maximum number of plies in each opening
    #[arg(long = "opening-plies", value_name = "N")]
    plies: Option<usize>,
}

impl Args {
    pub(super) fn resolve_engine(&self) -> anyhow::Result<EngineConfig> {
        let command = EngineConfig::from_command(&self.engine)?.command;
        let engine = EngineConfig { command, ..self.both.base() };
        check_limits(&engine)?;
        Ok(engine)
    }

    /// Returns the parameters to tune: first those from the file, then those from the command line.
    pub(super) fn resolve_parameters(&self) -> anyhow::Result<Vec<Parameter>> {
        let mut parameters = match &self.parameter_file {
            Some(path) => read_parameters(path)?,
            None => Vec::new(),
        };
        parameters.extend_from_slice(&self.parameters);
        ensure!(
            !parameters.is_empty(),
            wrong("there is nothing to tune: name parameters with --param or --params")
        );
        check_names(&parameters).map_err(of_arguments)?;
        let fixed = |parameter: &&Parameter| {
            let names = self.both.base().options.into_iter().map(|(name, _)| name.to_lowercase());
            names.into_iter().any(|name| name == parameter.name.to_lowercase())
        };
        if let Some(Parameter { name, .. }) = parameters.iter().find(fixed) {
            return Err(wrong(format!("{name} is tuned, and set by --option as well")).into());
        }
        Ok(parameters)
    }

    pub(super) fn plan(&self) -> Plan {
        Plan { iterations: self.iterations, pairs: self.pairs, seed: self.seed }
    }

    pub(super) fn resolve_openings(&self) -> anyhow::Result<Vec<Opening>> {
        let pairs = u64::from(self.iterations) * u64::from(self.pairs);
        let choice = OpeningChoice {
            path: self.openings.file.clone(),
            shuffled: true,
            seed: self.seed,
            start: 0,
            count: pairs.min(MAX_OPENINGS) as usize,
            plies: self.openings.plies,
        };
        load_openings(&choice)
    }

    pub(super) fn endings(&self) -> &Endings {
        &self.endings
    }

    /// Returns the path of the journal, and whether it may replace a file of a different kind.
    pub(super) fn place(&self) -> anyhow::Result<(&Path, bool)> {
        self.output(&self.output, JOURNAL).check()?;
        let is_other = |bytes: Vec<u8>| !is_journal(&bytes);
        let anew = self.force.allowed && read_plain(&self.output).is_ok_and(is_other);
        Ok((&self.output, anew))
    }

    /// Prepares an output file. It must not be a file that the tuning run reads.
    pub(super) fn output<'a>(&'a self, path: &'a Path, kind: FileKind) -> Output<'a> {
        let output = Output::new(path, kind).force(self.force.allowed);
        output.apart_from(&self.parameter_file).apart_from([&self.openings.file])
    }

    pub(super) fn settings(&self, engine: &EngineConfig, parameters: &[Parameter]) -> String {
        let Plan { iterations, pairs, seed } = self.plan();
        let Openings { file, plies } = &self.openings;
        let mut lines = vec![
            format!("engine: {}", described(engine)),
            format!("{iterations} iterations of {pairs} pairs, seed {seed}"),
            format!("openings: {file:?} plies {plies:?}"),
            self.endings.settings(),
            format!("{} parameters", parameters.len()),
        ];
        lines.extend(parameters.iter().map(ToString::to_string));
        lines.join("\n")
    }
}
