//! `tabia book count` and `book pack`: a build in two steps, between which other programs can
//! process the counts.

use std::path::PathBuf;

use super::build::{GameFilterArgs, PruneArgs, Resources};
use super::parse_side;
use crate::chess::position::Color;
use crate::cli::writing::Force;
use crate::games::book::DEFAULT_MAX_PLY;
use crate::games::pgn::Language;

/// Count games and write the counts as Parquet, for `book pack`, DuckDB or Spark
#[derive(Debug, clap::Args)]
pub(super) struct CountArgs {
    /// Files, folders, or - for standard input; .gz, .bz2, .zst and .parquet are read as they are
    #[arg(required = true, value_name = "IN")]
    inputs: Vec<PathBuf>,
    /// The folder to write
    #[arg(long, value_name = "DIR")]
    parquet: PathBuf,
    /// Files in it, by the top bits of the keys: a power of two, 256 at most
    #[arg(long, default_value_t = 16, value_parser = parse_files, value_name = "NUMBER")]
    files: usize,
    /// Plies of each game that count
    #[arg(long, default_value_t = DEFAULT_MAX_PLY, value_parser = clap::value_parser!(u32).range(1..=1000))]
    max_ply: u32,
    /// Take in only the moves of one side; --player and --title then refer to the player of that side
    #[arg(long, value_parser = parse_side)]
    side: Option<Color>,
    /// Count games and lines without a result, too
    #[arg(long)]
    undecided: bool,
    /// Count by rating group, speed and month too, with ratings and the latest game: for queries, since
    /// a book of these counts has none of it
    #[arg(long)]
    facets: bool,
    /// Whose letters stand for the pieces (de, fr, es …; default: each file shows it)
    #[arg(long, value_name = "CODE")]
    language: Option<Language>,
    /// Stop at the first broken game
    #[arg(long)]
    strict: bool,
    #[command(flatten)]
    resources: Resources,
    #[command(flatten)]
    filter: GameFilterArgs,
}

/// Make a book of counts in Parquet
#[derive(Debug, clap::Args)]
pub(super) struct PackArgs {
    /// Folders of partial counts, grouped or not; those below them are read too
    #[arg(required = true, value_name = "DIR")]
    folders: Vec<PathBuf>,
    /// The book to write
    #[arg(short, long, value_name = "BOOK")]
    output: PathBuf,
    #[command(flatten)]
    force: Force,
    #[command(flatten)]
    prune: PruneArgs,
    #[command(flatten)]
    resources: Resources,
}

fn parse_files(text: &str) -> Result<usize, String> {
    let number =
        text.parse().ok().filter(|&number: &usize| number <= 256 && number.is_power_of_two());
    number.ok_or_else(|| "expected 1, 2, 4, 8, 16, 32, 64, 128 or 256".to_owned())
}

#[cfg(not(feature = "parquet"))]
pub(super) use missing::{run_count, run_pack};
#[cfg(feature = "parquet")]
pub(super) use present::{run_count, run_pack};

/// The commands in a program without Parquet.
#[cfg(not(feature = "parquet"))]
mod missing {
    use std::process::ExitCode;

    use anyhow::bail;

    use super::{CountArgs, PackArgs};

    /// Reports the missing feature.
    ///
    /// # Errors
    /// Always.
    pub(in crate::cli::book) fn run_count(_args: &CountArgs) -> anyhow::Result<ExitCode> {
        refuse()
    }

    /// Reports the missing feature.
    ///
    /// # Errors
    /// Always.
    pub(in crate::cli::book) fn run_pack(_args: &PackArgs) -> anyhow::Result<ExitCode> {
        refuse()
    }

    fn refuse() -> anyhow::Result<ExitCode> {
        bail!(
            "this program was built without Parquet: build it with `cargo build --release --features parquet`"
        )
    }
}

#[cfg(feature = "parquet")]
mod present {
    use std::path::Path;
    use std::process::ExitCode;
    use std::time::Instant;

    use anyhow::Context;

