//! Mobility: scores each piece by the number of squares to which it can move.
//!
//! Source: <https://www.chessprogramming.org/Mobility>.

use super::bitboards::count;
use super::trace::{Sum, Trace};
use super::view::View;
use super::weights::Weights;
use crate::chess::position::{BitBoard, Piece};

#[inline(always)]
pub(super) fn evaluate<T: Trace>(
    piece: Piece,
    reach: BitBoard,
    view: &View,
    w: &Weights,
    sum: &mut Sum<'_, T>,
) {
    let squares = count(reach & view.mobility_area) as usize;
    sum.add(match piece {
        Piece::Knight => &w.knight_mobility[squares],
        Piece::Bishop => &w.bishop_mobility[squares],
        Piece::Rook => &w.rook_mobility[squares],
        _ => &w.queen_mobility[squares],
    });
}
