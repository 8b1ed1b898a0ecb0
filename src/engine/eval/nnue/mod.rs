//! Evaluation by an efficiently updatable neural network.
//!
//! The network reads the board twice, once in each side's view, with the same weights. There are
//! 768 inputs (own or enemy, kind, square), one for each piece on its square, which feed [`HIDDEN`]
//! neurons. If the own king is on the files e to h, the board is mirrored. Each of [`KING_BUCKETS`]
//! regions of the own king has its own weights. The neurons of both sides, those of the side to
//! move first, pass a squared clipped rectifier and add up to the score, with output weights for
//! each of [`BUCKETS`] ranges of the number of pieces. All arithmetic is on integers, so every
//! machine computes the same score.
//!
//! Sources: Y. Nasu, "Efficiently Updatable Neural-Network based Evaluation Functions for Computer
//! Shogi" (2018); <https://www.chessprogramming.org/NNUE>; the integer arithmetic after
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

/// Neurons of the hidden layer, for each side.
pub(crate) const HIDDEN: usize = 256;
/// Regions of the own king with weights of their own.
pub(crate) const KING_BUCKETS: usize = 4;
/// Inputs per king bucket: own and enemy pieces of six kinds on 64 squares.
pub(crate) const INPUTS_PER_KING_BUCKET: usize = 2 * 6 * 64;
pub(crate) const INPUTS: usize = KING_BUCKETS * INPUTS_PER_KING_BUCKET;
/// Sets of output weights, selected by the number of pieces on the board.
pub(crate) const BUCKETS: usize = 8;
/// The representation of 1.0 as a neuron's value or a weight leading to one. A value fits eight
/// bits.
pub(crate) const QA: i32 = 255;
/// The representation of 1.0 as an output weight. Trained ones are small, nearly all within 0.4:
/// with 64 instead of 256, rounding them changes the score by 6.7 centipawns on average.
pub(crate) const QB: i32 = 256;
/// Output weights are clipped to this, so that a neuron's value times such a weight fits 16 bits.
pub(crate) const OUTPUT_WEIGHT_LIMIT: i16 = 127;
/// Centipawns for an output of 1.0; the network's expected result is the logistic of the output.
pub(crate) const SCALE: i32 = 400;
