//! `tabia book`: makes books, shows what is in them, and works on them.

mod build;
mod place;
mod show;

use std::path::Path;
use std::process::ExitCode;

use clap::Subcommand;

use crate::book::{Book, BookError};

/// Make opening books and look into them
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Build(build::Args),
    Info(show::InfoArgs),
    Show(show::ShowArgs),
    Why(show::WhyArgs),
}

/// Runs one of the book commands.
///
/// # Errors
/// In one line: which file, what is wrong, what to do.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    match &args.command {
        Command::Build(args) => build::run(args),
        Command::Info(args) => show::info(args),
        Command::Show(args) => show::show(args),
        Command::Why(args) => show::why(args),
    }
}

/// Opens a book by its path; `embedded` is the one that comes with the program.
fn open(path: &Path) -> Result<Book, BookError> {
    if path.as_os_str() == "embedded" { Ok(Book::embedded()) } else { Book::open(path) }
}

/// A large number with its thousands set apart.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A number of bytes in a fitting unit.
fn size(bytes: u64) -> String {
    match bytes {
        0..10_000 => format!("{bytes} bytes"),
        10_000..10_000_000 => format!("{:.1} kB", bytes as f64 / 1e3),
        10_000_000..10_000_000_000 => format!("{:.1} MB", bytes as f64 / 1e6),
        _ => format!("{:.1} GB", bytes as f64 / 1e9),
    }
}
