//! Who is shown games as they are read.

use std::ops::ControlFlow;

use super::{GameEnd, Tags};
use crate::chess::position::{Move, Position, Replay};

/// What is done with the games that a [`Reader`](super::Reader) finds.
pub trait Visitor {
    /// Whether [`Visitor::begin`] looks at this tag. It gets those that the reader itself needs
    /// (`Result`, `FEN`, `Variant`) in any case; fewer of them are faster.
    fn wants_tag(&self, name: &[u8]) -> bool {
        let _ = name;
        true
    }
    /// A game begins at `start`. `Break` declines it: nothing else of it is handed over.
    fn begin(&mut self, tags: &Tags, start: &Position) -> ControlFlow<()>;
    /// A legal move of the main line, or a null move ([`Move::NULL`]) out of check. `Break`: no more
    /// moves of this game are wanted.
    fn played(&mut self, ply: &GamePly) -> ControlFlow<()>;
    /// A comment (or a part of a long one) on the move before.
    fn comment(&mut self, text: &[u8]) {
        let _ = text;
    }
    /// A numeric annotation glyph on the move before.
    fn nag(&mut self, nag: u8) {
        let _ = nag;
    }
    /// A variation in place of the move before: its movetext without the parentheses, as it stands
    /// in the file. Its moves have not been looked at.
    fn variation(&mut self, text: &[u8]) {
        let _ = text;
    }
    /// The game that [`Visitor::begin`] accepted is over, one way or another.
    fn end(&mut self, end: &GameEnd);
}

/// A move of a game and the position that it led to, as far as counting needs it: whoever wants the
/// whole position plays the move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GamePly {
    /// The move, which is legal, or a null move.
    pub mv: Move,
    /// The key of the position after it, see [`Position::key`].
    pub key: u64,
    /// The key of its pawns.
    pub pawn_key: u64,
    /// Plies since the last capture or pawn move, this one included.
    pub halfmove_clock: u16,
}

impl GamePly {
    #[inline]
    pub(super) fn new(mv: Move, after: &Replay) -> Self {
        let (key, pawn_key, halfmove_clock) =
            (after.key(), after.pawn_key(), after.halfmove_clock());
        GamePly { mv, key, pawn_key, halfmove_clock }
    }
}
