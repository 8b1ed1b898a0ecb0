//! Evaluation of queens: mobility, placement, and infiltration into the enemy's half of the board.

use super::bitboards::*;
use super::mobility;
use super::trace::{Sum, Trace};
use super::view::{Attacks, View, reach};
use super::weights::Weights;
use crate::chess::position::Piece;

pub(super) fn evaluate<T: Trace>(
    view: &View,
    attacks: &mut Attacks,
    w: &Weights,
    sum: &mut Sum<'_, T>,
) {
    for queen in view.us.queens {
        let seen = reach(Piece::Queen, queen, view);
        attacks.add(Piece::Queen, seen, view);
        mobility::evaluate(Piece::Queen, seen, view, w, sum);
        sum.add(&w.queen_placement[rank(queen)][edge_distance(file(queen))]);
        let inside = any(bit(queen) & ranks(5, 8));
        let safe = none(sideways(front_span(queen)) & view.them.pawns);
        sum.add_if(inside && safe, &w.queen_infiltration);
    }
}
