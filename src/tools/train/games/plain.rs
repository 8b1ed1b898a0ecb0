//! The plain format of games, used while games are being played: about four bytes per position.
//!
//! The first line is text that contains the type of the file and the settings. The games follow in
//! numerical order. All numbers are little-endian:
//!
//! ```text
//! game    White's half points u8, opening plies u8, moves u16;
//!         if 128 is added to the half points: length of a FEN u8, and its bytes;
//!         opening: move u16 each; then for each move: move u16, score i16 (for White)
//! move    Polyglot's fifteen bits; the top bit marks a noisy position: the side to move is in
//!         check, or its best move is a capture or promotion
//! ```
//!
//! A game without a FEN begins at the standard starting position. A game depends only on the
//! settings and its number. An interrupted file can therefore be continued, and its bytes are the
//! same for any number of threads.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use super::{GameReader, PlayedGame, SearchedMove, WRITE};
use crate::chess::position::Move;
use crate::support::files::Kind;
use crate::support::files::{Cannot, FileError};
use crate::tools::train::GameSettings;

/// The text at the start of every file. The number is the format version.
pub(super) const MAGIC: &str = "tabia games 1; ";
const NOISY: u16 = 0x8000;

static KIND: Kind = Kind { magic: MAGIC, name: "the file of games" };

/// A flag in the byte that stores the result. It is set if a FEN follows the header of the game.
const STARTED: u8 = 0x80;

pub(super) fn size(game: &PlayedGame) -> u64 {
    let start = game.start.as_ref().map_or(0, |fen| 1 + fen.len());
    (4 + start + 2 * game.opening.len() + 4 * game.moves.len()) as u64
}

pub(super) fn encode(game: &PlayedGame) -> Vec<u8> {
    let mark = if game.start.is_some() { STARTED } else { 0 };
    let mut bytes = vec![game.half_points | mark, game.opening.len() as u8];
    bytes.extend((game.moves.len() as u16).to_le_bytes());
    if let Some(fen) = &game.start {
        bytes.push(fen.len() as u8);
        bytes.extend(fen.as_bytes());
    }
    for mv in &game.opening {
        bytes.extend(mv.to_polyglot().to_le_bytes());
    }
    for played in &game.moves {
        let mark = if played.noisy { NOISY } else { 0 };
        bytes.extend((played.mv.to_polyglot() | mark).to_le_bytes());
        bytes.extend(played.score.to_le_bytes());
    }
    bytes
}

/// Reads one game. Returns `None` if one of its moves cannot be decoded.
pub(super) fn decode(input: &mut impl Read) -> io::Result<Option<PlayedGame>> {
    let mut head = [0; 4];
    input.read_exact(&mut head)?;
    let [half_points, plies, moves @ ..] = head;
    let moves = u16::from_le_bytes(moves);
    let start = if half_points & STARTED == 0 { None } else { Some(decode_fen(input)?) };
    let mut word = [0; 2];
    let mut next = || input.read_exact(&mut word).map(|()| u16::from_le_bytes(word));
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
        let half_points = half_points & !STARTED;
        Some(PlayedGame { half_points, start, opening, moves: moves.collect::<Option<_>>()? })
    }))
}

/// Reads a FEN without validating it. The FEN is checked later, when the game is replayed.
fn decode_fen(input: &mut impl Read) -> io::Result<Box<str>> {
    let mut bytes = [0];
    input.read_exact(&mut bytes)?;
    let mut text = vec![0; usize::from(bytes[0])];
    input.read_exact(&mut text)?;
    Ok(String::from_utf8_lossy(&text).into())
}

/// A plain file that is open for appending games. Only one program can have it open at a time.
pub(crate) struct GameFile {
    path: PathBuf,
    file: File,
}

impl GameFile {
    /// Opens or creates a plain file for games played with `settings`, and returns it with the
    /// number of games that it contains. An incomplete game at the end of the file is removed.
    pub(crate) fn open(path: &Path, settings: &GameSettings) -> Result<(Self, usize), FileError> {
        let file = KIND.open(path, &settings.to_string());
        let game_file = GameFile {
            file: file.map_err(|error| FileError::new("use", path, error.fault))?,
            path: path.to_owned(),
        };
        let mut reader = GameReader::open(path)?;
        while reader.read_game()?.is_some() {}
        game_file.file.set_len(reader.whole_bytes()).cannot(WRITE, path)?;
        Ok((game_file, reader.games()))
    }

    pub(crate) fn append(&mut self, game: &PlayedGame) -> Result<(), FileError> {
        self.file.write_all(&encode(game)).cannot(WRITE, &self.path)
    }
}
