//! A training position, stored in 32 bytes.

use crate::chess::position::{Color, Position, Square};
use crate::engine::eval::nnue::{BUCKETS, INPUTS_PER_KING_BUCKET, PieceSet, seen_by};

const INPUTS_PER_SIDE: usize = INPUTS_PER_KING_BUCKET / 2;
const FLIP_RANKS: usize = 56;
const FLIP_FILES: usize = 7;
const MAX_PIECES: usize = 32;
/// The number of different piece counts that share one bucket of output weights.
const PIECES_PER_BUCKET: usize = MAX_PIECES / BUCKETS;
/// The bit that marks an enemy piece, among the four bits that describe a piece.
const ENEMY: u8 = 8;
const PIECE: u8 = 7;

/// A position from the side to move's point of view, along with its expected result. If Black is to
/// move, the board is flipped, so that the side to move's pawns always move up the board.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Example {
    occupied: u64,
    /// Four bits for each piece, in the order of the occupied squares: three for the kind of piece,
    /// and one that is set for an enemy piece.
    pieces: [u8; MAX_PIECES / 2],
    /// The training target: the expected result for the side to move, from 0 to 1.
    pub target: f32,
    /// The views of the side to move and of the enemy, in this order.
    views: [View; 2],
}

const _: () = assert!(size_of::<Example>() == 32);

/// How one side sees the board: whether it is mirrored, and the king bucket. Both depend on the
/// square of that side's king.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct View {
    is_mirrored: bool,
    king_bucket: u8,
}

impl View {
    fn new(position: &Position, color: Color) -> Self {
        let (is_mirrored, king_bucket) = seen_by(position.king(color).to_index(), color);
        View { is_mirrored, king_bucket: king_bucket as u8 }
    }
}

/// The indices of the weight rows that belong to the pieces on the board, for the side to move and
/// for the enemy.
pub(super) struct Inputs {
    rows: [[u16; MAX_PIECES]; 2],
    pieces: usize,
}

impl Inputs {
    #[inline(always)]
    pub(super) fn of(&self, side: usize) -> &[u16] {
        &self.rows[side][..self.pieces]
    }
}

impl Example {
    pub(crate) fn new(position: &Position, target: f32) -> Self {
        let us = position.side_to_move();
        let flip = if us == Color::White { 0 } else { FLIP_RANKS };
        let occupied = match us {
            Color::White => position.occupied().0,
            Color::Black => position.occupied().0.swap_bytes(),
        };
        let mut pieces = [0; MAX_PIECES / 2];
        for (place, square) in squares(occupied).enumerate() {
            let square = square_at(square ^ flip);
            let side = if position.board().color_on(square) == Some(us) { 0 } else { ENEMY };
            let piece = position.piece_on(square).map_or(0, |piece| piece.to_index()) as u8;
            pieces[place / 2] |= (side | piece) << (4 * (place % 2));
        }
        let views = [us, !us].map(|color| View::new(position, color));
        Example { occupied, pieces, target, views }
    }

    /// Returns the example in the format that `tabia train export` writes: the occupied squares
    /// (u64), four bits per piece, the target (f32), and two bytes for each view: 1 if the view is
    /// mirrored (otherwise 0), and the king bucket. Numbers are little-endian.
    pub(super) fn to_bytes(self) -> [u8; size_of::<Self>()] {
        let mut bytes = [0; size_of::<Self>()];
        bytes[..8].copy_from_slice(&self.occupied.to_le_bytes());
        bytes[8..24].copy_from_slice(&self.pieces);
        bytes[24..28].copy_from_slice(&self.target.to_le_bytes());
        for (bytes, view) in bytes[28..].as_chunks_mut().0.iter_mut().zip(self.views) {
            *bytes = [u8::from(view.is_mirrored), view.king_bucket];
        }
        bytes
    }

    /// Returns the king buckets of both sides, starting with the side to move.
    #[inline(always)]
    pub(super) fn king_buckets(&self) -> [u8; 2] {
        self.views.map(|view| view.king_bucket)
    }

    #[inline(always)]
    pub(super) fn bucket(&self) -> usize {
        self.piece_count().saturating_sub(2) / PIECES_PER_BUCKET
    }

    #[inline(always)]
    pub(super) fn piece_count(&self) -> usize {
        self.occupied.count_ones() as usize
    }

    #[inline(always)]
    pub(super) fn inputs(&self) -> Inputs {
        let mut inputs = Inputs { rows: [[0; MAX_PIECES]; 2], pieces: 0 };
        let [own, enemy] = self.views.map(|view| if view.is_mirrored { FLIP_FILES } else { 0 });
        let [ours, theirs] =
            self.views.map(|view| usize::from(view.king_bucket) * INPUTS_PER_KING_BUCKET);
        self.visit(|side, piece, square| {
            let kind = 64 * piece;
            let near = ours + side * INPUTS_PER_SIDE;
            let far = theirs + (1 - side) * INPUTS_PER_SIDE;
            inputs.rows[0][inputs.pieces] = (near + kind + (square ^ own)) as u16;
            inputs.rows[1][inputs.pieces] = (far + kind + (square ^ enemy ^ FLIP_RANKS)) as u16;
            inputs.pieces += 1;
        });
        inputs
    }

    /// Returns the pieces in the form that the engine's network takes as input. The side to move is
    /// always White.
    pub(crate) fn board(&self) -> PieceSet {
        let mut board = PieceSet::NONE;
        self.visit(|side, piece, square| {
            let color = if side == 0 { Color::White } else { Color::Black };
            board = board.with(color, chess::ALL_PIECES[piece], square_at(square));
        });
        board
    }

    /// Calls `visit` for each piece with the piece's side (0 for the side to move, 1 for the
    /// enemy), kind and square.
    #[inline(always)]
    fn visit(&self, mut visit: impl FnMut(usize, usize, usize)) {
        for (place, square) in squares(self.occupied).enumerate().take(MAX_PIECES) {
            let piece = self.pieces[place / 2] >> (4 * (place % 2));
            visit(usize::from(piece & ENEMY != 0), usize::from(piece & PIECE), square);
        }
    }
}

#[inline(always)]
fn squares(mut bits: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let square = bits.trailing_zeros() as usize;
        bits &= bits.wrapping_sub(1);
        (square < 64).then_some(square)
    })
}

fn square_at(index: usize) -> Square {
    chess::ALL_SQUARES[index]
}
