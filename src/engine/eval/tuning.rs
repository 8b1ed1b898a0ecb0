//! The evaluation for the tuner: which weights a position uses, and how often.

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

/// All features of a position that determine its score, besides the weights.
#[derive(Debug, Clone)]
pub(crate) struct EvalFeatures {
    /// How often each weight counts, White first.
    pub counts: [Vec<i32>; 2],
    /// The phase of the game, from [`FULL_PHASE`] to 0.
    pub phase: i32,
    /// Scale of an endgame advantage of White, and of Black, in parts of [`FULL_SCALE`].
    pub scales: [i32; 2],
}

/// Extracts the features of positions.
pub(crate) struct Tracer(PawnTable);

impl Tracer {
    pub(crate) fn new() -> Self {
        Tracer(PawnTable::new())
    }

    /// Returns the features of a position; `None` if it is a known endgame, which uses no weight.
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
