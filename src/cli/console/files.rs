//! Reads and writes files of games and positions.

use std::fs::{OpenOptions, create_dir_all};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::text::failed;
use crate::chess::epd;
use crate::chess::position::Position;
use crate::games::pgn::{self, GameEnd, GameStatus, PgnGame, PgnInput};
use crate::support::error::ParseError;
use crate::support::platform;
use crate::support::words::{number_of, visible};

/// Splits arguments into a file name, which must be quoted if it contains spaces, and an optional
/// second word.
pub(super) fn file_and_word(text: &str) -> io::Result<(String, Option<String>)> {
    let words = platform::split_words(text).ok_or_else(|| failed("a quotation mark is missing"))?;
    let mut words = words.into_iter().fuse();
    let file = words.next().filter(|file| !file.is_empty());
    let file = file.ok_or_else(|| failed("expected a file"))?;
    match (words.next(), words.next()) {
        (word, None) => Ok((file, word)),
        _ => Err(failed("expected a file, in quotation marks if its name has blanks")),
    }
}

/// Parses a file name like [`file_and_word`], but rejects further arguments.
pub(super) fn file(text: &str) -> io::Result<String> {
    match file_and_word(text)? {
        (file, None) => Ok(file),
        _ => Err(failed("expected one file, in quotation marks if its name has blanks")),
    }
}

pub(super) fn with_path(file: &str, error: impl std::fmt::Display) -> io::Error {
    failed(format!("{file}: {error}"))
}

fn open(name: &str) -> io::Result<impl Read> {
    PgnInput::File(name.into()).open(&Arc::default()).map_err(|error| with_path(name, error))
}

/// Appends text in a single write, so that the output of concurrent writers is not interleaved.
pub(super) fn append(path: &Path, text: &str) -> io::Result<()> {
    let file = OpenOptions::new().create(true).append(true).open(path);
    let written = file.and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(|error| with_path(&path.display().to_string(), error))
}

/// Appends a game to the file of saved games, and returns the name of that file.
pub(super) fn keep(path: Option<&Path>, game: &PgnGame) -> io::Result<String> {
    let path = path.ok_or_else(|| failed("neither XDG_DATA_HOME nor HOME is set"))?;
    let name = path.display().to_string();
    path.parent().map_or(Ok(()), create_dir_all).map_err(|error| with_path(&name, error))?;
    append(path, &format!("{game}\n"))?;
    Ok(name)
}

pub(super) fn keep_file() -> Option<PathBuf> {
    Some(platform::data_folder()?.join("tabia").join("games.pgn"))
}

/// Loads a game by its 1-based number in a file. Also returns a message if only part of the game
/// could be read.
pub(super) fn load_game(name: &str, number: usize) -> io::Result<(PgnGame, Option<String>)> {
    let mut games = pgn::read_games(open(name)?);
    let mut last = 0;
    let found = games.by_ref().take(number).inspect(|_| last += 1).last();
    let (game, end) = match found {
        Some(game) if last == number => game.map_err(|error| with_path(name, error))?,
        None => return Err(with_path(name, "there is no game in it")),
        Some(_) => {
            return Err(with_path(name, format!("it has only {}", number_of(last as u64, "game"))));
        }
    };
    match fault(&end) {
        Some(fault) if game.moves.is_empty() => Err(with_path(name, fault)),
        fault => Ok((game, fault)),
    }
}

fn fault(end: &GameEnd) -> Option<String> {
    match &end.status {
        GameStatus::Read | GameStatus::Declined => None,
        GameStatus::Variant => Some("it is not orthodox chess".to_owned()),
        GameStatus::Text => Some("it is no game".to_owned()),
        GameStatus::Broken(fault) => Some(fault.to_string()),
    }
}

pub(super) fn list(name: &str, out: &mut dyn FnMut(String) -> io::Result<()>) -> io::Result<()> {
    let mut games = 0;
    for (number, game) in (1..).zip(pgn::read_games(open(name)?)) {
        let (game, end) = game.map_err(|error| with_path(name, error))?;
        let fault = fault(&end).map_or(String::new(), |fault| format!(" ({fault})"));
        out(format!("{number:5} {}{fault}", headline(&game)))?;
        games = number;
    }
    if games == 0 { Err(with_path(name, "there is no game in it")) } else { Ok(()) }
}

pub(super) fn headline(game: &PgnGame) -> String {
    let tag = |name| game.tag(name).unwrap_or("?");
    let (white, black, result) = (tag("White"), tag("Black"), game.result.token());
    let moves = game.moves.len().div_ceil(2);
    let unit = if moves == 1 { "move" } else { "moves" };
    visible(&format!("{white} - {black} {result}, {moves} {unit}")).into_owned()
}

pub(super) fn load_position(name: &str, number: usize) -> io::Result<Position> {
    let text = std::fs::read_to_string(name).map_err(|error| with_path(name, error))?;
    let mut lines = epd::lines(&text);
    let (line, text) = lines
        .nth(number.saturating_sub(1))
        .ok_or_else(|| with_path(name, format!("there is no position {number} in it")))?;
    read_position(text).map_err(|error| with_path(name, format!("line {line}: {error}")))
}

/// Parses a position with its move counters, which are either the last two FEN fields or the EPD
/// operations `hmvc` and `fmvn`.
fn read_position(line: &str) -> Result<Position, ParseError> {
    let (position, rest) = epd::position(line)?;
    let operations = epd::operations(rest);
    let counter = |code| operations.iter().find(|(other, _)| *other == code);
    match (counter("hmvc"), counter("fmvn")) {
        (Some((_, clock)), Some((_, number))) => {
            Position::from_fen(&format!("{} {clock} {number}", position.epd()))
        }
        _ => Ok(position),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_names_with_spaces_must_be_quoted() {
        let split = |text| file_and_word(text).ok();
        assert_eq!(split("a.pgn"), Some(("a.pgn".to_owned(), None)));
        assert_eq!(split("\"a b\" 3"), Some(("a b".to_owned(), Some("3".to_owned()))));
        for text in ["", "\"\"", "\"a", "a b c"] {
            assert_eq!(split(text), None, "{text}");
        }
        assert!(file("a b").is_err());
    }
}
