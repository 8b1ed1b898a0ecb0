//! The pieces on the board, and the indices of the network inputs that represent them.

use chess::{ALL_PIECES, BitBoard, Color, EMPTY, Piece, Square};

use super::{BUCKETS, INPUTS_PER_KING_BUCKET, KING_BUCKETS};
use crate::chess::position::Position;

/// Number of piece counts that share each set of output weights.
const PIECES_PER_BUCKET: u32 = 32 / BUCKETS as u32;
const INPUTS_PER_SIDE: usize = INPUTS_PER_KING_BUCKET / 2;
const FLIP_RANKS: u16 = 56;
const FLIP_FILES: u16 = 7;
const FIRST_MIRRORED_FILE: usize = 4;

/// The pieces on a board. They need not form a legal position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PieceSet {
    kinds: [BitBoard; ALL_PIECES.len()],
    black: BitBoard,
    squares: [Option<Piece>; 64],
}

impl PieceSet {
    pub(crate) const NONE: PieceSet =
        PieceSet { kinds: [EMPTY; ALL_PIECES.len()], black: EMPTY, squares: [None; 64] };

    #[inline]
    pub(crate) fn of(position: &Position) -> Self {
        PieceSet {
            kinds: ALL_PIECES.map(|piece| *position.board().pieces(piece)),
            black: position.by_color(Color::Black),
            squares: *position.squares(),
        }
    }

    #[must_use]
    pub(crate) fn without(mut self, square: Square) -> Self {
        let others = !BitBoard::from_square(square);
        self.kinds.iter_mut().for_each(|pieces| *pieces &= others);
        self.black &= others;
        self.squares[square.to_index()] = None;
        self
    }

    /// Returns the set with a piece added on `square`, which must be empty.
    #[must_use]
    pub(crate) fn with(mut self, color: Color, piece: Piece, square: Square) -> Self {
        let here = BitBoard::from_square(square);
        self.kinds[piece.to_index()] |= here;
        self.black |= if color == Color::Black { here } else { EMPTY };
        self.squares[square.to_index()] = Some(piece);
        self
    }

    #[inline]
    pub(crate) fn bucket(&self) -> usize {
        let occupied = self.kinds.iter().fold(EMPTY, |all, &pieces| all | pieces);
        (occupied.popcnt().saturating_sub(2) / PIECES_PER_BUCKET) as usize
    }

    #[inline]
    fn differing(&self, before: &PieceSet) -> BitBoard {
        let kinds = self.kinds.iter().zip(&before.kinds);
        kinds.fold(self.black ^ before.black, |squares, (&here, &there)| squares | (here ^ there))
    }

    #[inline]
    pub(super) fn is_same(&self, before: &PieceSet) -> bool {
        self.differing(before) == EMPTY
    }

    #[inline]
    pub(super) fn changes(&self, before: &PieceSet) -> Changes<MAX_PIECES> {
        self.changes_on(self.differing(before), before)
    }

    /// Like [`PieceSet::changes`], but returns `None` if the boards differ on more than [`NEAR`]
    /// squares.
    #[inline]
    pub(super) fn few_changes(&self, before: &PieceSet) -> Option<Changes<NEAR>> {
        let squares = self.differing(before);
        (squares.popcnt() <= NEAR as u32).then(|| self.changes_on(squares, before))
    }

    #[inline(always)]
    fn changes_on<const MAX: usize>(&self, squares: BitBoard, before: &PieceSet) -> Changes<MAX> {
        let mut changes = Changes { added: PieceList::new(), removed: PieceList::new() };
        // The loop body is branchless, because the processor could not predict captures reliably.
        for square in squares {
            changes.added.note(self.piece_square(square), self.is_occupied(square));
            changes.removed.note(before.piece_square(square), before.is_occupied(square));
        }
        changes
    }

    /// Returns the piece on `square`. If the square is empty, the result is meaningless and must
    /// not be used.
    #[inline]
    fn piece_square(&self, square: Square) -> PieceSquare {
        let kind = self.squares[square.to_index()].map_or(0, |piece| piece.to_index() as u16);
        let black = (self.black.0 >> square.to_index() & 1) as u16;
        PieceSquare(square.to_index() as u16 | kind << PIECE_SHIFT | black << COLOR_SHIFT)
    }

