//! `tabia book game`: prints a game in a book. The moves are read from the PGN file from which the
//! book was built.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use super::open;
use crate::cli::args::GameFolders;
use crate::cli::output;
use crate::games::book::GameId;

/// Print a game from a book with facets
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The book, which must have been built with --facets
    book: PathBuf,
    /// Id of the game, as shown by `book show`
    game: GameId,
    #[command(flatten)]
    games: GameFolders,
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let text = open(&args.book)?.game_from(args.game, &args.games.folders)?;
    writeln!(output::stdout(), "{text}")?;
    Ok(ExitCode::SUCCESS)
}
