//! Computes the squares attacked by the opponent: those attacked by any piece, and those attacked
//! by pieces of at most a given value.

use chess::{EMPTY, get_bishop_moves, get_king_moves, get_knight_moves, get_rook_moves};

use super::{BitBoard, Color, Piece, Position, Square};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Threats {
    pub(crate) all: BitBoard,
    by_pawns: BitBoard,
    by_minors: BitBoard,
    by_rooks: BitBoard,
}

impl Threats {
    /// Returns the squares on which a less valuable enemy piece would attack `piece`.
    #[inline]
    pub(crate) fn against(&self, piece: Piece) -> BitBoard {
        match piece {
            Piece::Pawn | Piece::King => EMPTY,
            Piece::Knight | Piece::Bishop => self.by_pawns,
            Piece::Rook => self.by_minors,
            Piece::Queen => self.by_rooks,
        }
    }

    #[inline]
    pub(crate) fn has(&self, square: Square) -> bool {
        self.all & BitBoard::from_square(square) != EMPTY
    }
}

impl Position {
    pub(crate) fn threats(&self) -> Threats {
        let (side, occupied) = (!self.side_to_move(), self.occupied());
        let by_pawns = pawn_attacks(side, self.pieces(side, Piece::Pawn));
        let mut by_minors = by_pawns;
        for square in self.pieces(side, Piece::Knight) {
            by_minors |= get_knight_moves(square);
        }
        for square in self.pieces(side, Piece::Bishop) {
            by_minors |= get_bishop_moves(square, occupied);
        }
        let mut by_rooks = by_minors;
        for square in self.pieces(side, Piece::Rook) {
            by_rooks |= get_rook_moves(square, occupied);
        }
        let mut all = by_rooks | get_king_moves(self.king(side));
        for square in self.pieces(side, Piece::Queen) {
            all |= get_bishop_moves(square, occupied) | get_rook_moves(square, occupied);
        }
        Threats { all, by_pawns, by_minors, by_rooks }
    }
}

pub(crate) const FILE_A: BitBoard = BitBoard(0x0101_0101_0101_0101);
pub(crate) const FILE_H: BitBoard = BitBoard(0x8080_8080_8080_8080);

/// Returns all squares that are one file to the left or right of a square in `set`.
#[inline]
pub(crate) fn sideways(set: BitBoard) -> BitBoard {
    BitBoard((set & !FILE_H).0 << 1 | (set & !FILE_A).0 >> 1)
}

fn pawn_attacks(side: Color, pawns: BitBoard) -> BitBoard {
    let (west, east) = ((pawns & !FILE_A).0, (pawns & !FILE_H).0);
    BitBoard(match side {
        Color::White => west << 7 | east << 9,
        Color::Black => west >> 9 | east >> 7,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threats_match_the_attackers_of_every_square() {
        for fen in [
            "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
            "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R b KQkq - 0 1",
            "8/P6p/8/k6K/8/8/p6P/8 w - - 0 1",
            "8/P6p/8/k6K/8/8/p6P/8 b - - 0 1",
        ] {
            let position = Position::from_fen(fen).expect(fen);
            let (threats, theirs) =
                (position.threats(), position.by_color(!position.side_to_move()));
            for square in chess::ALL_SQUARES {
                let attackers = position.attackers(square, position.occupied()) & theirs;
                assert_eq!(threats.has(square), attackers != EMPTY, "{fen}: {square}");
                let board = position.board();
                let among = |kinds: &[Piece]| {
                    kinds.iter().any(|&kind| attackers & board.pieces(kind) != EMPTY)
                };
                let danger =
                    |piece| threats.against(piece) & BitBoard::from_square(square) != EMPTY;
                let lesser = [Piece::Pawn, Piece::Knight, Piece::Bishop, Piece::Rook];
                assert_eq!(danger(Piece::Knight), among(&lesser[..1]));
                assert_eq!(danger(Piece::Rook), among(&lesser[..3]));
                assert_eq!(danger(Piece::Queen), among(&lesser));
            }
        }
    }
}
