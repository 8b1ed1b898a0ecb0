//! Trains a network for [`crate::engine::eval::nnue`] on self-play games, using the CPU.
//!
//! The network learns to predict, from a quiet position alone, the score that a search returned
//! and, optionally, the result of the game. Stochastic gradient descent minimises the mean squared
//! error of the expected result. An example uses only the rows of its pieces, so a step costs
//! little more than a forward and a backward pass.
//!
//! # Targets
//!
//! Searches of a few hundred nodes are wrong about as often as a static evaluation. Therefore, the
//! target of a position can be a mean over the searches for the moves that follow
//! (`data::hindsight`, the lambda of temporal differences). The expected result is computed with a
//! `Sigmoid` that is steep enough to distinguish nearly equal positions.
//!
//! # Batches
//!
//! A position takes 32 bytes and is stored from the side to move's point of view (`example`). Each
//! thread sums the gradients over its part of a batch, and then AdamW updates all weights. The
//! loops are generic over the number of neurons, so that tests can train small networks. They are
//! also compiled for AVX2 and AVX-512; all versions give bit-identical results.
//!
//! # State and result
//!
//! A checkpoint stores the complete state, so resumed training gives the same result as
//! uninterrupted training. At the end of each epoch, the weights are rounded to integers
//! (`quantise`), and the biases are adjusted to compensate for the rounding.
//!
//! Sources: Y. Nasu, "Efficiently Updatable Neural-Network based Evaluation Functions for Computer
//! Shogi" (2018). The settings are commonly used for small networks; see
//! <https://www.chessprogramming.org/NNUE>.

mod adam;
mod checkpoint;
mod data;
mod example;
mod gradient;
mod growth;
mod objective;
mod parameters;
mod plot;
mod quantise;
mod sigmoid;
mod trainer;

pub(crate) use data::{Data, Selection};
pub(crate) use parameters::Parameters;
pub(crate) use plot::plot;
pub(crate) use sigmoid::Sigmoid;
pub(crate) use trainer::{TrainProgress, TrainSettings, Trainer};

#[cfg(test)]
mod tests;
