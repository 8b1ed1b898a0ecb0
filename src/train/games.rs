//! Files of self-play games: some four bytes a position, and the settings that the games came of.
//!
//! The first line is text: what the file is, and the settings. Then come the games, in the order of
//! their numbers; all their numbers are little-endian:
//!
//! ```text
//! game    White's half-points u8, opening plies u8, moves u16,
//!         opening: move u16 each; then for each move: move u16, score i16 (for White)
//! move    Polyglot's fifteen bits; the top bit marks a noisy position: in check, or its best
//!         move a capture or promotion
//! ```
//!
//! Every game begins at the start position of chess. A game follows from the settings and its own
//! number alone, so an interrupted file can be continued, and any number of threads gives the same
//! bytes.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Seek, Write};
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::GameSettings;
use crate::position::{Move, Position};

/// How every file of games begins; the number is the version of the format.
const MAGIC: &str = "tabia games 1; ";
/// Longer first lines are none of ours.
const LONGEST_HEADLINE: u64 = 1000;
const NOISY: u16 = 0x8000;

/// A move of a game and what the search that chose it said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SearchedMove {
    /// The move.
    pub mv: Move,
    /// The search's score in centipawns for White.
    pub score: i16,
    /// Whether the position before the move is one that no static evaluation can judge: its side
    /// to move is in check, or the move captures or promotes.
    pub noisy: bool,
}

/// A game of the engine against itself.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct PlayedGame {
    /// What White got, in half-points: 0, 1 or 2.
    pub half_points: u8,
    /// The random moves at its beginning.
    pub opening: Vec<Move>,
    /// The moves the engine chose.
    pub moves: Vec<SearchedMove>,
}

/// Why a file of games cannot be used.
#[derive(Debug, Error)]
pub(crate) enum GameError {
    /// The file cannot be opened, read or written.
    #[error("cannot use {}: {error}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// The file is something else.
    #[error("{} is no file of self-play games; `tabia train games` makes one", .0.display())]
    Foreign(PathBuf),
    /// The file was begun with other settings.
    #[error("{} was begun with {found}, not with {wanted}; name another file", path.display())]
    Settings {
        /// The file.
        path: PathBuf,
        /// The settings in the file.
        found: String,
        /// The settings asked for.
        wanted: String,
    },
    /// A game is damaged.
    #[error("{}, game {game}: {what}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The game, counted from 1.
        game: usize,
        /// What is wrong with it.
        what: &'static str,
    },
}

impl PlayedGame {
    /// What White got: 1.0, 0.5 or 0.0.
    pub(crate) fn result(&self) -> f32 {
        f32::from(self.half_points) / 2.0
    }

    /// Calls `visit` for each position in which the engine chose a move, with the move.
    /// Returns false if a move is illegal; the positions before it have been visited.
    pub(crate) fn replay(&self, mut visit: impl FnMut(&Position, &SearchedMove)) -> bool {
        let mut position = Position::start();
        for &mv in &self.opening {
            if !position.is_legal(mv) {
                return false;
            }
            position = position.play(mv);
        }
        for played in &self.moves {
            if !position.is_legal(played.mv) {
                return false;
            }
            visit(&position, played);
            position = position.play(played.mv);
        }
        true
    }

    /// Bytes in a file.
    fn size(&self) -> u64 {
        (4 + 2 * self.opening.len() + 4 * self.moves.len()) as u64
    }

    fn encode(&self) -> Vec<u8> {
        let mut bytes = vec![self.half_points, self.opening.len() as u8];
        bytes.extend((self.moves.len() as u16).to_le_bytes());
        for mv in &self.opening {
            bytes.extend(mv.to_polyglot().to_le_bytes());
        }
        for played in &self.moves {
            let mark = if played.noisy { NOISY } else { 0 };
            bytes.extend((played.mv.to_polyglot() | mark).to_le_bytes());
            bytes.extend(played.score.to_le_bytes());
        }
        bytes
    }
}

/// The first line of a file, which tells what its games follow from.
fn headline(settings: &GameSettings) -> String {
    format!("{MAGIC}{settings}\n")
}

/// Reads a file of games, game by game.
pub(crate) struct GameReader {
    path: PathBuf,
    input: BufReader<File>,
    settings: String,
    /// Games read so far.
    games: usize,
    /// Bytes up to the end of the last whole game.
    whole_bytes: u64,
}

impl GameReader {
    /// Opens a file of games.
    ///
    /// # Errors
    /// If it cannot be read or is something else.
    pub(crate) fn open(path: &Path) -> Result<Self, GameError> {
        let io_error = |error| GameError::Io { path: path.to_owned(), error };
        let mut input = BufReader::new(File::open(path).map_err(io_error)?);
        let mut line = Vec::new();
        (&mut input).take(LONGEST_HEADLINE).read_until(b'\n', &mut line).map_err(io_error)?;
        let whole_bytes = line.len() as u64;
        let settings = String::from_utf8(line)
            .ok()
            .and_then(|line| Some(line.strip_prefix(MAGIC)?.strip_suffix('\n')?.to_owned()))
            .ok_or_else(|| GameError::Foreign(path.to_owned()))?;
        Ok(GameReader { path: path.to_owned(), input, settings, games: 0, whole_bytes })
    }

    /// The next game; `None` at the end of the file, also where a game at the end is torn, as
    /// after a loss of power.
    ///
    /// # Errors
    /// If the file cannot be read, or holds a word that is no move.
    pub(crate) fn read_game(&mut self) -> Result<Option<PlayedGame>, GameError> {
        match self.decode() {
            Ok(Some(game)) => {
                self.games += 1;
                self.whole_bytes += game.size();
                Ok(Some(game))
            }
            Ok(None) => Err(GameError::Damaged {
                path: self.path.clone(),
                game: self.games + 1,
                what: "a word is no move",
            }),
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(None),
            Err(error) => Err(GameError::Io { path: self.path.clone(), error }),
        }
    }

