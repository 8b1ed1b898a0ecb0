//! Data for tuning the evaluation: how many times each weight is used in a position.

pub(crate) use super::classical::FULL_PHASE;
pub(crate) use super::classical::endgame::FULL_SCALE;
pub(crate) use super::classical::safety::{DANGER_DIVISOR, DANGER_LIMIT};
pub(crate) use super::classical::weights::{FIELDS, Field, Term, WEIGHTS, Weights};
pub(crate) use super::tapered::Tapered;

use super::classical::pawn_table::PawnTable;
use super::classical::trace::TermCounts;
use super::classical::tuned::TUNED;
use super::classical::{Assessment, assess, endgame, phase, views};
use crate::chess::position::Position;

pub(crate) fn tuned() -> &'static Weights {
    &TUNED
}

/// The features of a position. Together with the weights, they determine its score.
#[derive(Debug, Clone)]
pub(crate) struct EvalFeatures {
    /// Number of times each weight is used, for White and then for Black.
    pub counts: [Vec<i32>; 2],
    /// The game phase, from [`FULL_PHASE`] with all pieces on the board to 0 with only kings and
    /// pawns.
    pub phase: i32,
    /// Scale factors for the endgame score if White is ahead and if Black is ahead, in units of
    /// 1/[`FULL_SCALE`].
    pub scales: [i32; 2],
}

pub(crate) struct Tracer(PawnTable);

impl Tracer {
    pub(crate) fn new() -> Self {
        Tracer(PawnTable::new())
    }

    /// Returns the features of a position, or `None` for a known endgame, which is scored without
    /// the weights.
    pub(crate) fn features(&mut self, position: &Position) -> Option<EvalFeatures> {
        let mut counts = TermCounts::new(&TUNED);
        match assess(position, &TUNED, &mut self.0, &mut counts) {
            Assessment::Known(_) => None,
            Assessment::Sum { .. } => {
                let views = views(position);
                Some(EvalFeatures {
                    counts: counts.counts,
                    phase: phase(&views[0]),
                    scales: [endgame::scale(&views[0]), endgame::scale(&views[1])],
                })
            }
        }
    }
}

impl Default for Tracer {
    fn default() -> Self {
        Self::new()
    }
}
