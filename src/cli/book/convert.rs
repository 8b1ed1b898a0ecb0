//! `tabia book import`, `export` and `verify`: convert books and check their integrity.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::ensure;

use super::{BookOutputArgs, extent, open, save};
use crate::cli::output::outln;
use crate::cli::writing::Force;
use crate::games::book::POLYGLOT_FILE;
use crate::support::files::Output;
use crate::support::words::counted;

fn has_ending(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "bin")
}

/// Convert a Polyglot book (.bin) to a book
#[derive(Debug, clap::Args)]
pub(super) struct ImportArgs {
    /// The Polyglot book
    input: PathBuf,
    #[command(flatten)]
    output: BookOutputArgs,
}

pub(super) fn run_import(args: &ImportArgs) -> anyhow::Result<ExitCode> {
    ensure!(
        has_ending(&args.input),
        "{} does not end in .bin, as Polyglot books do; rename it if it is one",
        args.input.display()
    );
    let book = open(&args.input)?;
    let output = args.output.apart_from([&args.input]);
    save(&output, |mut file| file.write_all(book.bytes()).map(|()| file))?;
    Ok(ExitCode::SUCCESS)
}

/// Convert a book to a Polyglot book (.bin)
#[derive(Debug, clap::Args)]
pub(super) struct ExportArgs {
    /// The book, or `embedded`
    book: PathBuf,
    /// The Polyglot book to write
    #[arg(short, long, value_name = "BIN")]
    output: PathBuf,
    #[command(flatten)]
    force: Force,
}

pub(super) fn run_export(args: &ExportArgs) -> anyhow::Result<ExitCode> {
    let book = open(&args.book)?;
    let output = Output::new(&args.output, POLYGLOT_FILE).ending("bin");
    let output = output.force(args.force.allowed);
    let output = output.apart_from([&args.book]);
    output.check()?;
    let export = book.to_polyglot();
    output.write(&export.bytes)?;
    outln!("{}: {}", args.output.display(), counted(export.moves(), "move"))?;
    let left_out = [
        (export.weightless, "move", "left out: the side that played them lost every game"),
        (export.out_of_reach, "position", "left out: no moves of the book lead to them"),
        (export.scaled, "position", "with weights scaled down: one was above 65,535"),
        (book.values().len() as u64, "analysed value", "left out: Polyglot books have none"),
        (
            book.facet_games().into(),
            "game",
            "left out: Polyglot books have counts alone, no facets",
        ),
    ];
    for (number, what, why) in left_out.iter().filter(|(number, ..)| *number > 0) {
        outln!("{} {why}", counted(*number, what))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Check the integrity of a book file
#[derive(Debug, clap::Args)]
pub(super) struct VerifyArgs {
    /// The book, or `embedded`
    book: PathBuf,
}

pub(super) fn run_verify(args: &VerifyArgs) -> anyhow::Result<ExitCode> {
    let book = open(&args.book)?;
    book.verify()?;
    outln!("{}: sound, {}", book.name(), extent(book.positions(), book.move_count()))?;
    Ok(ExitCode::SUCCESS)
}
