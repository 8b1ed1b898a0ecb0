//! Set-wise operations: shifts, fills and intersections of whole sets of squares.
//!
//! Source: <https://www.chessprogramming.org/General_Setwise_Operations>.

use crate::chess::position::{BitBoard, Square};
pub(super) use crate::chess::position::{FILE_A, FILE_H, LIGHT_SQUARES, distance, sideways};

pub(super) const CENTRE: BitBoard = BitBoard(0x0000_0018_1800_0000);
pub(super) const CENTRE_FILES: BitBoard = BitBoard(0x3c3c_3c3c_3c3c_3c3c);

/// Returns the squares of the ranks from `first` to `last` (1-based, inclusive).
pub(super) const fn ranks(first: u32, last: u32) -> BitBoard {
    BitBoard((u64::MAX >> (64 - 8 * (last - first + 1))) << (8 * (first - 1)))
}

#[inline]
pub(super) fn file(square: Square) -> usize {
    square.to_index() & 7
}

#[inline]
pub(super) fn rank(square: Square) -> usize {
    square.to_index() >> 3
}

/// Returns the distance from a file to the nearer edge of the board (0 to 3).
#[inline]
pub(super) fn edge_distance(file: usize) -> usize {
    file.min(7 - file)
}

#[inline]
pub(super) fn bit(square: Square) -> BitBoard {
    BitBoard(1 << square.to_index())
}

#[inline]
pub(super) fn any(set: BitBoard) -> bool {
    set.0 != 0
}

#[inline]
pub(super) fn none(set: BitBoard) -> bool {
    set.0 == 0
}

#[inline]
pub(super) fn count(set: BitBoard) -> i32 {
    set.0.count_ones() as i32
}

#[inline]
pub(super) fn lowest(set: BitBoard) -> Square {
    set.to_square()
}

#[inline]
pub(super) fn up(set: BitBoard) -> BitBoard {
    BitBoard(set.0 << 8)
}

#[inline]
pub(super) fn down(set: BitBoard) -> BitBoard {
    BitBoard(set.0 >> 8)
}

/// Returns the squares attacked by pawns that move up the board.
#[inline]
pub(super) fn pawn_attacks(pawns: BitBoard) -> BitBoard {
    up(sideways(pawns))
}

/// Returns the squares attacked twice by pawns that move up the board.
#[inline]
pub(super) fn double_pawn_attacks(pawns: BitBoard) -> BitBoard {
    up(BitBoard((pawns & !FILE_H).0 << 1 & (pawns & !FILE_A).0 >> 1))
}

/// Returns `set` and all squares below it on the same files.
#[inline]
pub(super) fn fill_down(set: BitBoard) -> BitBoard {
    let set = set.0 | set.0 >> 8;
    let set = set | set >> 16;
    BitBoard(set | set >> 32)
}

#[inline]
pub(super) fn file_set(file: usize) -> BitBoard {
    BitBoard(FILE_A.0 << file)
}

#[inline]
pub(super) fn front_span(square: Square) -> BitBoard {
    BitBoard(FILE_A.0 << 8 << square.to_index())
}

#[inline]
pub(super) fn from_rank_up(square: Square) -> BitBoard {
    BitBoard(u64::MAX << (square.to_index() & !7))
}

#[cfg(test)]
mod tests {
    use super::*;
    use chess::{EMPTY, Rank, get_rank};

    #[test]
    fn spans_and_attacks_stop_at_the_edge() {
        assert_eq!(front_span(Square::H8), EMPTY);
        assert_eq!(front_span(Square::A7), bit(Square::A8));
        assert_eq!(count(front_span(Square::D1)), 7);
        assert_eq!(ranks(2, 2), get_rank(Rank::Second));
        assert_eq!(ranks(1, 8), !EMPTY);
        assert_eq!(fill_down(bit(Square::E8)), file_set(4));
        assert_eq!(sideways(bit(Square::A4)), bit(Square::B4));
        assert_eq!(double_pawn_attacks(bit(Square::D2) | bit(Square::F2)), bit(Square::E3));
        assert_eq!(pawn_attacks(bit(Square::H2)), bit(Square::G3));
    }
}
