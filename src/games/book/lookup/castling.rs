//! Castling as books of Polyglot write it.

use crate::chess::position::{Move, Position, Square};

/// Where the king and the rook that Polyglot lets him take stand, and where the king really goes.
pub(crate) const CASTLINGS: [(Square, Square, Square); 4] = [
    (Square::E1, Square::H1, Square::G1),
    (Square::E1, Square::A1, Square::C1),
    (Square::E8, Square::H8, Square::G8),
    (Square::E8, Square::A8, Square::C8),
];

/// Castling as Polyglot writes it, for the king's own move.
pub(crate) fn castling(mv: Move) -> Option<Move> {
    let castling = CASTLINGS.iter().find(|(king, _, to)| (mv.from(), mv.to()) == (*king, *to));
    castling.map(|&(king, rook, _)| Move::new(king, rook))
}

/// Whether a move of the book means `mv`. Castling may stand as the king taking his rook where the
/// book comes from Polyglot and the position was out of reach of the import.
pub(crate) fn is_same(other: Move, mv: Move, position: &Position) -> bool {
    other == mv || position.is_castling(mv) && castling(mv) == Some(other)
}
