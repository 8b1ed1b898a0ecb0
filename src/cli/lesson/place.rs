//! The initial position of a lesson: a position, and moves from it.

use anyhow::Context;

use crate::chess::position::{Game, Position};
use crate::cli::usage::of_arguments;
use crate::support::words::split_words;

/// The position of a lesson.
#[derive(Debug, clap::Args)]
pub(super) struct LessonPositionArgs {
    /// Position as FEN (default: the start position)
    #[arg(long, value_name = "FEN")]
    fen: Option<String>,
    /// Moves from there, like "e4 Nc6 Ke2 d5"
    #[arg(long, default_value = "", value_name = "MOVES")]
    moves: String,
}

impl LessonPositionArgs {
    /// Returns the game up to the position.
    ///
    /// # Errors
    /// If the position is illegal or a move cannot be played.
    pub(super) fn game(&self) -> anyhow::Result<Game> {
        let start = match &self.fen {
            Some(fen) => Position::from_fen(fen).context("--fen").map_err(of_arguments)?,
            None => Position::start(),
        };
        play(Game::new(start), &self.moves).context("--moves").map_err(of_arguments)
    }

    pub(super) fn title(&self) -> String {
        let start = self.fen.as_deref().unwrap_or("start position");
        match self.moves.is_empty() {
            true => start.to_owned(),
            false => format!("{start}, {}", self.moves),
        }
    }
}

/// Plays moves; numbers like `1.` between them are ignored.
pub(super) fn play(mut game: Game, moves: &str) -> anyhow::Result<Game> {
    for word in split_words(moves) {
        let text = word.trim_start_matches(|c: char| c.is_ascii_digit()).trim_start_matches('.');
        if !text.is_empty() {
            let mv = game.position().parse_move(text)?;
            game.play(mv)?;
        }
    }
    Ok(game)
}
