//! Static evaluation: the value of a position without a search.
//!
//! [`Evaluator`] (one per thread) returns centipawns for the side to move; a pawn is worth about
//! 100. [`Evaluation::explain`] is for display. The default evaluation is `nnue`, a (4x768 ->
//! 256)x2 -> 1 network with integer weights and four king buckets, trained on Tabia's self-play
//! games and compiled in. `--evaluation classical` uses the classical terms.
//!
//! Positions with a lone king are always evaluated with the classical terms: the mating method is
//! known, but training games end too early for a network to learn it. In all other positions, the
//! endgame scale factor and the halfmove clock damp the network's score (`damping`).
//!
//! ```
//! use tabia::eval::{Evaluation, Evaluator};
//! use tabia::position::Position;
//!
//! let up_a_queen = Position::from_fen("4k3/8/8/8/8/8/4P3/3QK3 w - - 0 1")?;
//! let mut evaluator = Evaluator::new(&Evaluation::Classical);
//! assert!(evaluator.evaluate(&up_a_queen, 0) > 500);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod breakdown;
mod classical;
mod damping;
pub(crate) mod nnue;
mod tapered;
pub(crate) mod tuning;

pub(crate) use breakdown::breakdown;
pub(crate) use classical::tuned::LOGISTIC_SCALE;
pub use nnue::Network;
#[cfg(feature = "cli")]
pub(crate) use nnue::kernel_name;

use std::fmt;
use std::sync::Arc;

use classical::assess;
use classical::pawn_table::PawnTable;
use classical::trace::Silent;
use classical::tuned::TUNED;
use nnue::AccumulatorStack;

use crate::chess::position::{Color, Position};
use crate::chess::score::{Ply, Score};

/// The method of evaluating positions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Evaluation {
    /// The classical evaluation: a sum of named terms with tuned weights. A breakdown by term can
    /// be displayed.
    Classical,
    /// An efficiently updatable neural network.
    Nnue(Arc<Network>),
}

impl Default for Evaluation {
    fn default() -> Self {
        Evaluation::Nnue(Network::embedded())
    }
}

/// Formats the kind of evaluation and, for a network, its checksum on one line.
impl fmt::Display for Evaluation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Evaluation::Classical => f.write_str("classical"),
            Evaluation::Nnue(network) => write!(f, "network {:08x}", network.checksum()),
        }
    }
}

impl Evaluation {
    /// Describes how the score of a position is composed: the classical terms and, if a network is
    /// used, the value that the network assigns to each piece.
    pub fn explain(&self, position: &Position) -> String {
        let mut evaluator = Evaluator::new(self);
        evaluator.prepare(position, 0);
        let score = describe(evaluator.evaluate(position, 0), position);
        let used = match self {
            Evaluation::Classical => "classical",
            Evaluation::Nnue(_) => "the network",
        };
        let terms = breakdown(position);
        let network = self.network().map(|network| nnue::explain(network, position));
        let network = network.map_or_else(String::new, |network| format!("\n{network}"));
        format!("evaluation {score} ({used})\n\n{terms}{network}")
    }

    fn network(&self) -> Option<&Arc<Network>> {
        match self {
            Evaluation::Classical => None,
            Evaluation::Nnue(network) => Some(network),
        }
    }
}

fn describe(score: Score, position: &Position) -> String {
    let white = if position.side_to_move() == Color::White { score } else { -score };
    let pawns = f64::from(white) / 100.0;
    format!("{pawns:+.2} pawns for White, {score:+} centipawns for the side to move")
}

/// Evaluates positions. Each thread has its own evaluator, with a pawn table and, for a network,
/// accumulators.
#[derive(Clone)]
pub struct Evaluator {
    evaluation: Evaluation,
    pawns: PawnTable,
    network: Option<AccumulatorStack>,
}

impl Evaluator {
    /// Creates an evaluator with empty caches. The evaluator keeps a clone of `evaluation`.
    pub fn new(evaluation: &Evaluation) -> Self {
        let network =
            evaluation.network().map(|network| AccumulatorStack::new(Arc::clone(network)));
        Evaluator { evaluation: evaluation.clone(), pawns: PawnTable::new(), network }
    }

    /// Switches to `evaluation`. Clears the caches if it differs from the current one.
    pub fn set(&mut self, evaluation: &Evaluation) {
        if self.evaluation == *evaluation {
            // The two evaluations may contain equal networks that were loaded separately. Make both
            // refer to one network, so that later comparisons are fast.
            self.evaluation.clone_from(evaluation);
        } else {
            *self = Self::new(evaluation);
        }
    }

    /// Returns the score in centipawns for the side to move, never a mate or tablebase score.
    ///
    /// `ply` is the distance from the root. Network evaluation is incremental, so it is fastest if
    /// the last position evaluated at `ply - 1` was the parent of this position.
    #[inline]
    pub fn evaluate(&mut self, position: &Position, ply: Ply) -> Score {
        if is_mop_up(position) {
            return damping::damped_by_clock(position, self.terms(position));
        }
        let Some(network) = &mut self.network else { return self.terms(position) };
        damping::damped(position, network.evaluate(position, ply))
    }

    /// Prepares the accumulators for the position without evaluating it. Evaluations of its
    /// children then start from these accumulators.
    #[inline]
    pub(crate) fn prepare(&mut self, position: &Position, ply: Ply) {
        if let Some(network) = &mut self.network {
            network.prepare(position, ply);
        }
    }

    #[inline]
    fn terms(&mut self, position: &Position) -> Score {
        let score = assess(position, &TUNED, &mut self.pawns, &mut Silent).score();
        match position.side_to_move() {
            Color::White => score,
            Color::Black => -score,
        }
    }
}

#[inline]
fn is_mop_up(position: &Position) -> bool {
    let lone = |color| position.by_color(color).popcnt() == 1;
    lone(Color::White) || lone(Color::Black)
}

impl Default for Evaluator {
    fn default() -> Self {
        Self::new(&Evaluation::default())
    }
}

#[cfg(test)]
mod tests;
