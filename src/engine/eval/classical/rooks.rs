//! Evaluation of rooks: mobility, placement, open files, the seventh rank, and trapped rooks.

use super::bitboards::*;
use super::mobility;
use super::trace::{Sum, Trace};
use super::view::{Attacks, View, reach};
use super::weights::Weights;
use crate::chess::position::{BitBoard, Piece, Square};

pub(super) fn evaluate<T: Trace>(
    view: &View,
    attacks: &mut Attacks,
    w: &Weights,
    sum: &mut Sum<'_, T>,
) {
    for rook in view.us.rooks {
        let seen = reach(Piece::Rook, rook, view);
        attacks.add(Piece::Rook, seen, view);
        mobility::evaluate(Piece::Rook, seen, view, w, sum);
        sum.add(&w.rook_placement[rank(rook)][edge_distance(file(rook))]);
        files(rook, view, w, sum);
        sum.add_if(rules_seventh(rook, view), &w.rook_seventh);
        sum.add_if(is_trapped(rook, seen, view), &w.rook_trapped);
    }
}

fn files<T: Trace>(rook: Square, view: &View, w: &Weights, sum: &mut Sum<'_, T>) {
    let file = file_set(file(rook));
    if none(file & view.us.pawns) {
        let open = none(file & view.them.pawns);
        sum.add(if open { &w.rook_open_file } else { &w.rook_half_open_file });
    }
    sum.add_if(any(file & view.them.queens), &w.rook_queen_file);
}

fn rules_seventh(rook: Square, view: &View) -> bool {
    let seventh = ranks(7, 7);
    any(bit(rook) & seventh)
        && (any(view.them.pawns & seventh) || any(bit(view.them.king) & ranks(8, 8)))
}

/// Whether the rook has few moves because its own king, which can no longer castle, shuts it in at
/// the edge of the board.
fn is_trapped(rook: Square, seen: BitBoard, view: &View) -> bool {
    const FEW: i32 = 3;
    let king = view.us.king;
    let outside = if file(king) >= 4 { file(rook) > file(king) } else { file(rook) < file(king) };
    outside
        && any(bit(king) & ranks(1, 2))
        && rank(rook) <= rank(king)
        && !(view.castling.0 || view.castling.1)
        && count(seen & view.mobility_area) <= FEW
}
