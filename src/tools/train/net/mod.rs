//! Training of a network for [`crate::engine::eval::nnue`] on self-play games, on the CPU.
//!
//! From a quiet position alone, the network learns to predict the score that the search returned
//! and, optionally, the result of the game. Stochastic gradient descent minimises the mean square
//! error of the expected result. An example touches only the rows of its pieces, so a step costs
//! little more than a forward and a backward evaluation.
//!
//! # Targets
//!
//! Searches of a few hundred nodes are wrong about as often as a static evaluation. The target of a
//! position can therefore be a mean over the searches of the moves after it (`data::hindsight`, the
//! lambda of temporal differences). The expected result is computed with a `Sigmoid` that is steep
//! enough to distinguish nearly equal positions.
//!
//! # Batches
//!
//! A position takes 32 bytes, seen by the side to move (`example`). Each thread sums the gradient
//! of its share of a batch; AdamW then updates all weights. The loops are generic over the number
//! of neurons, so tests train small networks. They are compiled for AVX2 and AVX-512 too and give
//! the same bits on all of these.
//!
//! # State and result
//!
//! A checkpoint stores the complete state, so resumed training equals uninterrupted training. At
//! the end of each epoch the weights are rounded to integers (`quantise`); the biases compensate
//! for the rounding.
//!
//! Sources: Y. Nasu, "Efficiently Updatable Neural-Network based Evaluation Functions for Computer
//! Shogi" (2018); the settings are those commonly used for small networks, see
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
