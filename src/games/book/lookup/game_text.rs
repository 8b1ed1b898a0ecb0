//! Reads the text of a book's games from the PGN files from which the book was built.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::Book;
use crate::games::book::facets::{FileRecord, GameId, GameRow, Games};
use crate::games::book::format::error::BookError;
use crate::games::book::format::manifest::InputRecord;
use crate::games::pgn::{PgnInput, text};
use crate::support::files::describe;

/// Reasons why a game cannot be shown.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum GameError {
    /// No game in the book has this id.
    #[error("cannot show game {id}: it is not in {book}")]
    Unknown {
        /// The id of the requested game.
        id: GameId,
        /// The name of the book.
        book: String,
    },
    /// The game was read from a source that is not a file, such as standard input, so its text
    /// cannot be read again.
    #[error("cannot show game {id}: it was read from {origin}, which is not stored")]
    NotKept {
        /// The id of the requested game.
        id: GameId,
        /// A description of the source.
        origin: String,
    },
    /// The file that contains the game is missing.
    #[error("cannot show game {id}: {path} no longer exists")]
    Gone {
        /// The id of the requested game.
        id: GameId,
        /// The absolute path of the file when the book was built.
        path: String,
    },
    /// The file no longer contains the text of the game at the recorded location.
    #[error("cannot show game {id}: {path} has changed since the book was built")]
    Changed {
        /// The id of the requested game.
        id: GameId,
        /// The path of the file.
        path: String,
    },
    /// The file that contains the game exists but cannot be read.
    #[error("cannot show game {id}: cannot read {path}: {reason}")]
    Unreadable {
        /// The id of the requested game.
        id: GameId,
        /// The path of the file.
        path: String,
        /// The cause of the error.
        reason: String,
    },
}

impl Book {
    /// Returns the PGN text of a game in this book or in a book chained after it, exactly as in the
    /// original file. Looks for the file at its original path, and then next to the book. If the
    /// file is compressed, everything before the game must be decompressed.
    ///
    /// # Errors
    /// If there is no such game, or if its file is missing, unreadable or changed.
    pub fn game(&self, id: GameId) -> Result<String, GameError> {
        self.game_from(id, &[])
    }

    /// Like [`Book::game`], but also looks for the game's file in additional folders.
    ///
    /// # Errors
    /// See [`Book::game`].
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

    /// Returns the paths where a PGN file may be found, most likely first: its path when the book
    /// was built, then its file name in each of `folders` and in the folder of the book.
    pub(crate) fn places(&self, file: &FileRecord, folders: &[PathBuf]) -> Vec<PathBuf> {
        let before = Some(PathBuf::from(&file.absolute)).filter(|_| !file.absolute.is_empty());
        let beside = Path::new(self.name()).parent().map(Path::to_owned);
        let name = Path::new(&file.path).file_name();
        let folders = folders.iter().cloned().chain(beside);
        before.into_iter().chain(folders.filter_map(|folder| Some(folder.join(name?)))).collect()
    }

    /// Returns the files that contain the games. If the book has no facets, the list comes from the
    /// manifest and contains only the file names.
    pub(crate) fn sources(&self) -> Result<Vec<FileRecord>, BookError> {
        let files = self.game_files();
        if !files.is_empty() {
            return Ok(files);
        }
        let named = |input: InputRecord| FileRecord { path: input.name, ..FileRecord::default() };
        Ok(self.manifest()?.inputs.into_iter().map(named).collect())
    }

    /// Returns the files that contain the games, or an empty list if the book has no facets.
    pub fn game_files(&self) -> Vec<FileRecord> {
        let games = self.image.facets().and_then(|raw| Games::parse(raw.games));
        games.and_then(|games| games.files()).unwrap_or_default()
    }
}

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
