//! An efficiently updatable neural network as evaluation.
//!
//! The network sees the pieces on the board twice, once from each side, each time through the same
//! weights: 768 inputs (own or enemy, kind, square), one for each piece that stands there, feed
//! [`HIDDEN`] neurons. A board whose own king stands on the files e to h is seen in a mirror, and
//! for each of [`KING_BUCKETS`] parts of the board where the own king may stand there are other weights.
//! The neurons of both sides, those of the side to move first, pass a squared clipped rectifier
//! and add up to the score, with weights for each of [`BUCKETS`] counts of pieces. All arithmetic
//! is on integers, so every machine computes the same score.
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
pub use network::{Network, NetworkError};
pub(crate) use pieces::{PieceSet, seen_by};

/// Neurons that see the board, for each side.
pub(crate) const HIDDEN: usize = 256;
/// Parts of the board that have weights of their own while the own king stands there.
pub(crate) const KING_BUCKETS: usize = 4;
/// Inputs with the own king in one king bucket: own and enemy pieces of six kinds on 64 squares.
pub(crate) const INPUTS_PER_KING_BUCKET: usize = 2 * 6 * 64;
/// All inputs.
pub(crate) const INPUTS: usize = KING_BUCKETS * INPUTS_PER_KING_BUCKET;
/// Sets of output weights, chosen by the number of pieces on the board.
pub(crate) const BUCKETS: usize = 8;
/// What 1.0 is as a neuron's value or a weight that leads to one. A value fits eight bits.
pub(crate) const QA: i32 = 255;
/// What 1.0 is as an output weight. Trained ones are small, nearly all within 0.4: with 64 in place of
/// 256 rounding them moves the score by 6.7 centipawns on average.
pub(crate) const QB: i32 = 256;
/// Output weights are clipped to this, so that a neuron's value times such a weight fits 16 bits.
pub(crate) const OUTPUT_WEIGHT_LIMIT: i16 = 127;
/// Centipawns for an output of 1.0; the network's expectation is the logistic of the output.
pub(crate) const SCALE: i32 = 400;
