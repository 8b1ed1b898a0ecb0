//! Trains a network for [`crate::engine::eval::nnue`] on self-play games, on the CPU.
//!
//! The network learns to predict the search scores of quiet positions and, optionally, the results
//! of their games. Training uses stochastic gradient descent. By default it minimises the mean
//! squared error of the predicted game result. Each example uses only the rows of weights that
//! belong to its pieces, so the cost of an example does not depend on the number of inputs.
//!
//! # Targets
//!
//! The target of a position can be a weighted mean of the search scores of its move and of later
//! moves (`data::hindsight`; compare lambda in temporal-difference learning). A `Sigmoid` converts
//! scores to expected results. It is steep enough to distinguish nearly equal positions.
//!
//! # Batches
//!
//! A position takes 32 bytes and is stored from the side to move's point of view (`example`). Each
//! thread sums the gradients over its part of a batch, and then AdamW updates all weights. The
//! loops are generic over the number of neurons, so that tests can train small networks.
//!
//! # State and result
//!
//! A checkpoint stores the complete state, so resumed training gives the same result. At the end of
//! each epoch, the weights are rounded to integers (`quantise`), and the biases are adjusted to
//! compensate for the rounding.
//!
//! Sources: Y. Nasu, "Efficiently Updatable Neural-Network based Evaluation Functions for Computer
//! Shogi" (2018). The settings are those commonly used for small networks; see
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
pub(crate) use gradient::kernel_name;
pub(crate) use parameters::Parameters;
pub(crate) use plot::plot;
pub(crate) use sigmoid::Sigmoid;
pub(crate) use trainer::{TrainProgress, TrainSettings, Trainer};

#[cfg(test)]
mod tests;
