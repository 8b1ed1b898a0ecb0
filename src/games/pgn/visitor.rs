//! The trait for types that receive the contents of games as they are read.

use std::ops::ControlFlow;

use super::language::Language;
use super::{Fault, GameEnd, Tags};
use crate::chess::position::{Move, Position, Replay};

/// Receives the games that a [`Reader`](super::Reader) finds.
pub trait Visitor {
    /// Returns true if [`Visitor::begin`] uses this tag. Reading is faster if fewer tags are used.
    /// The tags that the reader itself needs (`Result`, `FEN`, `Variant`) are always passed.
    fn wants_tag(&self, name: &[u8]) -> bool {
        let _ = name;
        true
    }
    /// Receives the tags of a game and its start position, before any moves. Return `Break` to skip
    /// the rest of the game.
    fn begin(&mut self, tags: &Tags, start: &Position) -> ControlFlow<()>;
    /// Receives a move of the main line: a legal move, or a null move ([`Move::NULL`]) by a side
    /// that is not in check. Return `Break` to skip the remaining moves of this game.
    fn played(&mut self, ply: &GamePly) -> ControlFlow<()>;
    /// Receives a comment on the previous move, or on the whole game if there is no previous move.
    /// Consecutive comments are passed one by one.
    fn comment(&mut self, text: &[u8]) {
        let _ = text;
    }
    /// Receives a numeric annotation glyph (NAG) that follows the previous move.
    fn nag(&mut self, nag: u8) {
        let _ = nag;
    }
    /// Receives a variation that replaces the previous move. It is passed as raw movetext, and its
    /// moves have not been validated.
    fn variation(&mut self, movetext: &VariationText<'_>) {
        let _ = movetext;
    }
    /// Receives the movetext from the first error in the main line to the end of the game, without
    /// the result. No moves are passed after this call.
    fn unread(&mut self, fault: &Fault, movetext: &VariationText<'_>) {
        let _ = (fault, movetext);
    }
    /// Finishes a game that [`Visitor::begin`] accepted.
    fn end(&mut self, end: &GameEnd);
}

/// A move in a game, and data about the position after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GamePly {
    /// The move. It is either legal or a null move.
    pub mv: Move,
    /// The key of the position after the move (see [`Position::key`]).
    pub key: u64,
    /// The pawn key of the position after the move.
    pub pawn_key: u64,
    /// The halfmove clock after the move: the number of plies since the last capture or pawn move,
    /// including this move.
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

/// The movetext of a variation, without its parentheses, or the movetext from an error to the end
/// of its variation or game.
#[derive(Debug, Clone, Copy)]
pub struct VariationText<'a> {
    pub(super) text: &'a [u8],
    pub(super) language: Language,
    /// The nesting depth of the line in which the text occurs; 0 for the main line.
    pub(super) depth: usize,
}
