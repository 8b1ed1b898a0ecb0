//! Evaluation of knights: mobility, placement, outposts, shielding pawns, and the distance to the
//! knight's own king.

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
    for knight in view.us.knights {
        let seen = reach(Piece::Knight, knight, view);
        attacks.add(Piece::Knight, seen, view);
        mobility::evaluate(Piece::Knight, seen, view, w, sum);
        sum.add(&w.knight_placement[rank(knight)][edge_distance(file(knight))]);
        sum.add_if(is_shielded(knight, view), &w.knight_shielded);
        sum.add_times(&w.knight_king_distance, distance(knight, view.us.king));
        if is_outpost(knight, view) {
            let supported = any(bit(knight) & view.our_pawn_attacks);
            sum.add(if supported { &w.knight_outpost_supported } else { &w.knight_outpost });
        }
    }
}

pub(super) fn is_shielded(square: Square, view: &View) -> bool {
    any(up(bit(square)) & (view.us.pawns | view.them.pawns))
}

/// Whether `square` is on ranks 4 to 6 and can never be attacked by an enemy pawn.
///
/// Source: <https://www.chessprogramming.org/Outposts>.
pub(super) fn is_outpost(square: Square, view: &View) -> bool {
    const OUTPOST_RANKS: BitBoard = ranks(4, 6);
    any(bit(square) & OUTPOST_RANKS) && none(sideways(front_span(square)) & view.them.pawns)
}
