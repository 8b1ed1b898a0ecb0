//! The classical evaluation: named terms, modelled on GNU Chess, with one file per term.
//!
//! Each term is summed separately for the middlegame and the endgame. Sources: the GNU Chess manual
//! for the scheme, and <https://www.chessprogramming.org/Evaluation> for the terms.
//!
//! Terms are evaluated for one side at a time. A term receives a `View` of the position in which
//! that side moves up the board, so its code does not depend on the side's colour. Every weight is
//! added through `Sum`, and a `Trace` can record these additions, so evaluation, explanation and
//! tuning share the same code.

mod bishops;
mod bitboards;
mod centre;
pub(in crate::engine::eval) mod endgame;
mod king;
mod knights;
mod material;
mod mobility;
mod passed;
pub(in crate::engine::eval) mod pawn_table;
mod pawns;
mod queens;
mod rooks;
pub(in crate::engine::eval) mod safety;
mod space;
mod threats;
pub(in crate::engine::eval) mod trace;
pub(in crate::engine::eval) mod tuned;
pub(in crate::engine::eval) mod view;
pub(in crate::engine::eval) mod weights;

use bitboards::count;
use endgame::FULL_SCALE;
use pawn_table::PawnTable;
use trace::{Sum, Trace};
use view::{Attacks, View};
use weights::Weights;

use super::tapered::Tapered;
use crate::chess::position::{BitBoard, Color, Position};
use crate::chess::score::Score;

/// The game phase with all pieces on the board. The phase falls as pieces are exchanged, and is 0
/// when only kings and pawns are left.
pub(crate) const FULL_PHASE: i32 = 24;

pub(in crate::engine::eval) enum Assessment {
    Known(Score),
    /// The sum of White's terms minus the sum of Black's terms.
    Sum {
        total: Tapered,
        /// The game phase, from [`FULL_PHASE`] with all pieces on the board to 0 with only kings
        /// and pawns.
        phase: i32,
        /// Factor by which the endgame score is multiplied, in units of 1/[`FULL_SCALE`].
        scale: i32,
    },
}

impl Assessment {
    #[inline]
    pub(super) fn score(&self) -> Score {
        match *self {
            Assessment::Known(score) => score,
            Assessment::Sum { total, phase, scale } => {
                let endgame = total.endgame() * scale / FULL_SCALE;
                (total.middlegame() * phase + endgame * (FULL_PHASE - phase)) / FULL_PHASE
            }
        }
    }
}

#[inline]
fn sides(views: &[View; 2]) -> impl Iterator<Item = (Color, &View)> {
    [Color::White, Color::Black].into_iter().zip(views)
}

pub(in crate::engine::eval) fn views(position: &Position) -> [View; 2] {
    [View::new(position, Color::White), View::new(position, Color::Black)]
}

/// Evaluates a position. Records every weight in `trace`, unless the position is a known win, which
/// uses no weights.
pub(in crate::engine::eval) fn assess<T: Trace>(
    position: &Position,
    w: &Weights,
    table: &mut PawnTable,
    trace: &mut T,
) -> Assessment {
    let views = views(position);
    if let Some(score) = known_win(&views) {
        return Assessment::Known(score);
    }
    let pawns = table.look_up(position, &views, w, trace);
    let (white, white_attacks) = pieces(&views[0], Color::White, w, trace);
    let (black, black_attacks) = pieces(&views[1], Color::Black, w, trace);
    let mut total = white - black + pawns.score(Color::White) - pawns.score(Color::Black);
    total += interactions(
        &views[0],
        Color::White,
        pawns.passed[0],
        [&white_attacks, &black_attacks.turned()],
        w,
        trace,
    );
    total -= interactions(
        &views[1],
        Color::Black,
        pawns.passed[1],
        [&black_attacks, &white_attacks.turned()],
        w,
        trace,
    );
    let mut tempo = Sum::new(position.side_to_move(), trace);
    tempo.add(&w.tempo);
    match position.side_to_move() {
        Color::White => total += tempo.score,
        Color::Black => total -= tempo.score,
    }
    let strong = usize::from(total.endgame() < 0);
    Assessment::Sum { total, phase: phase(&views[0]), scale: endgame::scale(&views[strong]) }
}

fn known_win(views: &[View; 2]) -> Option<Score> {
    let won = endgame::known_win(&views[0]);
    won.or_else(|| endgame::known_win(&views[1]).map(|score| -score))
}

/// Returns the game phase: each minor piece counts as one, each rook as two and each queen as four,
/// up to [`FULL_PHASE`].
pub(in crate::engine::eval) fn phase(view: &View) -> i32 {
    let of = |pieces: &view::Pieces| {
        count(pieces.knights | pieces.bishops) + 2 * count(pieces.rooks) + 4 * count(pieces.queens)
    };
    (of(&view.us) + of(&view.them)).min(FULL_PHASE)
}

#[inline]
fn pieces<T: Trace>(view: &View, side: Color, w: &Weights, trace: &mut T) -> (Tapered, Attacks) {
    let mut sum = Sum::new(side, trace);
    let mut attacks = Attacks::new(view);
    material::evaluate(view, w, &mut sum);
    knights::evaluate(view, &mut attacks, w, &mut sum);
    bishops::evaluate(view, &mut attacks, w, &mut sum);
    rooks::evaluate(view, &mut attacks, w, &mut sum);
    queens::evaluate(view, &mut attacks, w, &mut sum);
    king::castling(view, w, &mut sum);
    (sum.score, attacks)
}

#[inline]
fn interactions<T: Trace>(
    view: &View,
    side: Color,
    passed: BitBoard,
    [ours, theirs]: [&Attacks; 2],
    w: &Weights,
    trace: &mut T,
) -> Tapered {
    let mut sum = Sum::new(side, trace);
    passed::evaluate(view, passed, theirs, w, &mut sum);
    safety::evaluate(view, ours, theirs, w, &mut sum);
    threats::evaluate(view, ours, theirs, w, &mut sum);
    centre::evaluate(ours, w, &mut sum);
    space::evaluate(view, theirs, w, &mut sum);
    sum.score
}
