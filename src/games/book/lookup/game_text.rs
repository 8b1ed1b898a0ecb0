//! The text of a book's games, out of the files that it was built from.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::Book;
use crate::games::book::facets::{FileRecord, GameId, GameRow, Games};
use crate::games::book::format::error::BookError;
use crate::games::book::format::manifest::InputRecord;
use crate::games::pgn::{PgnInput, text};
use crate::support::files::describe;

/// Why a game cannot be shown.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum GameError {
    /// No game of the book has this id.
    #[error("{book} has no game {id}")]
    Unknown {
        /// What was asked for.
        id: GameId,
        /// The book.
        book: String,
    },
    /// The games came from where nothing can be read again.
    #[error("game {id} came from {origin}, which is not kept")]
    NotKept {
        /// What was asked for.
        id: GameId,
        /// Where it came from.
        origin: String,
    },
    /// The file of the game is not there.
    #[error("game {id} was in {path}, which is not there any more")]
    Gone {
        /// What was asked for.
        id: GameId,
        /// The file as it was given when the book was built.
        path: String,
    },
    /// There is something else where the game stood.
    #[error(
        "game {id} is not where it was in {path}: the file has changed since the book was built"
    )]
    Changed {
        /// What was asked for.
        id: GameId,
        /// The file.
        path: String,
    },
    /// The file of the game cannot be read.
    #[error("game {id}: cannot read {path}: {reason}")]
    Unreadable {
        /// What was asked for.
        id: GameId,
        /// The file.
        path: String,
        /// Why not.
        reason: String,
    },
}

impl Book {
    /// The PGN text of a game of the book, or of those behind it, as it stands in its file. That is
    /// looked for where it was when the book was built, then beside the book.
    ///
    /// In a compressed file all that comes before the game must be unpacked first.
    ///
    /// # Errors
    /// If there is no such game, or its file is gone or has changed.
    pub fn game(&self, id: GameId) -> Result<String, GameError> {
        self.game_from(id, &[])
    }

    /// As [`Book::game`], with more folders in which its file may be.
    ///
    /// # Errors
    /// As [`Book::game`].
    pub fn game_from(&self, id: GameId, folders: &[PathBuf]) -> Result<String, GameError> {
        let found = self.in_order().find_map(|book| {
            let games = Games::parse(book.image.facets()?.games)?;
            let row = games.row(games.find(id)?)?;
            let file = games.files()?.into_iter().nth(row.file as usize)?;
            Some(read_game(id, &row, &file, &book.places(&file, folders)))
        });
        let unknown = || Err(GameError::Unknown { id, book: self.name().to_owned() });
        found.unwrap_or_else(unknown)
    }

    /// Where a file of its games may be, the likeliest place first: where it was when the book was built,
    /// then in one of these folders, then beside the book.
    pub(crate) fn places(&self, file: &FileRecord, folders: &[PathBuf]) -> Vec<PathBuf> {
        let before = Some(PathBuf::from(&file.absolute)).filter(|_| !file.absolute.is_empty());
        let beside = Path::new(self.name()).parent().map(Path::to_owned);
        let name = Path::new(&file.path).file_name();
        let folders = folders.iter().cloned().chain(beside);
        before.into_iter().chain(folders.filter_map(|folder| Some(folder.join(name?)))).collect()
    }

    /// The files that its games were read from, as they were then. A book without facets has their
    /// names alone.
    pub(crate) fn sources(&self) -> Result<Vec<FileRecord>, BookError> {
        let files = self.game_files();
        if !files.is_empty() {
            return Ok(files);
        }
        let named = |input: InputRecord| FileRecord { path: input.name, ..FileRecord::default() };
        Ok(self.manifest()?.inputs.into_iter().map(named).collect())
    }

    /// The files that its games were read from, as they were then; none in a book without facets.
    pub fn game_files(&self) -> Vec<FileRecord> {
        let games = self.image.facets().and_then(|raw| Games::parse(raw.games));
        games.and_then(|games| games.files()).unwrap_or_default()
    }
}

/// Reads a game from the first of these places that has it.
fn read_game(
    id: GameId,
    row: &GameRow,
    file: &FileRecord,
    places: &[PathBuf],
) -> Result<String, GameError> {
    if file.absolute.is_empty() {
        return Err(GameError::NotKept { id, origin: file.path.clone() });
    }
    let mut fault = GameError::Gone { id, path: file.path.clone() };
    for place in places {
        let path = place.display().to_string();
        match PgnInput::File(place.clone()).read_at(row.offset, row.length.into()) {
            Ok(bytes) if row.is_text(&bytes) => return Ok(text(&bytes).into_owned()),
            Ok(_) => fault = GameError::Changed { id, path },
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => {
                fault = GameError::Unreadable { id, path, reason: describe(&error) };
            }
        }
    }
    Err(fault)
}
