//! The evaluation as the tuner sees it: which weights a position counts, and how often.

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

/// The weights in use.
pub(crate) fn tuned() -> &'static Weights {
    &TUNED
}

/// Everything that the score of a position depends on, besides the weights.
#[derive(Debug, Clone)]
pub(crate) struct EvalFeatures {
    /// How often each weight counts, White first.
    pub counts: [Vec<i32>; 2],
    /// The phase of the game, from [`FULL_PHASE`] to 0.
    pub phase: i32,
    /// How much of an endgame advantage counts if White, if Black has it, of [`FULL_SCALE`].
    pub scales: [i32; 2],
}

/// Takes the features of positions.
pub(crate) struct Tracer(PawnTable);

impl Tracer {
    /// A tracer.
    pub(crate) fn new() -> Self {
        Tracer(PawnTable::new())
    }

    /// The features of a position; `None` if it is a known endgame, which no weight enters.
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
