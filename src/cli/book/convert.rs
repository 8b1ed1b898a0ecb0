//! `tabia book import`, `export` and `verify`.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::bail;

use super::{grouped, open, save};
use crate::book::NewFile;

/// Make a book of a Polyglot book (.bin)
#[derive(Debug, clap::Args)]
pub struct ImportArgs {
    /// The Polyglot book
    input: PathBuf,
    /// The book to write
    #[arg(short, long, value_name = "BOOK")]
    output: PathBuf,
}

/// Imports.
///
/// # Errors
/// If the input is no Polyglot book or the output cannot be written.
pub fn run_import(args: &ImportArgs) -> anyhow::Result<ExitCode> {
    if args.input.extension().is_none_or(|extension| extension != "bin") {
        bail!(
            "{} does not end in .bin, as Polyglot books do; rename it if it is one",
            args.input.display()
        );
    }
    let book = open(&args.input)?;
    save(&args.output, |mut file| file.write_all(book.bytes()).map(|()| file))?;
    Ok(ExitCode::SUCCESS)
}

/// Write a book as a Polyglot book (.bin)
#[derive(Debug, clap::Args)]
pub struct ExportArgs {
    /// The book, or `embedded`
    book: PathBuf,
    /// The Polyglot book to write
    #[arg(short, long, value_name = "BIN")]
    output: PathBuf,
}

/// Exports.
///
/// # Errors
/// If the book cannot be read or the output not be written.
pub fn run_export(args: &ExportArgs) -> anyhow::Result<ExitCode> {
    let book = open(&args.book)?;
    let mut file = NewFile::create(&args.output)?;
    let (bytes, left_out) = book.to_polyglot();
    let done = file.write_all(&bytes).and_then(|()| file.flush());
    done.map_err(|error| anyhow::anyhow!(crate::pgn::in_words(&error)))?;
    file.keep()?;
    println!("{}: {} moves", args.output.display(), grouped(bytes.len() as u64 / 16));
    if left_out > 0 {
        println!("{} positions left out: no moves of the book lead to them", grouped(left_out));
    }
    Ok(ExitCode::SUCCESS)
}

/// Read a book from end to end and test that it is sound
#[derive(Debug, clap::Args)]
pub struct VerifyArgs {
    /// The book, or `embedded`
    book: PathBuf,
}

/// Verifies checksums and entries.
///
/// # Errors
/// Names the part that is damaged.
pub fn run_verify(args: &VerifyArgs) -> anyhow::Result<ExitCode> {
    let book = open(&args.book)?;
    book.verify()?;
    let (positions, moves) = (grouped(book.positions()), grouped(book.move_count()));
    println!("{}: sound, {positions} positions, {moves} moves", book.name());
    Ok(ExitCode::SUCCESS)
}
