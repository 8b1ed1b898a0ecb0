//! Files of self-play games: plain while they are played, packed for storage.
//!
//! | file | bytes a position | written by |
//! | --- | --- | --- |
//! | plain ([`plain`]) | a little over four | `tabia train games`, game by game as they end |
//! | packed ([`packed`]) | less than two | `tabia train pack`, `tabia train relabel`, in blocks |
//!
//! A [`GameReader`] reads both. The first line is text: the kind of file and the settings of its
//! games. A torn plain game at the end of a file is cut off.
//!
//! A block is unpacked by running the model that packed it, so the behaviour of the model is part
//! of the format. It uses integers only, moves are ordered by Polyglot's move numbers, and a test
//! compares the bytes. Model code is generic over the `Coder` and written once for both directions.
//! A better predictor requires a new version of the format. A network as predictor would make the
//! format depend on its weights.

mod coder;
mod model;
mod packed;
mod plain;
mod policy;
mod reader;

#[cfg(test)]
mod tests;

use std::io;
use std::path::PathBuf;

use thiserror::Error;

use crate::chess::position::{Move, Position};
use crate::support::error::ParseError;
use crate::support::files::JournalError;

pub(crate) use packed::{PackedFile, PackedPart, Packer, block_positions};
pub(crate) use plain::GameFile;
pub(crate) use reader::{Block, GameReader};

/// Maximum length of a first line, in bytes.
const LONGEST_HEADLINE: u64 = 1000;

/// A move of a game, with the result of the search that chose it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SearchedMove {
    pub mv: Move,
    /// The search's score in centipawns for White.
    pub score: i16,
    /// Whether static evaluation cannot judge the position before the move: the side to move is in
    /// check, or the move captures or promotes.
    pub noisy: bool,
}

/// Whether static evaluation cannot judge a position with this best move, see
/// [`SearchedMove::noisy`].
pub(crate) fn is_noisy(position: &Position, best: Move) -> bool {
    position.in_check() || position.is_noisy(best)
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct PlayedGame {
    /// White's result in half-points: 0, 1 or 2.
    pub half_points: u8,
    /// The FEN of the starting position; `None` for the standard one.
    pub start: Option<Box<str>>,
    /// The random moves at its beginning.
    pub opening: Vec<Move>,
    /// The moves chosen by the engine.
    pub moves: Vec<SearchedMove>,
}

#[derive(Debug, Error)]
pub(crate) enum GameError {
    #[error("cannot use {}: {error}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        error: io::Error,
    },
    #[error(transparent)]
    Journal(#[from] JournalError),
    #[error("{0}")]
    Threads(io::Error),
    #[error(
        "cannot read {}: it is not a file of self-play games; `tabia train games` makes one",
        .0.display()
    )]
    Foreign(PathBuf),
    #[error(
        "cannot add games to {}: it was begun with {found}, not with {wanted}; choose another file",
        path.display()
    )]
    Settings {
        /// The file.
        path: PathBuf,
        found: String,
        /// The requested settings.
        wanted: String,
    },
    #[error("cannot read {}: line {line}: {error}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// The number of the line, from 1.
        line: usize,
        error: ParseError,
    },
    #[error("cannot read {}: game {game}: {what}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The number of the game, from 1.
        game: usize,
        what: &'static str,
    },
}

impl PlayedGame {
    /// White's result: 1.0, 0.5 or 0.0.
    pub(crate) fn result(&self) -> f32 {
        f32::from(self.half_points) / 2.0
    }

    /// The starting position; `None` if the FEN is invalid.
    pub(crate) fn start(&self) -> Option<Position> {
        self.start
            .as_ref()
            .map_or_else(|| Some(Position::start()), |fen| Position::from_fen(fen).ok())
    }

    /// Calls `visit` for each position in which the engine chose a move, with the move. Returns
    /// false if the start is invalid or a move is illegal; the positions before it have been
    /// visited.
    pub(crate) fn replay(&self, mut visit: impl FnMut(&Position, &SearchedMove)) -> bool {
        let Some(mut position) = self.start() else { return false };
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
}
