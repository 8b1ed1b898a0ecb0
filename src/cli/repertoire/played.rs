//! Reads the games of players.

use std::path::PathBuf;
use std::sync::Arc;

use crate::chess::position::Color;
use crate::cli::output::errln;
use crate::cli::usage::wrong;
use crate::games::book::{names_player, variations_without_result};
use crate::games::pgn::{GameStatus, PgnGame, PgnInput, read_games};
use crate::support::files::{Cannot, FileError};
use crate::support::words::visible;

pub(super) struct Played {
    pub file: String,
    /// The 1-based number of the game in its file.
    pub number: u64,
    pub game: PgnGame,
}

impl Played {
    /// Returns the name of the player with this colour, or `?` if it is unknown.
    pub(super) fn player(&self, side: Color) -> &str {
        player(&self.game, side)
    }
}

fn player(game: &PgnGame, side: Color) -> &str {
    game.tag(if side == Color::White { "White" } else { "Black" }).unwrap_or("?")
}

/// Returns true if the name of the player with this colour matches one of the lower-case `names`.
/// An empty list matches all players.
pub(super) fn is_played_by(game: &PgnGame, side: Color, names: &[String]) -> bool {
    names.is_empty() || names_player(names, player(game, side))
}

/// Opens files of games. Rejects repertoires, which would otherwise count as games.
pub(super) fn games_of(paths: &[PathBuf]) -> anyhow::Result<Vec<PgnInput>> {
    let inputs = PgnInput::from_paths(paths)?;
    let is_repertoire = |input: &&PgnInput| {
        // Ignore read errors here, because reading the games reports them. A file of unfinished
        // games may be the only file, but among other files, it is more likely a repertoire.
        match variations_without_result(std::slice::from_ref(input)) {
            Ok(Some(has_variations)) => has_variations || inputs.len() > 1,
            Ok(None) | Err(_) => false,
        }
    };
    if let Some(input) = inputs.iter().find(is_repertoire) {
        let name = input.name();
        let (name, what) = (visible(&name), "none of its games has a result");
        let todo = "if it belongs to the repertoire, put --repertoire before it";
        return Err(wrong(format!("{name} is not a file of games: {what}; {todo}")).into());
    }
    Ok(inputs)
}

/// Reads the games for which `is_wanted` returns true. If a game contains an error, reports the
/// error and uses the moves before it.
pub(super) fn each_game(
    inputs: &[PgnInput],
    is_wanted: impl Fn(&PgnGame) -> bool,
    mut visit: impl FnMut(Played),
) -> Result<(), FileError> {
    for input in inputs {
        let file = input.name();
        let text = input.open(&Arc::default()).cannot("read", &file)?;
        for (number, game) in (1..).zip(read_games(text)) {
            let (game, end) = game.cannot("read", &file)?;
            if !is_wanted(&game) {
                continue;
            }
            match &end.status {
                GameStatus::Variant => {
                    errln!("{}: game {number}: skipped: not orthodox chess", visible(&file));
                    continue;
                }
                GameStatus::Broken(fault) => {
                    errln!("{}: game {number}: read up to a fault: {fault}", visible(&file));
                }
                GameStatus::Read | GameStatus::Declined | GameStatus::Text => {}
            }
            visit(Played { file: file.clone(), number, game });
        }
    }
    Ok(())
}
