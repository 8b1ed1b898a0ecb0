//! Evaluation of passed pawns: how far they have advanced, what blocks them, and which pieces
//! support them.
//!
//! Source: <https://www.chessprogramming.org/Passed_Pawn>.

use super::bitboards::*;
use super::trace::{Sum, Trace};
use super::view::{Attacks, View};
use super::weights::Weights;
use crate::chess::position::{BitBoard, Square};

pub(super) fn evaluate<T: Trace>(
    view: &View,
    passed: BitBoard,
    theirs: &Attacks,
    w: &Weights,
    sum: &mut Sum<'_, T>,
) {
    for pawn in passed {
        let rank = rank(pawn);
        sum.add(&w.passed[rank]);
        sum.add(&w.passed_file[edge_distance(file(pawn))]);
        sum.add_if(any(bit(pawn) & view.our_pawn_attacks), &w.passed_protected);
        sum.add_if(is_outside(pawn, view), &w.passed_outside);
        path(pawn, view, theirs, w, sum);
        piece_support(pawn, view, w, sum);
    }
}

/// Whether `pawn` is an outside passed pawn: the enemy has pawns, and all of them are at least
/// three files away from it.
fn is_outside(pawn: Square, view: &View) -> bool {
    let beside = sideways(file_set(file(pawn)));
    let near = beside | sideways(beside) | file_set(file(pawn));
    any(view.them.pawns) && none(view.them.pawns & near)
}

fn path<T: Trace>(pawn: Square, view: &View, theirs: &Attacks, w: &Weights, sum: &mut Sum<'_, T>) {
    let rank = rank(pawn);
    let ahead = front_span(pawn);
    let step = up(bit(pawn));
    let barred = view.them.all | theirs.all;
    sum.add_if(any(step & view.them.all), &w.passed_blocked[rank]);
    if none(step & barred) {
        sum.add(&w.passed_safe_step[rank]);
        sum.add_if(none(ahead & barred), &w.passed_free_path[rank]);
    }
}

fn piece_support<T: Trace>(pawn: Square, view: &View, w: &Weights, sum: &mut Sum<'_, T>) {
    let rank = rank(pawn);
    let step = lowest(up(bit(pawn)));
    sum.add_times(&w.passed_our_king[rank], distance(view.us.king, step));
    sum.add_times(&w.passed_their_king[rank], distance(view.them.king, step));
    let behind = file_set(file(pawn)) & !from_rank_up(pawn);
    sum.add_if(any(behind & view.us.rooks), &w.passed_rook_behind);
    sum.add_if(any(behind & view.them.rooks), &w.passed_attacked_from_behind);
    if none(view.them.pieces()) {
        let goal = lowest(file_set(file(pawn)) & ranks(8, 8));
        let steps = (7 - rank as i32) - i32::from(rank == 1);
        // The enemy may be to move, so its king's distance is reduced by one.
        let too_late = distance(view.them.king, goal) - 1 > steps;
        let clear = none(front_span(pawn) & view.occupied);
        sum.add_if(too_late && clear, &w.passed_unstoppable);
    }
}