    #[inline]
    fn is_occupied(&self, square: Square) -> bool {
        self.squares[square.to_index()].is_some()
    }

    #[inline]
    fn king(&self, color: Color) -> BitBoard {
        let own = if color == Color::Black { self.black } else { !self.black };
        self.kinds[Piece::King.to_index()] & own
    }
}

/// Maximum number of squares on which two boards may differ for an incremental update. Castling
/// changes four squares; other moves change two or three.
const NEAR: usize = 4;
const MAX_PIECES: usize = 32;

/// The pieces added and removed between two boards, at most `MAX` of each.
#[derive(Debug)]
pub(super) struct Changes<const MAX: usize> {
    pub(super) added: PieceList<MAX>,
    pub(super) removed: PieceList<MAX>,
}

#[derive(Debug)]
pub(super) struct PieceList<const MAX: usize> {
    pieces: [PieceSquare; MAX],
    /// Scratch element: receives pieces noted while the list is full, so that `note` needs no
    /// branch.
    spare: PieceSquare,
    length: usize,
}

impl<const MAX: usize> PieceList<MAX> {
    #[inline(always)]
    fn new() -> Self {
        let none = PieceSquare::default();
        PieceList { pieces: [none; MAX], spare: none, length: 0 }
    }

    #[inline(always)]
    fn note(&mut self, piece: PieceSquare, there: bool) {
        *self.pieces.get_mut(self.length).unwrap_or(&mut self.spare) = piece;
        self.length += usize::from(there);
    }

    #[inline]
    pub(super) fn as_slice(&self) -> &[PieceSquare] {
        &self.pieces[..self.length]
    }
}

/// A piece on a square, packed into bits: the square in bits 0 to 5, the kind of piece in bits 6 to
/// 8, and the colour in bit 9.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct PieceSquare(u16);

const PIECE_SHIFT: u32 = 6;
const COLOR_SHIFT: u32 = 9;

/// Returns the king bucket for a king on square `king`, as seen from the king's own side.
///
/// Squares are numbered from a1, rank by rank. The view has been mirrored if necessary, so the king
/// is on files a to d. The four buckets are: castled, in the middle of the first rank, on the
/// second rank, and elsewhere.
const fn king_bucket(king: usize) -> usize {
    match (king / 8, king % 8) {
        (0, 0..=2) => 0,
        (0, _) => 1,
        (1, _) => 2,
        _ => 3,
    }
}

