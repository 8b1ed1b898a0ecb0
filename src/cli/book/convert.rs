//! `tabia book import`, `export` and `verify`.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::bail;

use super::{book_output, grouped, open, save};
use crate::book::POLYGLOT_FILE;
use crate::cli::output::outln;
use crate::cli::writing::Force;
use crate::files::Output;

/// Make a book of a Polyglot book (.bin)
#[derive(Debug, clap::Args)]
pub(super) struct ImportArgs {
    /// The Polyglot book
    input: PathBuf,
    /// The book to write
    #[arg(short, long, value_name = "BOOK")]
    output: PathBuf,
    #[command(flatten)]
    force: Force,
}

/// Imports.
///
/// # Errors
/// If the input is no Polyglot book or the output cannot be written.
pub(super) fn run_import(args: &ImportArgs) -> anyhow::Result<ExitCode> {
    if args.input.extension().is_none_or(|extension| extension != "bin") {
        bail!(
            "{} does not end in .bin, as Polyglot books do; rename it if it is one",
            args.input.display()
        );
    }
    let book = open(&args.input)?;
    let output = book_output(&args.output, args.force, [&args.input]);
    save(&output, |mut file| file.write_all(book.bytes()).map(|()| file))?;
    Ok(ExitCode::SUCCESS)
}

/// Write a book as a Polyglot book (.bin)
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

/// Exports.
///
/// # Errors
/// If the book cannot be read or the output not be written.
pub(super) fn run_export(args: &ExportArgs) -> anyhow::Result<ExitCode> {
    let book = open(&args.book)?;
    let output = Output::new(&args.output, POLYGLOT_FILE).force(args.force.allowed);
    let output = output.apart_from([&args.book]);
    output.check()?;
    let export = book.to_polyglot();
    output.write(&export.bytes)?;
    outln!("{}: {} moves", args.output.display(), grouped(export.moves()))?;
    let remarks = [
        (export.weightless, "moves left out: the side that played them lost every game"),
        (export.out_of_reach, "positions left out: no moves of the book lead to them"),
        (export.scaled, "positions with weights scaled down: one was above 65,535"),
    ];
    for (number, what) in remarks.iter().filter(|(number, _)| *number > 0) {
        outln!("{} {what}", grouped(*number))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Read a book from end to end and test that it is sound
#[derive(Debug, clap::Args)]
pub(super) struct VerifyArgs {
    /// The book, or `embedded`
    book: PathBuf,
}

/// Verifies checksums and entries.
///
/// # Errors
/// Names the part that is damaged.
pub(super) fn run_verify(args: &VerifyArgs) -> anyhow::Result<ExitCode> {
    let book = open(&args.book)?;
    book.verify()?;
    let (positions, moves) = (grouped(book.positions()), grouped(book.move_count()));
    outln!("{}: sound, {positions} positions, {moves} moves", book.name())?;
    Ok(ExitCode::SUCCESS)
}
