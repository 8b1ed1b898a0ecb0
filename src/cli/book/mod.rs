//! `tabia book`: builds, shows and edits books.

mod add;
mod analyse;
mod build;
mod combine;
mod convert;
mod disk;
mod dump;
mod entropy;
mod facets;
mod find;
mod game;
mod learn;
mod partial;
mod progress;
mod report;
mod rows;
mod search;
mod show;

pub(super) use build::lowercase;
pub(super) use facets::FacetArgs;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Subcommand;
use clap::builder::{PossibleValuesParser, TypedValueParser};

use crate::chess::position::Color;
use crate::cli::output::{errln, outln};
use crate::cli::writing::Force;
use crate::games::book::{BOOK_FILE, Book, BookError, EMBEDDED_NAME, Policy};
use crate::support::files::{Cannot, NewFile, Output};
use crate::support::words::{counted, grouped, plural};

/// Build, edit and show opening books
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Build(build::Args),
    Add(add::Args),
    Count(partial::CountArgs),
    Pack(partial::PackArgs),
    Analyse(analyse::AnalyseArgs),
    Learn(learn::LearnArgs),
    Info(show::InfoArgs),
    Show(show::ShowArgs),
    Why(show::WhyArgs),
    #[command(alias = "variety")]
    Entropy(entropy::EntropyArgs),
    Dump(dump::Args),
    Merge(combine::MergeArgs),
    Diff(combine::DiffArgs),
    Filter(combine::FilterArgs),
    Verify(convert::VerifyArgs),
    Import(convert::ImportArgs),
    Export(convert::ExportArgs),
    Find(find::Args),
    Game(game::Args),
    Report(report::Args),
    Search(search::Args),
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    match &args.command {
        Command::Build(args) => match add::run_build(args)? {
            Some(status) => Ok(status),
            None => build::run(args),
        },
        Command::Add(args) => add::run(args),
        Command::Count(args) => partial::run_count(args),
        Command::Pack(args) => partial::run_pack(args),
        Command::Analyse(args) => analyse::run(args),
        Command::Learn(args) => learn::run(args),
        Command::Info(args) => show::info(args),
        Command::Show(args) => show::show(args),
        Command::Why(args) => show::print_explanation(args),
        Command::Entropy(args) => entropy::run(args),
        Command::Dump(args) => dump::run(args),
        Command::Merge(args) => combine::run_merge(args),
        Command::Diff(args) => combine::run_diff(args),
        Command::Filter(args) => combine::run_filter(args),
        Command::Verify(args) => convert::run_verify(args),
        Command::Import(args) => convert::run_import(args),
        Command::Export(args) => convert::run_export(args),
        Command::Find(args) => find::run(args),
        Command::Game(args) => game::run(args),
        Command::Report(args) => report::run(args),
        Command::Search(args) => search::run(args),
    }
}

/// Opens the book at a path, or the built-in book for `embedded`, and prints any warnings.
pub(super) fn open(path: &Path) -> Result<Book, BookError> {
    if path.as_os_str() == EMBEDDED_NAME {
        return Ok(Book::embedded());
    }
    let book = Book::open(path)?;
    book.warnings().iter().for_each(|remark| errln!("{}: {remark}", path.display()));
    Ok(book)
}

/// The output path of a new book.
#[derive(Debug, clap::Args)]
struct BookOutputArgs {
    /// The book to write
    #[arg(short = 'o', long = "output", value_name = "BOOK")]
    path: PathBuf,
    #[command(flatten)]
    force: Force,
}

impl BookOutputArgs {
    fn apart_from<P: AsRef<Path>>(&self, inputs: impl IntoIterator<Item = P>) -> Output<'_> {
        book_output(&self.path, self.force, inputs)
    }
}

fn book_output<'a, P: AsRef<Path>>(
    path: &'a Path,
    force: Force,
    inputs: impl IntoIterator<Item = P>,
) -> Output<'a> {
    Output::new(path, BOOK_FILE).ending("tbk").force(force.allowed).apart_from(inputs)
}

/// Writes a new book atomically, then opens it.
fn write(
    output: &Output<'_>,
    write: impl FnOnce(NewFile) -> std::io::Result<NewFile>,
) -> anyhow::Result<Book> {
    let path = output.path();
    let written = write(output.create()?);
    written.cannot("write", path)?.keep()?;
    Ok(Book::open(path)?)
}

fn save(
    output: &Output<'_>,
    content: impl FnOnce(NewFile) -> std::io::Result<NewFile>,
) -> anyhow::Result<()> {
    let book = write(output, content)?;
    outln!("{}: {}", book.name(), extent(book.positions(), book.move_count()))?;
    Ok(())
}

pub(super) fn extent(positions: u64, moves: u64) -> String {
    format!("{}, {}", counted(positions, "position"), counted(moves, "move"))
}

/// Parses the name of a policy. The help text and error messages list all names.
fn policy() -> impl TypedValueParser<Value = Policy> {
    let names = [Policy::ON].into_iter().chain(Policy::ALL.map(Policy::name));
    PossibleValuesParser::new(names).try_map(|name| name.parse::<Policy>())
}

pub(super) fn parse_side(text: &str) -> Result<Color, String> {
    match text {
        "white" => Ok(Color::White),
        "black" => Ok(Color::Black),
        _ => Err("expected white or black".to_owned()),
    }
}

fn size(bytes: u64) -> String {
    match bytes {
        0..10_000 => format!("{bytes} {}", plural(bytes, "byte")),
        10_000..1_000_000 => format!("{:.1} kB", bytes as f64 / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1} MB", bytes as f64 / 1e6),
        _ => format!("{:.1} GB", bytes as f64 / 1e9),
    }
}
