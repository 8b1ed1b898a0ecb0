//! Evaluation of material: piece values, and bonuses for combinations of pieces.

use super::bitboards::*;
use super::trace::{Sum, Trace};
use super::view::View;
use super::weights::Weights;

pub(super) fn evaluate<T: Trace>(view: &View, w: &Weights, sum: &mut Sum<'_, T>) {
    let us = &view.us;
    for (value, pieces) in w.material.iter().zip(us.kinds()) {
        sum.add_times(value, count(pieces));
    }
    let both_bishops = any(us.bishops & LIGHT_SQUARES) && any(us.bishops & !LIGHT_SQUARES);
    sum.add_if(both_bishops, &w.bishop_pair);
    let pawns = count(us.pawns);
    sum.add_times(&w.knight_per_pawn, count(us.knights) * pawns);
    sum.add_times(&w.rook_per_pawn, count(us.rooks) * pawns);
}
