//! `tabia book count` and `book pack`: build a book in two steps, so that other programs can
//! process the intermediate counts.

use std::path::PathBuf;

use super::BookOutputArgs;
use super::build::{CountingArgs, PruneArgs, ReadingArgs, Resources};

/// Count games and write the counts as Parquet, for `book pack`, DuckDB or Spark
///
/// With --facets, the counts are also divided by rating group, speed and month, and contain ratings
/// and the latest game. These columns are for queries only: a book packed from them has no facets.
#[derive(Debug, clap::Args)]
pub(super) struct CountArgs {
    /// Write the files to this folder
    #[arg(long, value_name = "DIR")]
    parquet: PathBuf,
    /// Number of files (a power of two up to 256); the top bits of a position's key select its file
    #[arg(long, default_value_t = 16, value_parser = parse_files, value_name = "N")]
    files: usize,
    #[command(flatten)]
    reading: ReadingArgs,
    #[command(flatten)]
    resources: Resources,
    #[command(flatten)]
    counting: CountingArgs,
}

/// Make a book from counts in Parquet
#[derive(Debug, clap::Args)]
pub(super) struct PackArgs {
    /// Folders of partial counts, grouped or not; subfolders are read too
    #[arg(required = true, value_name = "DIR")]
    folders: Vec<PathBuf>,
    #[command(flatten)]
    output: BookOutputArgs,
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

#[cfg(not(feature = "parquet"))]
mod missing {
    use std::process::ExitCode;

    use anyhow::bail;

    use super::{CountArgs, PackArgs};

    pub(in crate::cli::book) fn run_count(_args: &CountArgs) -> anyhow::Result<ExitCode> {
        refuse()
    }

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

    use super::{CountArgs, PackArgs};
    use crate::cli::book::build::{report_book, report_faults, report_games, stop_on_interrupt};
    use crate::cli::book::grouped;
    use crate::cli::book::progress::BuildProgress;
    use crate::cli::output::{errln, outln};
    use crate::cli::work::INTERRUPTED;
    use crate::games::book::{BuildError, BuildOptions, Monitor, count_to_parquet, pack_parquet};
    use crate::games::pgn::PgnInput;
    use crate::support::words::counted;

    /// Returns the result of writing `output`. If the build was interrupted, prints a message and
    /// returns `None`.
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

    pub(in crate::cli::book) fn run_count(args: &CountArgs) -> anyhow::Result<ExitCode> {
        let inputs = PgnInput::from_paths(&args.counting.games.games)?;
        let options = BuildOptions {
            language: args.reading.language,
            strict: args.reading.strict,
            ..args.counting.options()
        };
        let options = args.resources.limit(options, &args.parquet);
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

    pub(in crate::cli::book) fn run_pack(args: &PackArgs) -> anyhow::Result<ExitCode> {
        let options = BuildOptions {
            min_games: args.prune.min_games,
            min_score: args.prune.min_score,
            ..BuildOptions::default()
        };
        let options = args.resources.limit(options, &args.output.path);
        let output = args.output.apart_from(&args.folders).create()?;
        let monitor = Monitor::default();
        stop_on_interrupt(&monitor)?;
        let start = Instant::now();
        let packed = {
            let _progress = (!args.resources.quiet).then(|| BuildProgress::of_rows(&monitor));
            pack_parquet(&args.folders, &options, &monitor, output)
        };
        let Some((file, packed)) = unless_interrupted(packed, &args.output.path)? else {
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
            report_book(&args.output.path)?;
        }
        Ok(ExitCode::SUCCESS)
    }
}
