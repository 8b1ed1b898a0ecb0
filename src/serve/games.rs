//! The games that the books are made of: listed by an id, and read from their files when one is
//! wanted.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Serialize;

use super::refusal::Refusal;
use super::shape::NamedMove;
use super::shelf::Content;
use crate::book::GameError;
use crate::files::in_words;
use crate::pgn::{
    Fate, GameEnd, GamePly, PgnGame, PgnInput, PgnMove, Reader, Tags, Visitor, read_games,
};
use crate::position::Position;

/// The digits of an id.
const DIGITS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/// As many as those of Lichess have.
const ID_LENGTH: usize = 8;
/// Games that a file can have in an id.
const GAMES_OF_FILE: u64 = 1 << 36;

/// Which game is meant: the number of its file, and its own there, from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct GameId {
    pub(crate) file: usize,
    pub(crate) game: u64,
}

impl GameId {
    /// The id as text.
    pub(crate) fn text(self) -> String {
        let mut number = self.file as u64 * GAMES_OF_FILE + self.game;
        let mut text = [DIGITS[0]; ID_LENGTH];
        for digit in text.iter_mut().rev() {
            *digit = DIGITS[(number % DIGITS.len() as u64) as usize];
            number /= DIGITS.len() as u64;
        }
        text.iter().copied().map(char::from).collect()
    }

    /// Reads an id.
    pub(crate) fn read(text: &str) -> Option<Self> {
        if text.len() != ID_LENGTH {
            return None;
        }
        let mut number = 0;
        for letter in text.bytes() {
            let digit = DIGITS.iter().position(|&digit| digit == letter)?;
            number = number * DIGITS.len() as u64 + digit as u64;
        }
        let file = usize::try_from(number / GAMES_OF_FILE).ok()?;
        Some(GameId { file, game: number % GAMES_OF_FILE })
    }
}

/// Reads a game from its file, all games before which are passed over.
///
/// # Errors
/// If there is no such game, or its file is gone.
pub(crate) fn find(content: &Content, text: &str) -> Result<PgnGame, Refusal> {
    let missing = || Refusal::missing(format!("there is no game {text:?}"));
    if let Some(found) = find_in_book(content, text) {
        return found;
    }
    let id = GameId::read(text).ok_or_else(missing)?;
    let input = content.games.get(id.file).ok_or_else(missing)?;
    let game = read(input, id.game).map_err(|error| {
        let name = input.short_name();
        Refusal::gone(format!("the games of {name} cannot be read: {}", in_words(&error)))
    })?;
    game.ok_or_else(missing)
}

/// The game that a book which knows its games has by this id; `None` if it has none.
fn find_in_book(content: &Content, text: &str) -> Option<Result<PgnGame, Refusal>> {
    let id = text.parse().ok()?;
    let folders = content.games.iter().filter_map(|input| match input {
        PgnInput::File(path) => path.parent().map(Path::to_owned),
        _ => None,
    });
    let mut folders: Vec<PathBuf> = folders.collect();
    folders.dedup();
    match content.book.game_from(id, &folders) {
        Err(GameError::Unknown { .. }) => None,
        Err(error) => Some(Err(Refusal::gone(error.to_string()))),
        Ok(pgn) => match read_games(pgn.as_bytes()).next()? {
            Ok((game, _)) => Some(Ok(game)),
            Err(error) => Some(Err(Refusal::gone(in_words(&error)))),
        },
    }
}

fn read(input: &PgnInput, number: u64) -> std::io::Result<Option<PgnGame>> {
    let mut reader = Reader::new(input.open(&Arc::default())?);
    let mut seeker = Seeker { left: number, game: None };
    while let Some(end) = reader.read_game(&mut seeker)? {
        if let Some(mut game) = seeker.game.take() {
            game.result = end.result;
            return Ok(Some(game));
        }
        seeker.left -= u64::from(end.fate != Fate::Text).min(seeker.left);
    }
    Ok(None)
}

/// Passes over games until one is wanted.
struct Seeker {
    left: u64,
    game: Option<PgnGame>,
}

impl Visitor for Seeker {
    fn begin(&mut self, tags: &Tags, start: &Position) -> ControlFlow<()> {
        if self.left > 0 {
            return ControlFlow::Break(());
        }
        let mut game = PgnGame::new(*start);
        game.tags =
            tags.iter().map(|(name, value)| (name.into_owned(), value.into_owned())).collect();
        self.game = Some(game);
        ControlFlow::Continue(())
    }

    fn played(&mut self, ply: &GamePly) -> ControlFlow<()> {
        self.game.iter_mut().for_each(|game| game.moves.push(PgnMove::from(ply.mv)));
        ControlFlow::Continue(())
    }

    fn end(&mut self, _end: &GameEnd) {}
}

/// A game for the page.
#[derive(Debug, Serialize)]
pub(crate) struct GameAnswer {
    /// Names and values.
    tags: Vec<(String, String)>,
    /// Where it began.
    fen: String,
    moves: Vec<NamedMove>,
    result: &'static str,
    /// What is wrong with the rest, if something is.
    fault: Option<String>,
}

impl GameAnswer {
    /// A game, as far as it could be read.
    pub(crate) fn new(game: &PgnGame, fate: &Fate) -> Self {
        let moves: Vec<_> = game.moves.iter().map(|played| played.mv).collect();
        GameAnswer {
            tags: game.tags.clone(),
            fen: game.start.fen(),
            moves: NamedMove::line(&game.start, &moves),
            result: game.result.token(),
            fault: match fate {
                Fate::Broken(fault) => Some(fault.to_string()),
                _ => None,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_read_as_they_are_written() {
        for (file, game) in [(0, 0), (0, 61), (3, 123_456_789), (3000, GAMES_OF_FILE - 1)] {
            let id = GameId { file, game };
            assert_eq!(id.text().len(), ID_LENGTH);
            assert_eq!(GameId::read(&id.text()), Some(id));
        }
        for text in ["", "0000000", "0000000-", "000000000", "ééée"] {
            assert_eq!(GameId::read(text), None, "{text}");
        }
    }

    #[test]
    fn a_game_is_found_by_its_number() {
        let text = "some text\n\n1. e4 e5 1-0\n\n[White \"B\"]\n\n1. d4 0-1\n";
        let input = PgnInput::Text("games".to_owned(), text.as_bytes().into());
        let game = read(&input, 1).expect("readable").expect("there");
        assert_eq!(
            (game.tag("White"), game.moves.len(), game.result.token()),
            (Some("B"), 1, "0-1")
        );
        assert!(read(&input, 2).expect("readable").is_none());
    }
}
