//! Arguments that select a position.

use anyhow::{Context, bail};

use crate::chess::position::{Game, Position};
use crate::cli::usage::{of_arguments, wrong};
use crate::games::book::Names;
use crate::support::words::split_words;

/// The position in question; the start position if nothing is said.
#[derive(Debug, clap::Args)]
pub(super) struct PositionArgs {
    /// The position as FEN
    #[arg(long, value_name = "FEN")]
    fen: Option<String>,
    /// The position after these moves, in SAN or coordinates, from --fen or the start position
    #[arg(long, value_name = "MOVES", allow_hyphen_values = true)]
    moves: Option<String>,
    /// The position of an opening: an ECO code, a name, or part of one
    #[arg(long, value_name = "NAME", conflicts_with = "fen")]
    opening: Option<String>,
}

impl PositionArgs {
    pub(super) fn is_given(&self) -> bool {
        self.fen.is_some() || self.moves.is_some() || self.opening.is_some()
    }

    /// Returns the game that leads to the position.
    pub(super) fn game(&self) -> anyhow::Result<Game> {
        let start = match &self.fen {
            Some(fen) => Position::from_fen(fen).map_err(of_arguments)?,
            None => Position::start(),
        };
        let mut game = Game::new(start);
        if let Some(name) = &self.opening {
            let names = Names::embedded();
            let Some(opening) = names.find(name) else {
                let what = "give an ECO code or a part of a name";
                bail!(wrong(format!("no opening is called {name:?}; {what}")));
            };
            opening.line.iter().try_for_each(|&mv| game.play(mv))?;
        }
        for word in split_words(self.moves.as_deref().unwrap_or_default()) {
            let text = word.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
            if text.is_empty() {
                continue;
            }
            let mv =
                game.position().parse_move(text).with_context(|| format!("{word:?} in --moves"));
            let mv = mv.map_err(of_arguments)?;
            game.play(mv)?;
        }
        Ok(game)
    }
}
