//! Self-play game files, in a plain format during play and in a packed format for storage.
//!
//! | file | bytes per position | written by |
//! | --- | --- | --- |
//! | plain ([`plain`]) | a little over four | `tabia train games`, one game at a time |
//! | packed ([`packed`]) | less than two | `tabia train pack`, `tabia train relabel`, in blocks |
//!
//! A [`GameReader`] reads both formats. The first line is text that contains the type of the file
//! and the settings of its games. When a plain file is resumed, an incomplete game at its end is
//! removed.
//!
//! A block is unpacked by running the same model that packed it, so the behaviour of the model is
//! part of the format. The model uses only integers, moves are ordered by their Polyglot encoding,
//! and a test compares the bytes. A better model would require a new version of the format. If the
//! model were a network, the format would depend on the weights.

mod coder;
mod model;
mod packed;
mod plain;
mod policy;
mod reader;

#[cfg(test)]
mod tests;

use std::path::Path;

use crate::chess::position::{Move, Position};
use crate::support::files::FileError;

pub(crate) use packed::{PackedFile, PackedPart, Packer, block_positions};
pub(crate) use plain::GameFile;
pub(crate) use reader::{Block, GameReader};

/// The verb used in error messages about reading, as in "cannot read …".
const READ: &str = "read";
const WRITE: &str = "write";
const LONGEST_HEADLINE: u64 = 1000;

/// A move in a game, with the result of the search that selected it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SearchedMove {
    pub mv: Move,
    /// The score found by the search, in centipawns, from White's point of view.
    pub score: i16,
    /// Whether the position before the move is unsuitable for training a static evaluation, because
    /// the side to move is in check or the move is a capture or promotion.
    pub noisy: bool,
}

/// Returns true if a position with this best move is noisy (see [`SearchedMove::noisy`]).
pub(crate) fn is_noisy(position: &Position, best: Move) -> bool {
    position.in_check() || position.is_noisy(best)
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct PlayedGame {
    /// White's result, in half points: 0, 1 or 2.
    pub half_points: u8,
    /// The FEN of the starting position, or `None` for the standard starting position.
    pub start: Option<Box<str>>,
    /// The moves at the beginning of the game, which were chosen at random.
    pub opening: Vec<Move>,
    /// The moves after the opening, which the engine chose by searching.
    pub moves: Vec<SearchedMove>,
}

fn foreign(path: &Path) -> FileError {
    let reason = "it is not a file of self-play games; `tabia train games` makes one";
    FileError::new(READ, path, reason)
}

pub(crate) fn game_fault(path: &Path, game: usize, what: &str) -> FileError {
    FileError::new(READ, path, format!("game {game}: {what}"))
}

impl PlayedGame {
    /// Returns White's result: 1.0, 0.5 or 0.0.
    pub(crate) fn result(&self) -> f32 {
        f32::from(self.half_points) / 2.0
    }

    pub(crate) fn start(&self) -> Option<Position> {
        self.start
            .as_ref()
            .map_or_else(|| Some(Position::start()), |fen| Position::from_fen(fen).ok())
    }

    /// Calls `visit` for each move that the engine chose, with the position before the move. Stops
    /// and returns `false` if the starting position is invalid or a move is illegal.
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
