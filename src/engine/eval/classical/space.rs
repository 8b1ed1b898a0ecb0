//! Space: safe squares in a side's own camp, in which its pieces can manoeuvre. Unattacked squares
//! behind its own pawns count twice.

use super::bitboards::*;
use super::trace::{Sum, Trace};
use super::view::{Attacks, View};
use super::weights::Weights;
use crate::chess::position::BitBoard;

pub(super) fn evaluate<T: Trace>(view: &View, theirs: &Attacks, w: &Weights, sum: &mut Sum<'_, T>) {
    const CAMP: BitBoard = BitBoard(CENTRE_FILES.0 & ranks(2, 4).0);
    let safe = CAMP & !view.us.pawns & !view.their_pawn_attacks;
    let behind = safe & fill_down(view.us.pawns) & !theirs.all;
    sum.add_times(&w.space, count(safe) + count(behind));
}
