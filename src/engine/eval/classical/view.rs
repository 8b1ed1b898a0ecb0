//! The position as seen by one side, whose pawns move up the board, and the squares attacked by
//! each side.
//!
//! Terms use this view and never a colour, so the evaluation is symmetric by construction.

use chess::{EMPTY, get_bishop_moves, get_king_moves, get_knight_moves, get_rook_moves};

use super::bitboards::*;
use crate::chess::position::{BitBoard, Color, Piece, Position, Square};

#[derive(Clone, Copy)]
pub(in crate::engine::eval) struct Pieces {
    pub pawns: BitBoard,
    pub knights: BitBoard,
    pub bishops: BitBoard,
    pub rooks: BitBoard,
    pub queens: BitBoard,
    pub king: Square,
    pub all: BitBoard,
}

impl Pieces {
    fn new(position: &Position, color: Color, viewer: Color) -> Self {
        let ours = position.by_color(color);
        let board = position.board();
        let of = |piece| turned(*board.pieces(piece) & ours, viewer);
        let pawns = of(Piece::Pawn);
        Pieces {
            pawns,
            knights: of(Piece::Knight),
            bishops: of(Piece::Bishop),
            rooks: of(Piece::Rook),
            queens: of(Piece::Queen),
            king: turned_square(position.king(color), viewer),
            all: turned(ours, viewer),
        }
    }

    /// Returns the pawns, knights, bishops, rooks and queens, in this order.
    pub(crate) fn kinds(&self) -> [BitBoard; 5] {
        [self.pawns, self.knights, self.bishops, self.rooks, self.queens]
    }

    pub(crate) fn pieces(&self) -> BitBoard {
        self.knights | self.bishops | self.rooks | self.queens
    }
}

pub(in crate::engine::eval) struct View {
    pub us: Pieces,
    pub them: Pieces,
    pub occupied: BitBoard,
    pub our_pawn_attacks: BitBoard,
    pub their_pawn_attacks: BitBoard,
    /// Squares that count for mobility. Excluded are squares attacked by enemy pawns, our king's
    /// square, and squares occupied by our pawns that are blocked or on the second or third rank.
    pub mobility_area: BitBoard,
    /// The nine squares on and around the enemy king, as returned by [`ring`].
    pub their_ring: BitBoard,
    /// Our side's castling rights: kingside, then queenside.
    pub castling: (bool, bool),
}

impl View {
    pub(crate) fn new(position: &Position, viewer: Color) -> Self {
        let us = Pieces::new(position, viewer, viewer);
        let them = Pieces::new(position, !viewer, viewer);
        let occupied = us.all | them.all;
        let their_pawn_attacks = down(sideways(them.pawns));
        let stuck = us.pawns & (down(occupied) | ranks(2, 3));
        let rights = position.castle_rights(viewer);
        View {
            our_pawn_attacks: pawn_attacks(us.pawns),
            their_pawn_attacks,
            mobility_area: !(their_pawn_attacks | stuck | bit(us.king)),
            their_ring: ring(them.king),
            castling: (rights.has_kingside(), rights.has_queenside()),
            us,
            them,
            occupied,
        }
    }
}

/// Returns the block of nine squares centred on the king, shifted inwards if the king is on an edge
/// of the board.
fn ring(king: Square) -> BitBoard {
    let square = |rank: usize, file: usize| chess::ALL_SQUARES[rank * 8 + file];
    let middle = square(rank(king).clamp(1, 6), file(king).clamp(1, 6));
    get_king_moves(middle) | bit(middle)
}

#[inline]
fn turned(set: BitBoard, viewer: Color) -> BitBoard {
    match viewer {
        Color::White => set,
        Color::Black => set.reverse_colors(),
    }
}

#[inline]
fn turned_square(square: Square, viewer: Color) -> Square {
    const FLIP: usize = 56;
    match viewer {
        Color::White => square,
        Color::Black => chess::ALL_SQUARES[square.to_index() ^ FLIP],
    }
}

/// The squares attacked by one side, and counts of its attacks near the enemy king.
#[derive(Clone, Copy)]
pub(in crate::engine::eval) struct Attacks {
    pub pawns: BitBoard,
    pub knights: BitBoard,
    pub bishops: BitBoard,
    pub rooks: BitBoard,
    pub queens: BitBoard,
    pub king: BitBoard,
    pub all: BitBoard,
    /// Squares attacked at least twice.
    pub twice: BitBoard,
    /// Numbers of knights, bishops, rooks and queens, in this order, that attack squares in the
    /// enemy king's ring.
    pub attackers: [i32; 4],
    /// Number of attacks by the pieces counted in `attackers` on squares adjacent to the enemy
    /// king.
    pub king_attacks: i32,
}

impl Attacks {
    /// Returns the attacks by the king and the pawns. [`Attacks::add`] adds those by the other
    /// pieces.
    pub(crate) fn new(view: &View) -> Self {
        let (king, pawns) = (get_king_moves(view.us.king), view.our_pawn_attacks);
        Attacks {
            pawns,
            knights: EMPTY,
            bishops: EMPTY,
            rooks: EMPTY,
            queens: EMPTY,
            king,
            all: king | pawns,
            twice: king & pawns | double_pawn_attacks(view.us.pawns),
            attackers: [0; 4],
            king_attacks: 0,
        }
    }

    /// Adds the attacks of one piece on the squares in `reach`.
    #[inline(always)]
    pub(crate) fn add(&mut self, piece: Piece, reach: BitBoard, view: &View) {
        match piece {
            Piece::Knight => self.knights |= reach,
            Piece::Bishop => self.bishops |= reach,
            Piece::Rook => self.rooks |= reach,
            _ => self.queens |= reach,
        }
        self.twice |= self.all & reach;
        self.all |= reach;
        if any(reach & view.their_ring) {
            self.attackers[piece.to_index() - Piece::Knight.to_index()] += 1;
            self.king_attacks += count(reach & get_king_moves(view.them.king));
        }
    }

    pub(crate) fn turned(&self) -> Self {
        let turn = BitBoard::reverse_colors;
        Attacks {
            pawns: turn(&self.pawns),
            knights: turn(&self.knights),
            bishops: turn(&self.bishops),
            rooks: turn(&self.rooks),
            queens: turn(&self.queens),
            king: turn(&self.king),
            all: turn(&self.all),
            twice: turn(&self.twice),
            ..*self
        }
    }
}

/// Returns the squares attacked by a piece, including x-ray attacks: a bishop attacks through its
/// own side's queens, and a rook attacks through its own side's rooks and queens.
#[inline(always)]
pub(super) fn reach(piece: Piece, from: Square, view: &View) -> BitBoard {
    let us = &view.us;
    match piece {
        Piece::Knight => get_knight_moves(from),
        Piece::Bishop => get_bishop_moves(from, view.occupied ^ us.queens),
        Piece::Rook => get_rook_moves(from, view.occupied ^ us.rooks ^ us.queens),
        _ => get_bishop_moves(from, view.occupied) | get_rook_moves(from, view.occupied),
    }
}
