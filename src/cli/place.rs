//! Arguments that select a position.

use anyhow::{Context, bail};

use super::usage::{of_arguments, wrong};
use crate::chess::position::{Game, Position};
use crate::games::book::Names;
use crate::support::words::split_words;

/// The position to use; by default the start position.
#[derive(Debug, clap::Args)]
pub(super) struct PositionArgs {
    /// Position as FEN
    #[arg(long, value_name = "FEN")]
    fen: Option<String>,
    /// Position after these moves (SAN or coordinates) from --fen or the start
    #[arg(long, value_name = "MOVES", allow_hyphen_values = true)]
    moves: Option<String>,
    /// Position of this opening (ECO code, name or part of a name)
    #[arg(long, value_name = "NAME", conflicts_with = "fen")]
    opening: Option<String>,
}

impl PositionArgs {
    pub(super) fn is_given(&self) -> bool {
        self.fen.is_some() || self.moves.is_some() || self.opening.is_some()
    }

    pub(super) fn game(&self) -> anyhow::Result<Game> {
        let start = match &self.fen {
            Some(fen) => Position::from_fen(fen).context("--fen").map_err(of_arguments)?,
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
        play(game, self.moves.as_deref().unwrap_or_default(), "--moves")
    }

    pub(super) fn title(&self) -> String {
        let start = self.opening.as_ref().or(self.fen.as_ref());
        let start = start.map_or("start position", String::as_str);
        match &self.moves {
            None => start.to_owned(),
            Some(moves) => format!("{start}, {moves}"),
        }
    }
}

/// Plays the moves given by an option. Move numbers such as `1.` are ignored.
pub(super) fn play(mut game: Game, moves: &str, option: &str) -> anyhow::Result<Game> {
    for word in split_words(moves) {
        let text = word.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
        if text.is_empty() {
            continue;
        }
        let mv = game.position().parse_move(text).with_context(|| format!("{word:?} in {option}"));
        game.play(mv.map_err(of_arguments)?)?;
    }
    Ok(game)
}
