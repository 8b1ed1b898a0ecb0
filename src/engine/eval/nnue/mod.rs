//! Evaluation with an efficiently updatable neural network.
//!
//! The network reads the board twice, once from each side's point of view. The 768 inputs, one for
//! each combination of a piece's owner, kind and square, feed [`HIDDEN`] neurons. If the viewing
//! side's king is on files e to h, the board is mirrored. The square of that king also selects one
//! of [`KING_BUCKETS`] sets of input weights, which both points of view share. The values of the
//! neurons pass through a squared clipped rectifier. The score is their weighted sum, with a
//! separate set of output weights for each of [`BUCKETS`] ranges of the piece count. All arithmetic
//! uses integers, so the score is the same on every machine.
//!
//! Sources: Y. Nasu, "Efficiently Updatable Neural-Network based Evaluation Functions for Computer
//! Shogi" (2018); <https://www.chessprogramming.org/NNUE>; for the integer arithmetic,
//! <https://official-stockfish.github.io/docs/nnue-pytorch-wiki/docs/nnue.html>.

mod accumulator;
mod explain;
mod file;
mod kernel;
mod network;
mod pieces;

pub(crate) use accumulator::AccumulatorStack;
pub(crate) use explain::explain;
#[cfg(test)]
pub(crate) use file::tests::narrowed;
#[cfg(feature = "cli")]
pub(crate) use kernel::name as kernel_name;
pub use network::Network;
pub(crate) use pieces::{PieceSet, seen_by};

/// Number of neurons in the hidden layer, a multiple of 128 (see `kernel.rs`).
pub(crate) const HIDDEN: usize = 256;
pub(crate) const KING_BUCKETS: usize = 4;
/// Number of inputs per king bucket: one for each side (own or enemy), kind of piece and square.
pub(crate) const INPUTS_PER_KING_BUCKET: usize = 2 * 6 * 64;
pub(crate) const INPUTS: usize = KING_BUCKETS * INPUTS_PER_KING_BUCKET;
/// Number of sets of output weights. The number of pieces on the board determines which set is
/// used.
pub(crate) const BUCKETS: usize = 8;
/// The integer that represents 1.0 in neuron values and input weights. Clipped neuron values
/// therefore fit in eight bits.
pub(crate) const QA: i32 = 255;
/// The integer that represents 1.0 in output weights.
///
/// Nearly all output weights are between -0.4 and 0.4. With 64 instead of 256, rounding would
/// change the score by 6.7 centipawns on average.
pub(crate) const QB: i32 = 256;
/// Maximum absolute output weight, chosen so that its product with a neuron value fits in 16 bits.
pub(crate) const OUTPUT_WEIGHT_LIMIT: i16 = 127;
/// Score in centipawns that corresponds to a network output of 1.0. The expected result of the game
/// is the logistic function of the output.
pub(crate) const SCALE: i32 = 400;