/// Returns whether the view of the side `color` is mirrored, and that side's king bucket. `king` is
/// the index of its king's square, counted from a1.
#[inline]
pub(crate) fn seen_by(king: usize, color: Color) -> (bool, usize) {
    let mirrored = king % 8 >= FIRST_MIRRORED_FILE;
    let ranks = if color == Color::White { 0 } else { FLIP_RANKS };
    let files = if mirrored { FLIP_FILES } else { 0 };
    (mirrored, king_bucket(king ^ usize::from(ranks ^ files)))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Perspective {
    /// XOR mask that converts the bits of a [`PieceSquare`] to this perspective.
    turned: u16,
    king_bucket: u16,
}

pub(super) const VIEWS: usize = 2 * KING_BUCKETS;

const FLIP_COLORS: u16 = 1 << COLOR_SHIFT;

impl Perspective {
    #[inline]
    pub(super) fn new(pieces: &PieceSet, color: Color) -> Self {
        // If the king is missing, `trailing_zeros` is 64, so the king is treated as if it were on
        // a1.
        let king = pieces.king(color).0.trailing_zeros() as usize % 64;
        let (mirrored, king_bucket) = seen_by(king, color);
        let turned = if color == Color::White { 0 } else { FLIP_COLORS | FLIP_RANKS }
            | if mirrored { FLIP_FILES } else { 0 };
        Perspective { turned, king_bucket: king_bucket as u16 }
    }

    /// Returns the index of the view, less than [`VIEWS`].
    #[inline]
    pub(super) fn index(self) -> usize {
        2 * usize::from(self.king_bucket) + usize::from(self.turned & FLIP_FILES != 0)
    }

    /// Returns the input index of a piece in this view, less than [`INPUTS`](super::INPUTS).
    #[inline]
    pub(super) fn input(self, piece: PieceSquare) -> usize {
        let seen = piece.0 ^ self.turned;
        let enemy = usize::from(seen >> COLOR_SHIFT);
        usize::from(self.king_bucket) * INPUTS_PER_KING_BUCKET
            + enemy * INPUTS_PER_SIDE
            + usize::from(seen & (FLIP_COLORS - 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inputs(fen: &str, color: Color) -> Vec<usize> {
        let pieces = PieceSet::of(&Position::from_fen(fen).expect(fen));
        let view = Perspective::new(&pieces, color);
        let changes = pieces.changes(&PieceSet::NONE);
        assert_eq!(changes.removed.as_slice(), [], "no pieces");
        let mut inputs: Vec<usize> =
            changes.added.as_slice().iter().map(|&piece| view.input(piece)).collect();
        inputs.sort_unstable();
        inputs
    }

    #[test]
    fn flipped_board_gives_the_same_inputs() {
        let [white, black] = [
            "r1bqk2r/pppp1ppp/2n2n2/4p3/1bB1P3/2N2N2/PPPP1PPP/R1BQ1RK1 b kq - 0 1",
            "r1bq1rk1/pppp1ppp/2n2n2/1Bb1p3/4P3/2N2N2/PPPP1PPP/R1BQK2R w KQ - 0 1",
        ];
        assert_eq!(inputs(white, Color::White), inputs(black, Color::Black));
        assert_eq!(inputs(white, Color::Black), inputs(black, Color::White));
    }

    #[test]
    fn mirrored_board_gives_the_same_inputs() {
        let (left, right) =
            ("8/2k5/8/3p4/8/8/1KN5/8 w - - 0 1", "8/5k2/8/4p3/8/8/5NK1/8 w - - 0 1");
        for color in [Color::White, Color::Black] {
            assert_eq!(inputs(left, color), inputs(right, color));
        }
        // Seen from its own side, a king is always on files a to d. White's king on g2 is therefore
        // seen on b2.
        assert!(inputs(right, Color::White).contains(&(2 * INPUTS_PER_KING_BUCKET + 64 * 5 + 9)));
    }

    #[test]
    fn king_bucket_depends_on_own_king() {
        let king_buckets = |fen: &str| {
            [Color::White, Color::Black].map(|color| inputs(fen, color)[0] / INPUTS_PER_KING_BUCKET)
        };
        assert_eq!(king_buckets("4k3/8/8/8/8/8/8/6K1 w - - 0 1"), [0, 1]);
        assert_eq!(king_buckets("1k6/8/8/8/8/8/8/3K4 w - - 0 1"), [1, 0]);
        assert_eq!(king_buckets("8/8/8/7k/8/8/7K/8 w - - 0 1"), [2, 3]);
        assert!((0..64).all(|square| king_bucket(square) < KING_BUCKETS));
    }

    #[test]
    fn changes_between_two_full_boards_fit() {
        let board = |squares: &[Square], color| {
            squares.iter().fold(PieceSet::NONE, |set, &at| set.with(color, Piece::Rook, at))
        };
        let (low, high) = chess::ALL_SQUARES.split_at(MAX_PIECES);
        let (before, after) = (board(high, Color::Black), board(low, Color::White));
        let changes = after.changes(&before);
        for (list, board) in [(&changes.added, &after), (&changes.removed, &before)] {
            let expected = board.changes(&PieceSet::NONE);
            assert_eq!(list.as_slice(), expected.added.as_slice());
            assert_eq!(list.as_slice().len(), MAX_PIECES);
        }
        assert!(after.few_changes(&before).is_none());
        // The boards have the same kinds of pieces on the same squares, but in opposite colours, so
        // all pieces must count as changed.
        assert_eq!(board(low, Color::Black).changes(&after).removed.as_slice().len(), MAX_PIECES);
    }

    #[test]
    fn output_bucket_depends_on_the_number_of_pieces() {
        let bucket = |fen: &str| PieceSet::of(&Position::from_fen(fen).expect(fen)).bucket();
        assert_eq!(bucket("8/2k5/8/8/8/8/1K6/8 w - - 0 1"), 0);
        assert_eq!(bucket("8/2k5/8/3p4/8/8/1KNN4/8 w - - 0 1"), 0);
        assert_eq!(bucket("8/2k5/8/3p4/2p5/8/1KNN4/8 w - - 0 1"), 1);
        assert_eq!(PieceSet::of(&Position::start()).bucket(), 7);
    }
}