    use super::{CountArgs, PackArgs, Resources};
    use crate::cli::book::build::{report_book, report_faults, report_games, stop_on_interrupt};
    use crate::cli::book::progress::BuildProgress;
    use crate::cli::book::{book_output, grouped};
    use crate::cli::output::{errln, outln};
    use crate::cli::work::{INTERRUPTED, cores};
    use crate::games::book::{BuildError, BuildOptions, Monitor, count_to_parquet, pack_parquet};
    use crate::games::pgn::PgnInput;
    use crate::support::words::counted;

    /// Returns the options of both steps; data that exceeds the memory limit is stored beside
    /// `output`.
    fn options(resources: &Resources, output: &Path) -> BuildOptions {
        let beside = output.parent().filter(|folder| !folder.as_os_str().is_empty());
        BuildOptions {
            threads: resources.threads.map_or_else(cores, usize::from),
            memory: resources.memory,
            spill_folder: beside.unwrap_or(Path::new(".")).to_owned(),
            ..BuildOptions::default()
        }
    }

    /// Returns the result for `output`, or `None` after reporting an interruption.
    fn unless_interrupted<T>(
        made: Result<T, BuildError>,
        output: &Path,
    ) -> anyhow::Result<Option<T>> {
        match made {
            Err(error @ BuildError::Interrupted(_)) => {
                errln!("tabia: {} was not written: {error}", output.display());
                Ok(None)
            }
            made => made.map(Some).with_context(|| format!("{} was not written", output.display())),
        }
    }

    /// Counts games.
    ///
    /// # Errors
    /// If an input does not exist, or the folder cannot be written; no partial output is left.
    pub(in crate::cli::book) fn run_count(args: &CountArgs) -> anyhow::Result<ExitCode> {
        let inputs = PgnInput::from_paths(&args.inputs)?;
        let options = BuildOptions {
            max_ply: args.max_ply,
            undecided: args.undecided,
            filter: args.filter.resolve(args.side),
            language: args.language,
            side: args.side,
            facets: args.facets,
            strict: args.strict,
            ..options(&args.resources, &args.parquet)
        };
        let monitor = Monitor::default();
        stop_on_interrupt(&monitor)?;
        let start = Instant::now();
        let partial = {
            let _progress =
                (!args.resources.quiet).then(|| BuildProgress::start(&inputs, &monitor));
            count_to_parquet(&inputs, &options, &monitor, &args.parquet, args.files)
        };
        let Some(partial) = unless_interrupted(partial, &args.parquet)? else {
            return Ok(ExitCode::from(INTERRUPTED));
        };
        report_faults(&partial.tally, args.resources.quiet, false);
        if !args.resources.quiet {
            report_games(&partial.tally, start.elapsed(), 0)?;
            outln!("{}: {}", args.parquet.display(), counted(partial.rows, "row"))?;
        }
        Ok(ExitCode::SUCCESS)
    }

    /// Packs counts into a book.
    ///
    /// # Errors
    /// If the counts cannot be read or the book cannot be written; the old book, if there is one,
    /// is then unchanged.
    pub(in crate::cli::book) fn run_pack(args: &PackArgs) -> anyhow::Result<ExitCode> {
        let options = BuildOptions {
            min_games: args.prune.min_games,
            min_score: args.prune.min_score,
            ..options(&args.resources, &args.output)
        };
        let output = book_output(&args.output, args.force, &args.folders).create()?;
        let monitor = Monitor::default();
        stop_on_interrupt(&monitor)?;
        let start = Instant::now();
        let packed = {
            let _progress = (!args.resources.quiet).then(|| BuildProgress::of_rows(&monitor));
            pack_parquet(&args.folders, &options, &monitor, output)
        };
        let Some((file, packed)) = unless_interrupted(packed, &args.output)? else {
            return Ok(ExitCode::from(INTERRUPTED));
        };
        file.keep()?;
        if !args.resources.quiet {
            let seconds = start.elapsed().as_secs_f64().max(1e-3);
            outln!(
                "{} in {} read in {seconds:.2} s: {} rows/s",
                counted(packed.manifest.games.total(), "game"),
                counted(packed.rows, "row"),
                grouped((packed.rows as f64 / seconds) as u64),
            )?;
            report_book(&args.output)?;
        }
        Ok(ExitCode::SUCCESS)
    }
}
