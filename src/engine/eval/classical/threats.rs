//! Threats: attacks on enemy pieces that are poorly defended or more valuable than the attacker.

use chess::{get_bishop_moves, get_knight_moves, get_rook_moves};

use super::bitboards::*;
use super::trace::{Sum, Trace};
use super::view::{Attacks, View};
use super::weights::Weights;
use crate::chess::position::BitBoard;
use crate::engine::eval::tapered::Tapered;

pub(super) fn evaluate<T: Trace>(
    view: &View,
    ours: &Attacks,
    theirs: &Attacks,
    w: &Weights,
    sum: &mut Sum<'_, T>,
) {
    let strongly_defended = theirs.pawns | theirs.twice & !ours.twice;
    let pieces = view.them.pieces();
    let weak = view.them.all & ours.all & !strongly_defended;
    let minors = (ours.knights | ours.bishops) & (weak | pieces);
    attacked(minors, view, &w.threat_by_minor, sum);
    attacked(ours.rooks & (weak | view.them.queens), view, &w.threat_by_rook, sum);
    sum.add_if(any(weak & ours.king), &w.threat_by_king);
    let hanging = weak & (!theirs.all | pieces & ours.twice);
    sum.add_times(&w.hanging, count(hanging));
    let restricted = theirs.all & !strongly_defended & ours.all & !view.occupied;
    sum.add_times(&w.restricted, count(restricted));
    by_pawns(view, ours, theirs, w, sum);
    if any(view.them.queens) {
        on_queen(view, ours, theirs, w, sum);
    }
}

/// Adds a weight for each enemy piece in `targets`. `weights` contains one weight for each kind of
/// piece (pawn, knight, bishop, rook, queen).
fn attacked<T: Trace>(
    targets: BitBoard,
    view: &View,
    weights: &[Tapered; 5],
    sum: &mut Sum<'_, T>,
) {
    if none(targets) {
        return;
    }
    for (weight, kind) in weights.iter().zip(view.them.kinds()) {
        sum.add_times(weight, count(kind & targets));
    }
}

/// Scores enemy pieces that our safe pawns attack, or could attack after a push to a safe square. A
/// square is safe if we defend it or the enemy does not attack it.
fn by_pawns<T: Trace>(
    view: &View,
    ours: &Attacks,
    theirs: &Attacks,
    w: &Weights,
    sum: &mut Sum<'_, T>,
) {
    let safe = !theirs.all | ours.all;
    let targets = pawn_attacks(view.us.pawns & safe) & view.them.pieces();
    if any(targets) {
        let kinds = view.them.kinds();
        for (weight, &kind) in w.threat_by_pawn.iter().zip(&kinds[1..]) {
            sum.add_times(weight, count(kind & targets));
        }
    }
    let empty = !view.occupied;
    let step = up(view.us.pawns) & empty;
    let pushes = step | up(step & ranks(3, 3)) & empty;
    let threats = pawn_attacks(pushes & safe & !theirs.pawns) & view.them.pieces();
    sum.add_times(&w.threat_by_push, count(threats));
}

/// Scores safe squares from which a piece could attack the enemy queen on the next move.
fn on_queen<T: Trace>(
    view: &View,
    ours: &Attacks,
    theirs: &Attacks,
    w: &Weights,
    sum: &mut Sum<'_, T>,
) {
    let queen = lowest(view.them.queens);
    let safe = view.mobility_area & !view.us.all & !(theirs.twice | theirs.pawns | theirs.king);
    let knight = get_knight_moves(queen) & ours.knights & safe;
    sum.add_times(&w.knight_on_queen, count(knight));
    let slider = get_bishop_moves(queen, view.occupied) & ours.bishops
        | get_rook_moves(queen, view.occupied) & ours.rooks;
    sum.add_times(&w.slider_on_queen, count(slider & safe & ours.twice));
}
