//! Converts castling moves in Polyglot books.

use crate::chess::position::{Move, Position, Square};

/// The castling moves. Each is stored as the king's square, the rook's square (which is the
/// destination of the king in Polyglot's notation), and the actual destination of the king.
pub(crate) const CASTLINGS: [(Square, Square, Square); 4] = [
    (Square::E1, Square::H1, Square::G1),
    (Square::E1, Square::A1, Square::C1),
    (Square::E8, Square::H8, Square::G8),
    (Square::E8, Square::A8, Square::C8),
];

pub(crate) fn castling(mv: Move) -> Option<Move> {
    let castling = CASTLINGS.iter().find(|(king, _, to)| (mv.from(), mv.to()) == (*king, *to));
    castling.map(|&(king, rook, _)| Move::new(king, rook))
}

/// Whether `other`, a move stored in the book, is the same move as `mv`. In Polyglot books,
/// castling is encoded as king takes rook. The import can convert this encoding only in positions
/// that it reaches from the start position, so the entries of other positions may still use it.
pub(crate) fn is_same(other: Move, mv: Move, position: &Position) -> bool {
    other == mv || position.is_castling(mv) && castling(mv) == Some(other)
}
