//! Evaluation with an efficiently updatable neural network.
//!
//! The network reads the board twice with the same weights, once from each side's view. There are
//! 768 inputs, one for each combination of a piece's owner (own or enemy), kind and square. The
//! inputs feed [`HIDDEN`] neurons. If the view's own king is on files e to h, the board is
//! mirrored. The weights also depend on which of [`KING_BUCKETS`] regions contains this king. The
//! neuron values pass through a squared clipped rectifier. The values for the side to move come
//! first, followed by those for the other side. The score is their weighted sum. Separate output
//! weights exist for each of [`BUCKETS`] ranges of the number of pieces. All arithmetic uses
//! integers, so the score is the same on every machine.
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
pub use network::Network;
pub(crate) use pieces::{PieceSet, seen_by};

/// Number of neurons in the hidden layer, for each side.
pub(crate) const HIDDEN: usize = 256;
/// Number of regions for the view's own king, each with separate weights.
pub(crate) const KING_BUCKETS: usize = 4;
/// Number of inputs per king bucket: own and enemy pieces, six kinds, 64 squares.
pub(crate) const INPUTS_PER_KING_BUCKET: usize = 2 * 6 * 64;
pub(crate) const INPUTS: usize = KING_BUCKETS * INPUTS_PER_KING_BUCKET;
/// Number of sets of output weights. The number of pieces on the board selects one of the sets.
pub(crate) const BUCKETS: usize = 8;
/// The integer that represents 1.0 in neuron values and input weights. A value fits in eight bits.
pub(crate) const QA: i32 = 255;
/// The integer that represents 1.0 in output weights.
///
/// Trained output weights are small. Nearly all are between -0.4 and 0.4. If this constant were 64
/// instead of 256, rounding the weights would change the score by 6.7 centipawns on average.
pub(crate) const QB: i32 = 256;
/// Maximum absolute output weight. With this limit, the product of a neuron value and a weight
/// fits in 16 bits.
pub(crate) const OUTPUT_WEIGHT_LIMIT: i16 = 127;
/// Number of centipawns for an output of 1.0. The expected result is the logistic function of the
/// output.
pub(crate) const SCALE: i32 = 400;
