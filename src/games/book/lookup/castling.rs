//! Converts castling moves in Polyglot books.

use crate::chess::position::{Move, Position, Square};

/// The squares of the king and of the rook that it captures in Polyglot's notation, and the king's
/// real destination.
pub(crate) const CASTLINGS: [(Square, Square, Square); 4] = [
    (Square::E1, Square::H1, Square::G1),
    (Square::E1, Square::A1, Square::C1),
    (Square::E8, Square::H8, Square::G8),
    (Square::E8, Square::A8, Square::C8),
];

/// Returns Polyglot's notation for a castling move of the king.
pub(crate) fn castling(mv: Move) -> Option<Move> {
    let castling = CASTLINGS.iter().find(|(king, _, to)| (mv.from(), mv.to()) == (*king, *to));
    castling.map(|&(king, rook, _)| Move::new(king, rook))
}

/// Whether a move in the book stands for `mv`. If the book comes from Polyglot and the import could
/// not reach the position, castling is stored as the king capturing its rook.
pub(crate) fn is_same(other: Move, mv: Move, position: &Position) -> bool {
    other == mv || position.is_castling(mv) && castling(mv) == Some(other)
}
