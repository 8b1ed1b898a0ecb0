//! `tabia repertoire build`: builds a book from a repertoire, or joins its chapters into one file.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use super::{LeavingOut, RepertoireArgs};
use crate::cli::book::extent;
use crate::cli::output::outln;
use crate::cli::writing::{Force, GAMES, files_of, is_standard_output};
use crate::games::book::{BOOK_FILE, Book, BuildOptions, Monitor, build};
use crate::games::pgn::PgnInput;
use crate::games::repertoire::Repertoire;
use crate::support::files::{Cannot, Output};
use crate::support::words::counted;

/// Make a book of a repertoire, with every move of its variations
///
/// The book contains the moves of one side. A move counts once for each chapter that contains it.
/// If the output ends in .pgn, all chapters are written into one file instead.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    repertoire: RepertoireArgs,
    /// The book (.tbk) or the file of chapters (.pgn) to write; with -, print the chapters
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    #[command(flatten)]
    leaving_out: LeavingOut,
    #[command(flatten)]
    force: Force,
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let inputs = PgnInput::from_paths(&args.repertoire.paths)?;
    let repertoire = args.repertoire.open()?;
    args.leaving_out.check(&repertoire, &args.output)?;
    let output = |kind, ending| {
        let output = Output::new(&args.output, kind).ending(ending).force(args.force.allowed);
        output.apart_from(files_of(&inputs))
    };
    if is_standard_output(&args.output) {
        repertoire.chapters.iter().try_for_each(|chapter| outln!("{}", chapter.game))?;
        return Ok(ExitCode::SUCCESS);
    }
    if args.output.extension().is_some_and(|ending| ending == "pgn") {
        write_chapters(&repertoire, &output(GAMES, "pgn").keep_old())?;
    } else {
        write_book(&inputs, &repertoire, &output(BOOK_FILE, "tbk"))?;
    }
    let conflicts = repertoire.conflicts().count() as u64;
    if conflicts > 0 {
        let positions = counted(conflicts, "position");
        outln!("{positions} with several moves; `tabia repertoire check` lists them")?;
    }
    Ok(ExitCode::SUCCESS)
}

fn write_chapters(repertoire: &Repertoire, output: &Output<'_>) -> anyhow::Result<()> {
    let path = output.path();
    let mut file = output.create()?;
    for chapter in &repertoire.chapters {
        writeln!(file, "{}", chapter.game).cannot("write", path)?;
    }
    file.keep()?;
    let chapters = counted(repertoire.chapters.len() as u64, "chapter");
    outln!("{}: {chapters}", path.display())?;
    Ok(())
}

fn write_book(
    inputs: &[PgnInput],
    repertoire: &Repertoire,
    output: &Output<'_>,
) -> anyhow::Result<()> {
    let options = BuildOptions { side: Some(repertoire.side), ..BuildOptions::of_repertoire() };
    let (file, _) = build(inputs, &options, &Monitor::default(), output.create()?)?;
    file.keep()?;
    let book = Book::open(output.path())?;
    outln!("{}: {}", book.name(), extent(book.positions(), book.move_count()))?;
    Ok(())
}
