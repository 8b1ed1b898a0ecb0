//! Control of the four centre squares.

use super::bitboards::*;
use super::trace::{Sum, Trace};
use super::view::Attacks;
use super::weights::Weights;

pub(super) fn evaluate<T: Trace>(ours: &Attacks, w: &Weights, sum: &mut Sum<'_, T>) {
    sum.add_times(&w.centre_attacked, count(ours.all & CENTRE));
    sum.add_times(&w.centre_attacked_twice, count(ours.twice & CENTRE));
    sum.add_times(&w.centre_pawn_attacked, count(ours.pawns & CENTRE));
}
