//! What the network sees: the men on the board, and which inputs they are.

use chess::{ALL_PIECES, BitBoard, Color, EMPTY, Piece, Square};

use super::{BUCKETS, INPUTS};
use crate::position::Position;

/// Men for each set of output weights: 32 men fill the sets.
const MEN_PER_BUCKET: u32 = 32 / BUCKETS as u32;
const INPUTS_PER_SIDE: usize = INPUTS / 2;
const FLIP_RANKS: usize = 56;
const FLIP_FILES: usize = 7;
const FILES_E_TO_H: u64 = 0xf0f0_f0f0_f0f0_f0f0;

/// The men on a board, which need not be a legal position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Men([[BitBoard; 6]; 2]);

impl Men {
    /// An empty board.
    pub const NONE: Men = Men([[EMPTY; 6]; 2]);

    /// The men of a position.
    #[inline]
    pub fn of(position: &Position) -> Self {
        let board = position.board();
        Men([Color::White, Color::Black].map(|color| {
            let own = board.color_combined(color);
            ALL_PIECES.map(|piece| board.pieces(piece) & own)
        }))
    }

    /// The same men but for those on `square`.
    #[must_use]
    pub fn without(mut self, square: Square) -> Self {
        for men in self.0.iter_mut().flatten() {
            *men &= !BitBoard::from_square(square);
        }
        self
    }

    /// The same men and one on `square`, which is empty.
    #[must_use]
    pub fn with(mut self, color: Color, piece: Piece, square: Square) -> Self {
        self.0[color.to_index()][piece.to_index()] |= BitBoard::from_square(square);
        self
    }

    /// The set of output weights that belongs to so many men.
    #[inline]
    pub fn bucket(&self) -> usize {
        let men = self.0.iter().flatten().fold(EMPTY, |all, &men| all | men).popcnt();
        (men.saturating_sub(2) / MEN_PER_BUCKET) as usize
    }

    /// Calls `visit` with every man that stands here and not in `other`.
    #[inline]
    pub(super) fn beyond(&self, other: &Men, mut visit: impl FnMut(Color, Piece, Square)) {
        for color in [Color::White, Color::Black] {
            for piece in ALL_PIECES {
                let of = |men: &Men| men.0[color.to_index()][piece.to_index()];
                for square in of(self) & !of(other) {
                    visit(color, piece, square);
                }
            }
        }
    }

    #[inline]
    fn king(&self, color: Color) -> BitBoard {
        self.0[color.to_index()][Piece::King.to_index()]
    }
}

/// How one side sees the board.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Perspective {
    color: Color,
    mirrored: bool,
}

impl Perspective {
    /// The view of `color` where the men stand so.
    #[inline]
    pub fn new(men: &Men, color: Color) -> Self {
        let mirrored = men.king(color) & BitBoard(FILES_E_TO_H) != EMPTY;
        Perspective { color, mirrored }
    }

    /// A number for each view of this colour, below 2.
    #[inline]
    pub(super) fn index(self) -> usize {
        usize::from(self.mirrored)
    }

    /// The input, below [`INPUTS`], that a man is in this view.
    #[inline]
    pub fn input(self, color: Color, piece: Piece, square: Square) -> usize {
        let side = if color == self.color { 0 } else { INPUTS_PER_SIDE };
        let ranks = if self.color == Color::White { 0 } else { FLIP_RANKS };
        let files = if self.mirrored { FLIP_FILES } else { 0 };
        side + 64 * piece.to_index() + (square.to_index() ^ ranks ^ files)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inputs(fen: &str, color: Color) -> Vec<usize> {
        let men = Men::of(&Position::from_fen(fen).expect(fen));
        let view = Perspective::new(&men, color);
        let mut inputs = Vec::new();
        men.beyond(&Men::NONE, |color, piece, square| {
            inputs.push(view.input(color, piece, square));
        });
        inputs.sort_unstable();
        inputs
    }

    #[test]
    fn both_sides_see_a_turned_board_alike() {
        let [white, black] = [
            "r1bqk2r/pppp1ppp/2n2n2/4p3/1bB1P3/2N2N2/PPPP1PPP/R1BQ1RK1 b kq - 0 1",
            "r1bq1rk1/pppp1ppp/2n2n2/1Bb1p3/4P3/2N2N2/PPPP1PPP/R1BQK2R w KQ - 0 1",
        ];
        assert_eq!(inputs(white, Color::White), inputs(black, Color::Black));
        assert_eq!(inputs(white, Color::Black), inputs(black, Color::White));
    }

    #[test]
    fn a_mirrored_board_looks_the_same() {
        let (left, right) =
            ("8/2k5/8/3p4/8/8/1KN5/8 w - - 0 1", "8/5k2/8/4p3/8/8/5NK1/8 w - - 0 1");
        for color in [Color::White, Color::Black] {
            assert_eq!(inputs(left, color), inputs(right, color));
        }
        // The king itself is always seen on the left.
        assert!(inputs(right, Color::White).contains(&(64 * 5 + 9)));
    }

    #[test]
    fn sets_of_weights_follow_the_number_of_men() {
        let bucket = |fen: &str| Men::of(&Position::from_fen(fen).expect(fen)).bucket();
        assert_eq!(bucket("8/2k5/8/8/8/8/1K6/8 w - - 0 1"), 0);
        assert_eq!(bucket("8/2k5/8/3p4/8/8/1KNN4/8 w - - 0 1"), 0);
        assert_eq!(bucket("8/2k5/8/3p4/2p5/8/1KNN4/8 w - - 0 1"), 1);
        assert_eq!(Men::of(&Position::start()).bucket(), 7);
    }
}
