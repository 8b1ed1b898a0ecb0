//! King safety. Attacks on the king are counted in danger units, and the penalty is proportional to
//! the square of this count.
//!
//! Source: <https://www.chessprogramming.org/King_Safety#Attack_Units>.

use chess::{get_bishop_moves, get_king_moves, get_knight_moves, get_rook_moves};

use super::bitboards::*;
use super::king::wing;
use super::trace::{Sum, Trace};
use super::view::{Attacks, View};
use super::weights::Weights;
use crate::chess::position::BitBoard;
use crate::engine::eval::tapered::{Tapered, s};

/// The king safety penalty in centipawns is the square of the danger units divided by this number.
/// For example, 1024 units give a penalty of 1024.
pub(crate) const DANGER_DIVISOR: i32 = 1024;

/// Maximum number of danger units. It ensures that the penalty fits in the 16 bits of each half of
/// a [`Tapered`].
pub(crate) const DANGER_LIMIT: i32 = 2000;

pub(in crate::engine::eval) fn penalty(units: i32) -> i32 {
    let units = units.clamp(0, DANGER_LIMIT);
    units * units / DANGER_DIVISOR
}

/// Subtracts the king safety penalty of our own king from the score.
pub(super) fn evaluate<T: Trace>(
    view: &View,
    ours: &Attacks,
    theirs: &Attacks,
    w: &Weights,
    sum: &mut Sum<'_, T>,
) {
    // A single attacker is ignored, unless the enemy has a queen.
    let attackers: i32 = theirs.attackers.iter().sum();
    if attackers + i32::from(any(view.them.queens)) < 2 {
        return;
    }
    let mut danger = sum.apart();
    attack(view, ours, theirs, w, &mut danger);
    checks(view, ours, theirs, w, &mut danger);
    let units = danger.score;
    sum.score -= penalties(units);
}

fn penalties(units: Tapered) -> Tapered {
    s(penalty(units.middlegame()), penalty(units.endgame()))
}

/// Returns our weak squares: those that the enemy attacks and that we either do not defend or
/// defend only once, with the king or a queen.
fn weak_squares(ours: &Attacks, theirs: &Attacks) -> BitBoard {
    let well_defended = ours.all & !(ours.king | ours.queens);
    theirs.all & !ours.twice & !well_defended
}

/// Adds the danger units for enemy attacks near our king, for weaknesses around it, and for our
/// defenders, whose weights are mostly negative.
fn attack<T: Trace>(
    view: &View,
    ours: &Attacks,
    theirs: &Attacks,
    w: &Weights,
    danger: &mut Sum<'_, T>,
) {
    let king = view.us.king;
    danger.add(&w.danger_base);
    for (weight, &attackers) in w.danger_attacker.iter().zip(&theirs.attackers) {
        danger.add_times(weight, attackers);
    }
    danger.add_times(&w.danger_attack, theirs.king_attacks);
    let near = get_king_moves(king) | bit(king);
    let weak = near & weak_squares(ours, theirs);
    danger.add_times(&w.danger_weak_square, count(weak));
    danger.add_if(none(view.them.queens), &w.danger_no_queen);
    danger.add_if(any(ours.knights & near), &w.danger_knight_defends);
    let camp = wing(view) & ranks(1, 5);
    danger.add_times(&w.danger_wing_attack, count(camp & theirs.all));
    danger.add_times(&w.danger_wing_defence, count(camp & ours.all));
    let middle = file(king).clamp(1, 6);
    let shield = view.us.pawns & from_rank_up(king);
    let bare = (middle - 1..=middle + 1).filter(|&file| none(shield & file_set(file))).count();
    danger.add_times(&w.danger_no_shelter, bare as i32);
}

/// Adds danger units for the checks that the enemy could give. Safe and unsafe checks have separate
/// weights.
fn checks<T: Trace>(
    view: &View,
    ours: &Attacks,
    theirs: &Attacks,
    w: &Weights,
    danger: &mut Sum<'_, T>,
) {
    let king = view.us.king;
    let safe = !ours.all | weak_squares(ours, theirs) & theirs.twice;
    let occupied = view.occupied ^ view.us.queens;
    let diagonals = get_bishop_moves(king, occupied);
    let lines = get_rook_moves(king, occupied);
    let free = !view.them.all;
    let checks = [
        get_knight_moves(king) & theirs.knights,
        diagonals & theirs.bishops,
        lines & theirs.rooks,
        (diagonals | lines) & theirs.queens & !ours.queens,
    ];
    let mut unsafe_checks = BitBoard(0);
    for (weight, squares) in w.danger_safe_check.iter().zip(checks) {
        let squares = squares & free;
        if any(squares & safe) {
            danger.add(weight);
        } else {
            unsafe_checks |= squares;
        }
    }
    danger.add_times(&w.danger_unsafe_check, count(unsafe_checks));
}
