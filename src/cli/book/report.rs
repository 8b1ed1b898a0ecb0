//! `tabia book report`: creates a report on an opening.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::Ordering::Relaxed;

use anyhow::{Context, bail};

use super::facets::FacetArgs;
use super::{EMBEDDED_NAME, open};
use crate::chess::position::{Game, Position};
use crate::cli::args::GameFolders;
use crate::cli::output::outln;
use crate::cli::place::play;
use crate::cli::usage::{of_arguments, wrong};
use crate::cli::work::{INTERRUPTED, Progress, interruption};
use crate::cli::writing::Force;
use crate::games::book::{Book, BookError, Names};
use crate::support::files::{FileKind, Output};
use crate::tools::opening_report::{
    OpeningReport, ReportSource, SAMPLE_GAMES, opening_report, page, summary,
};

/// Write a report of an opening: popularity, results, plans, model games, endgames and theory
///
/// The games come from a book with facets, or from PGN. Plans and endgames are read from the game
/// files; without these files, the report omits them. Prints a summary if neither -o nor --json is
/// given.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The position: a FEN, moves, or an opening (ECO code, name or part of a name); default: the
    /// start position
    #[arg(value_name = "POSITION")]
    position: Vec<String>,
    /// The book
    #[arg(short, long, value_name = "BOOK")]
    book: PathBuf,
    /// Write the report as an HTML page
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Print the report as JSON
    #[arg(long)]
    json: bool,
    /// Maximum number of games to read for plans and endgames
    #[arg(long, value_name = "N", default_value_t = SAMPLE_GAMES)]
    sample: usize,
    #[command(flatten)]
    filter: FacetArgs,
    #[command(flatten)]
    games: GameFolders,
    #[command(flatten)]
    force: Force,
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let names = Names::embedded();
    let game = find_position(&args.position.join(" "), &names)?;
    let output = args.output.as_deref().map(|path| {
        Output::new(path, FileKind::HTML).force(args.force.allowed).apart_from([&args.book])
    });
    output.iter().try_for_each(Output::check)?;
    let book = open_with_games(&args.book)?;
    let filter = args.filter.resolve();
    if !filter.is_everything() {
        book.check_facets()?;
    }
    let name = args.book.file_name().unwrap_or(args.book.as_os_str());
    let source = ReportSource {
        book: &book,
        name: name.to_string_lossy().into_owned(),
        names: &names,
        filter: &filter,
        folders: &args.games.folders,
        limit: args.sample,
    };
    let Some(report) = make(&source, &game)? else { return Ok(ExitCode::from(INTERRUPTED)) };
    if let Some(output) = &output {
        output.write(page(&report, None).as_bytes())?;
    }
    match args.json {
        true => outln!("{}", serde_json::to_string(&report)?)?,
        false => outln!("{}", summary(&report))?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Opens a book. If the path contains games, counts them with their players, ratings and dates.
fn open_with_games(path: &Path) -> Result<Book, BookError> {
    if path.as_os_str() == EMBEDDED_NAME { open(path) } else { Book::open_with_facets(path) }
}

/// Makes the report; returns `None` after Ctrl-C.
fn make(source: &ReportSource<'_>, game: &Game) -> anyhow::Result<Option<OpeningReport>> {
    let interrupted = interruption()?;
    let mut bar = Progress::new(source.limit as u64, 0, "games");
    let is_stopped = || interrupted.load(Relaxed);
    let report = opening_report(source, game, &is_stopped, |read| bar.set(read));
    bar.finish();
    Ok((!is_stopped()).then_some(report))
}

/// Returns the game that leads to a position. `text` is a FEN, moves from the start, or an opening.
fn find_position(text: &str, names: &Names) -> anyhow::Result<Game> {
    let start = Game::new(Position::start());
    if text.contains('/') {
        let position = Position::from_fen(text).context("the position").map_err(of_arguments)?;
        return Ok(Game::new(position));
    }
    let error = match play(start.clone(), text, "the position") {
        Ok(game) => return Ok(game),
        Err(error) => error,
    };
    // If at least the first move is legal, the text was probably meant as a list of moves, so
    // report which of them is wrong.
    let Some(opening) = names.find(text) else {
        let first = text.split_whitespace().next().unwrap_or_default();
        match play(start, first, "the position") {
            Ok(_) => return Err(error),
            Err(_) => bail!(wrong(format!(
                "cannot find the position {text:?}: give a FEN, moves, or an opening's ECO code or name"
            ))),
        }
    };
    let mut game = start;
    opening.line.iter().try_for_each(|&mv| game.play(mv))?;
    Ok(game)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn position_is_a_fen_moves_or_an_opening() {
        let names = Names::embedded();
        let find = |text| find_position(text, &names).map(|game| game.position().fen());
        let sicilian = find("1. e4 c5").expect("moves");
        assert_eq!(find(&sicilian).expect("a FEN"), sicilian);
        assert_eq!(find("").expect("the start"), Position::start().fen());
        assert!(find("najdorf").expect("a name").contains("p2p"), "Najdorf");
        let message = |text| find(text).expect_err(text).to_string();
        assert!(message("e4 e4").contains("e4"), "{}", message("e4 e4"));
        assert!(message("no such opening").contains("ECO code"), "no such opening");
    }
}
