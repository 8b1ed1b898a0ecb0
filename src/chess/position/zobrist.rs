//! Computes the Zobrist key of a board, and partial keys for pawns and for each side's other
//! pieces.
//!
//! Source: A. Zobrist, "A New Hashing Method with Application for Game Playing" (1970). The
//! constants come from Polyglot, and so does the en passant rule of
//! [`super::Position::polyglot_key`].

use chess::{Board, Color, File, Piece, Square};

use super::polyglot_constants::{CASTLING, EN_PASSANT, PIECE_SQUARE, WHITE_TO_MOVE};

#[inline]
pub(super) fn piece_square(color: Color, piece: Piece, square: Square) -> u64 {
    let kind = 2 * piece.to_index() + (color == Color::White) as usize;
    PIECE_SQUARE[kind][square.to_index()]
}

#[inline]
pub(super) fn turn() -> u64 {
    WHITE_TO_MOVE
}

/// The XOR of the castling keys for each set of castling rights. In the index, bit 0 is White
/// kingside, bit 1 White queenside, bit 2 Black kingside, and bit 3 Black queenside.
const CASTLING_STATE: [u64; 16] = {
    let mut table = [0; 16];
    let mut index = 0;
    while index < table.len() {
        let mut right = 0;
        while right < CASTLING.len() {
            if index >> right & 1 == 1 {
                table[index] ^= CASTLING[right];
            }
            right += 1;
        }
        index += 1;
    }
    table
};

#[inline]
pub(super) fn state(board: &Board, en_passant: Option<Square>) -> u64 {
    let white = board.castle_rights(Color::White).to_index();
    let black = board.castle_rights(Color::Black).to_index();
    state_of((white | black << 2) as u8, en_passant.map(|square| square.get_file()))
}

/// Like [`state`], but takes the castling rights as an index into [`CASTLING_STATE`], and the en
/// passant file.
#[inline]
pub(super) fn state_of(castling: u8, en_passant: Option<File>) -> u64 {
    let castling = CASTLING_STATE[usize::from(castling & 15)];
    match en_passant {
        Some(file) => castling ^ EN_PASSANT[file.to_index()],
        None => castling,
    }
}

pub(super) fn key(board: &Board, en_passant: Option<Square>) -> u64 {
    let pieces =
        pawn_key(board) ^ non_pawn_key(board, Color::White) ^ non_pawn_key(board, Color::Black);
    let turn = if board.side_to_move() == Color::White { WHITE_TO_MOVE } else { 0 };
    pieces ^ turn ^ state(board, en_passant)
}

pub(super) fn pawn_key(board: &Board) -> u64 {
    key_of(board, |piece, _| piece == Piece::Pawn)
}

pub(super) fn non_pawn_key(board: &Board, side: Color) -> u64 {
    key_of(board, |piece, color| piece != Piece::Pawn && color == side)
}

fn key_of(board: &Board, wanted: impl Fn(Piece, Color) -> bool) -> u64 {
    let mut key = 0;
    for square in *board.combined() {
        if let (Some(piece), Some(color)) = (board.piece_on(square), board.color_on(square))
            && wanted(piece, color)
        {
            key ^= piece_square(color, piece, square);
        }
    }
    key
}

#[cfg(test)]
mod tests {
    use shakmaty::zobrist::{Zobrist64, ZobristValue};

    use super::*;

    #[test]
    fn constants_match_shakmaty() {
        for (piece, role) in chess::ALL_PIECES.into_iter().zip(shakmaty::Role::ALL) {
            for (square, other) in chess::ALL_SQUARES.into_iter().zip(shakmaty::Square::ALL) {
                for (color, piece_of) in
                    [(Color::White, shakmaty::Color::White), (Color::Black, shakmaty::Color::Black)]
                {
                    let expected = Zobrist64::zobrist_for_piece(other, role.of(piece_of));
                    assert_eq!(piece_square(color, piece, square), expected.0);
                }
            }
        }
        for (file, constant) in shakmaty::File::ALL.into_iter().zip(EN_PASSANT) {
            assert_eq!(constant, Zobrist64::zobrist_for_en_passant_file(file).0);
        }
        assert_eq!(WHITE_TO_MOVE, Zobrist64::zobrist_for_white_turn().0);
    }
}
