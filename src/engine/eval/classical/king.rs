//! Evaluation of the king: pawn shelter, placement and castling rights.

use super::bitboards::*;
use super::trace::{Sum, Trace};
use super::view::View;
use super::weights::Weights;
use crate::chess::position::BitBoard;

/// Evaluates the king terms that depend only on kings and pawns and can therefore be cached.
///
/// Source: <https://www.chessprogramming.org/King_Safety#Pawn_Shield>.
pub(super) fn shelter<T: Trace>(view: &View, w: &Weights, sum: &mut Sum<'_, T>) {
    let king = view.us.king;
    let ahead = from_rank_up(king);
    let middle = file(king).clamp(1, 6);
    for file in middle - 1..=middle + 1 {
        let ours = view.us.pawns & ahead & file_set(file);
        let theirs = view.them.pawns & ahead & file_set(file);
        let (our_rank, their_rank) = (nearest_rank(ours), nearest_rank(theirs));
        let edge = edge_distance(file);
        sum.add(&w.shelter[edge][our_rank]);
        if our_rank != 0 && their_rank == our_rank + 1 {
            sum.add(&w.storm_blocked[their_rank]);
        } else {
            sum.add(&w.storm[edge][their_rank]);
        }
    }
    let pawns = view.us.pawns | view.them.pawns;
    let file = file_set(file(king));
    if none(file & view.us.pawns) {
        let open = none(file & pawns);
        sum.add(if open { &w.king_open_file } else { &w.king_half_open_file });
    }
    sum.add_if(none(wing(view) & pawns), &w.king_bare_wing);
    let nearest = pawns.map(|pawn| distance(king, pawn)).min().unwrap_or(0);
    sum.add_times(&w.king_pawn_distance, nearest);
    sum.add(&w.king_placement[rank(king)][edge_distance(self::file(king))]);
}

pub(super) fn castling<T: Trace>(view: &View, w: &Weights, sum: &mut Sum<'_, T>) {
    let rights = i32::from(view.castling.0) + i32::from(view.castling.1);
    sum.add_times(&w.castling_right, rights);
}

/// Returns the squares of the king's wing: files a to d, c to f, or e to h, depending on the king's
/// file.
pub(super) fn wing(view: &View) -> BitBoard {
    const WINGS: [BitBoard; 3] =
        [BitBoard(0x0f0f_0f0f_0f0f_0f0f), CENTRE_FILES, BitBoard(0xf0f0_f0f0_f0f0_f0f0)];
    const WING_OF_FILE: [usize; 8] = [0, 0, 0, 1, 1, 2, 2, 2];
    WINGS[WING_OF_FILE[file(view.us.king)]]
}

fn nearest_rank(pawns: BitBoard) -> usize {
    if none(pawns) { 0 } else { rank(lowest(pawns)) }
}
