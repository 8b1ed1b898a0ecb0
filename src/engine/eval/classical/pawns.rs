//! Pawn structure: terms that depend only on the pawns, so they are cached by pawn key.

use super::bitboards::*;
use super::trace::{Sum, Trace};
use super::view::View;
use super::weights::Weights;
use crate::chess::position::{BitBoard, Square};

/// Adds the pawn-structure terms to `sum` and returns the passed pawns.
pub(super) fn evaluate<T: Trace>(view: &View, w: &Weights, sum: &mut Sum<'_, T>) -> BitBoard {
    let mut passed = BitBoard(0);
    for pawn in view.us.pawns {
        sum.add(&w.pawn_placement[rank(pawn)][edge_distance(file(pawn))]);
        connection(pawn, view, w, sum);
        weakness(pawn, view, w, sum);
        if is_passed(pawn, view) {
            passed |= bit(pawn);
        } else if is_candidate(pawn, view) {
            sum.add(&w.candidate[rank(pawn)]);
        }
    }
    passed
}

fn connection<T: Trace>(pawn: Square, view: &View, w: &Weights, sum: &mut Sum<'_, T>) {
    let beside = sideways(bit(pawn));
    sum.add_if(any(beside & view.us.pawns), &w.phalanx[rank(pawn)]);
    sum.add_if(any(bit(pawn) & view.our_pawn_attacks), &w.supported[rank(pawn)]);
}

/// Scores doubled, isolated and backward pawns.
///
/// Source: <https://www.chessprogramming.org/Pawn_Structure>.
fn weakness<T: Trace>(pawn: Square, view: &View, w: &Weights, sum: &mut Sum<'_, T>) {
    let (ours, theirs) = (view.us.pawns, view.them.pawns);
    let open = none(front_span(pawn) & theirs);
    sum.add_if(any(front_span(pawn) & ours), &w.doubled);
    let neighbours = sideways(file_set(file(pawn))) & ours;
    if none(neighbours) {
        sum.add(&w.isolated[edge_distance(file(pawn))]);
        sum.add_if(open, &w.isolated_open);
        return;
    }
    let step = up(bit(pawn));
    let can_be_supported = any(neighbours & !from_rank_up(pawn) | neighbours & sideways(bit(pawn)));
    if !can_be_supported && any(step & (view.their_pawn_attacks | theirs)) {
        sum.add(&w.backward);
        sum.add_if(open, &w.backward_open);
    }
}

/// Returns the squares in front of `pawn` on the adjacent files: those that it can attack now or
/// after advancing.
fn attack_span(pawn: Square) -> BitBoard {
    sideways(front_span(pawn))
}

fn is_passed(pawn: Square, view: &View) -> bool {
    let ahead = front_span(pawn);
    none((ahead | attack_span(pawn)) & view.them.pawns) && none(ahead & view.us.pawns)
}

/// Whether exchanges could turn the pawn into a passed pawn: no pawns are ahead of it on its file,
/// and it has at least as many helpers on the adjacent files as there are enemy pawns that guard
/// its path.
fn is_candidate(pawn: Square, view: &View) -> bool {
    let free = none(front_span(pawn) & (view.us.pawns | view.them.pawns));
    let guards = count(attack_span(pawn) & view.them.pawns);
    let helpers = sideways(file_set(file(pawn))) & view.us.pawns & !from_rank_up(pawn)
        | sideways(bit(pawn)) & view.us.pawns;
    free && count(helpers) >= guards
}