    /// What the games were played with, in words.
    pub(crate) fn settings(&self) -> &str {
        &self.settings
    }

    /// The number of the game read last, counted from 1.
    pub(crate) fn games(&self) -> usize {
        self.games
    }

    /// One game; `None` if a word in it is no move.
    fn decode(&mut self) -> io::Result<Option<PlayedGame>> {
        let mut word = [0; 2];
        let mut next = || self.input.read_exact(&mut word).map(|()| u16::from_le_bytes(word));
        let [half_points, plies] = next()?.to_le_bytes();
        let moves = next()?;
        let mut words = Vec::with_capacity(usize::from(plies) + 2 * usize::from(moves));
        for _ in 0..words.capacity() {
            words.push(next()?);
        }
        let (opening, rest) = words.split_at(plies.into());
        let opening: Option<Vec<Move>> =
            opening.iter().map(|&word| Move::from_polyglot(word)).collect();
        let moves = rest.chunks_exact(2).map(|pair| {
            Some(SearchedMove {
                mv: Move::from_polyglot(pair[0] & !NOISY)?,
                score: pair[1] as i16,
                noisy: pair[0] & NOISY != 0,
            })
        });
        Ok(opening.and_then(|opening| {
            Some(PlayedGame { half_points, opening, moves: moves.collect::<Option<_>>()? })
        }))
    }
}

/// A file that games are appended to.
pub(crate) struct GameFile {
    path: PathBuf,
    file: File,
}

impl GameFile {
    /// Opens `path` to append games played with `settings`; tells how many it holds already. A
    /// torn game at its end is cut off.
    ///
    /// # Errors
    /// If the file cannot be read or written, is something else, or has other settings.
    pub(crate) fn open(path: &Path, settings: &GameSettings) -> Result<(Self, usize), GameError> {
        let io_error = |error| GameError::Io { path: path.to_owned(), error };
        if !path.exists() {
            let mut file = File::create_new(path).map_err(io_error)?;
            file.write_all(headline(settings).as_bytes()).map_err(io_error)?;
            return Ok((GameFile { path: path.to_owned(), file }, 0));
        }
        let mut reader = GameReader::open(path)?;
        let wanted = settings.to_string();
        if reader.settings != wanted {
            let found = reader.settings;
            return Err(GameError::Settings { path: path.to_owned(), found, wanted });
        }
        while reader.read_game()?.is_some() {}
        let mut file = OpenOptions::new().append(true).open(path).map_err(io_error)?;
        file.set_len(reader.whole_bytes).map_err(io_error)?;
        file.seek(io::SeekFrom::End(0)).map_err(io_error)?;
        Ok((GameFile { path: path.to_owned(), file }, reader.games))
    }

    /// Appends a game.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(crate) fn append(&mut self, game: &PlayedGame) -> Result<(), GameError> {
        self.file
            .write_all(&game.encode())
            .map_err(|error| GameError::Io { path: self.path.clone(), error })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::train::SelfPlay;

    fn settings() -> GameSettings {
        GameSettings { nodes: 40, ..GameSettings::default() }
    }

    fn games(count: u64) -> Vec<PlayedGame> {
        let mut player = SelfPlay::new(settings());
        (0..count).map(|number| player.play(number)).collect()
    }

    fn read(path: &Path) -> Vec<PlayedGame> {
        let mut reader = GameReader::open(path).expect("a file of games");
        std::iter::from_fn(|| reader.read_game().expect("whole games")).collect()
    }

    #[test]
    fn games_survive_their_file_in_four_bytes_a_position() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("a.games");
        let games = games(3);
        let (mut file, held) = GameFile::open(&path, &settings()).expect("a new file");
        assert_eq!(held, 0);
        games.iter().for_each(|game| file.append(game).expect("written"));
        assert_eq!(read(&path), games);
        let positions: usize = games.iter().map(|game| game.moves.len()).sum();
        let bytes = path.metadata().expect("a file").len() as usize;
        assert!(bytes < 4 * positions + 3 * 40 + 200, "{bytes} for {positions}");
    }

    #[test]
    fn a_torn_file_is_continued_with_nothing_lost_or_doubled() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("a.games");
        let games = games(3);
        let (mut file, _) = GameFile::open(&path, &settings()).expect("a new file");
        file.append(&games[0]).expect("written");
        let torn = &games[1].encode()[..31];
        file.file.write_all(torn).expect("written");
        let (mut file, held) = GameFile::open(&path, &settings()).expect("a torn file");
        assert_eq!(held, 1);
        games[1..].iter().for_each(|game| file.append(game).expect("written"));
        assert_eq!(read(&path), games);
    }

    #[test]
    fn foreign_damaged_and_other_files_are_told_apart() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("a.games");
        std::fs::write(&path, "[Event \"?\"]\n").expect("written");
        assert!(matches!(GameReader::open(&path), Err(GameError::Foreign(_))));
        let mut bytes = headline(&settings()).into_bytes();
        bytes.extend([1, 1, 0, 0, 0, 0x70]); // a promotion to nothing
        std::fs::write(&path, bytes).expect("written");
        let error = GameReader::open(&path).expect("a file").read_game().expect_err("damaged");
        assert!(error.to_string().ends_with("a.games, game 1: a word is no move"), "{error}");
        let other = GameSettings { nodes: 41, ..settings() };
        assert!(matches!(GameFile::open(&path, &other), Err(GameError::Settings { .. })));
    }
}
