//! Evaluation of bishops: mobility, placement, outposts, and pawns on squares of the bishop's
//! colour.

use chess::get_bishop_moves;

use super::bitboards::*;
use super::knights::{is_outpost, is_shielded};
use super::mobility;
use super::trace::{Sum, Trace};
use super::view::{Attacks, View, reach};
use super::weights::Weights;
use crate::chess::position::{Piece, Square};

pub(super) fn evaluate<T: Trace>(
    view: &View,
    attacks: &mut Attacks,
    w: &Weights,
    sum: &mut Sum<'_, T>,
) {
    for bishop in view.us.bishops {
        let seen = reach(Piece::Bishop, bishop, view);
        attacks.add(Piece::Bishop, seen, view);
        mobility::evaluate(Piece::Bishop, seen, view, w, sum);
        sum.add(&w.bishop_placement[rank(bishop)][edge_distance(file(bishop))]);
        sum.add_if(is_shielded(bishop, view), &w.bishop_shielded);
        sum.add_times(&w.bishop_king_distance, distance(bishop, view.us.king));
        if is_outpost(bishop, view) {
            let supported = any(bit(bishop) & view.our_pawn_attacks);
            sum.add(if supported { &w.bishop_outpost_supported } else { &w.bishop_outpost });
        }
        pawns(bishop, view, w, sum);
    }
}

/// Scores a bishop by the pawns around it. Own pawns on squares of its colour restrict it; enemy
/// pawns that it attacks are targets.
///
/// Source: <https://www.chessprogramming.org/Bad_Bishop>.
fn pawns<T: Trace>(bishop: Square, view: &View, w: &Weights, sum: &mut Sum<'_, T>) {
    let light = any(bit(bishop) & LIGHT_SQUARES);
    let own_pawns = view.us.pawns & if light { LIGHT_SQUARES } else { !LIGHT_SQUARES };
    sum.add_times(&w.bishop_own_pawns, count(own_pawns));
    let blocked = own_pawns & CENTRE_FILES & down(view.occupied);
    sum.add_times(&w.bishop_blocked_pawns, count(blocked));
    let lines = get_bishop_moves(bishop, view.us.pawns);
    sum.add_times(&w.bishop_enemy_pawns, count(lines & view.them.pawns));
    let past_pieces = get_bishop_moves(bishop, view.us.pawns | view.them.pawns);
    sum.add_if(count(past_pieces & CENTRE) > 1, &w.bishop_long_diagonal);
}
