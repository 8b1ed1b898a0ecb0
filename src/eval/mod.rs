//! Static evaluation: what a position is worth without searching.
//!
//! [`Evaluator`] serves the search, [`breakdown()`] people. A score of 100 is about a pawn.

mod breakdown;
mod classical;
mod damping;
pub mod nnue;
mod tapered;
pub mod tuning;

pub use breakdown::{Breakdown, breakdown};
pub use classical::tuned::LOGISTIC_SCALE;

use std::path::Path;
use std::sync::Arc;

use classical::assess;
use classical::pawn_table::PawnTable;
use classical::trace::Silent;
use classical::tuned::TUNED;
use nnue::{Accumulators, Network, NetworkError};

use crate::position::{Color, Position};
use crate::score::{Ply, Score};

/// What judges positions.
#[derive(Clone)]
pub enum Evaluation {
    /// Terms with tuned weights, which explain themselves.
    Classical,
    /// A network.
    Nnue(Arc<Network>),
}

impl Default for Evaluation {
    /// The network that is built in.
    fn default() -> Self {
        Evaluation::Nnue(Network::embedded())
    }
}

impl Evaluation {
    /// The network in a file.
    ///
    /// # Errors
    /// If the file cannot be read or is no network.
    pub fn open(path: &Path) -> Result<Self, NetworkError> {
        Network::open(path).map(|network| Evaluation::Nnue(Arc::new(network)))
    }

    /// What there is to say of a position: the classical terms, and a network's view of each man.
    pub fn explain(&self, position: &Position) -> String {
        match self {
            Evaluation::Classical => breakdown(position).to_string(),
            Evaluation::Nnue(network) => {
                format!("{}\n{}", breakdown(position), nnue::explain(network, position))
            }
        }
    }

    /// Whether both are the same.
    pub fn is(&self, other: &Evaluation) -> bool {
        match (self, other) {
            (Evaluation::Classical, Evaluation::Classical) => true,
            (Evaluation::Nnue(one), Evaluation::Nnue(other)) => {
                Arc::ptr_eq(one, other) || one == other
            }
            _ => false,
        }
    }
}

/// Evaluates positions; each thread has its own, with a table of pawn structures or the neurons'
/// values along its line.
#[derive(Clone)]
pub struct Evaluator {
    pawns: PawnTable,
    network: Option<Accumulators>,
}

impl Evaluator {
    /// An evaluator that has seen nothing yet.
    pub fn new(evaluation: &Evaluation) -> Self {
        let network = match evaluation {
            Evaluation::Classical => None,
            Evaluation::Nnue(network) => Some(Accumulators::new(Arc::clone(network))),
        };
        Evaluator { pawns: PawnTable::new(), network }
    }

    /// Changes to `evaluation`, if it is not in use already.
    pub fn set(&mut self, evaluation: &Evaluation) {
        let in_use = match &self.network {
            None => Evaluation::Classical,
            Some(network) => Evaluation::Nnue(Arc::clone(network.network())),
        };
        if !in_use.is(evaluation) {
            *self = Self::new(evaluation);
        }
    }

    /// The score in centipawns for the side to move; never a mate or a tablebase score. `ply` is
    /// the position's distance from the root: a network is fastest if the position above it was
    /// the last one evaluated there.
    #[inline]
    pub fn evaluate(&mut self, position: &Position, ply: Ply) -> Score {
        if let Some(network) = &mut self.network
            && !is_mop_up(position)
        {
            return damping::damped(position, network.evaluate(position, ply));
        }
        let score = assess(position, &TUNED, &mut self.pawns, &mut Silent).score();
        match position.side_to_move() {
            Color::White => score,
            Color::Black => -score,
        }
    }
}

/// Whether a side has nothing but its king. How to drive it to mate is known, and no network
/// learns it from games that end before.
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
