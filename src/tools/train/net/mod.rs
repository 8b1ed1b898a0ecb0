//! Training a network for [`crate::engine::eval::nnue`] on the engine's own games, on the processor.
//!
//! The network learns to predict, from a quiet position alone, what the search said of it (and, if
//! wanted, how the game ended). The mean square of the error of the expected result is made small
//! by stochastic gradient descent; an example touches only the rows of its pieces, so a step costs
//! little more than the evaluation itself, forwards and backwards.
//!
//! Sources: Y. Nasu, "Efficiently Updatable Neural-Network based Evaluation Functions for Computer
//! Shogi" (2018); the settings are those that small networks are commonly trained with, see
//! <https://www.chessprogramming.org/NNUE>.

mod adam;
mod checkpoint;
mod data;
mod error;
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
pub(crate) use error::{ErrorByPieceCount, errors_by_piece_count, expected_by, expected_by_others};
pub(crate) use example::Example;
pub(crate) use parameters::Parameters;
pub(crate) use plot::plot;
pub(crate) use sigmoid::Sigmoid;
pub(crate) use trainer::{TrainProgress, TrainSettings, Trainer};

#[cfg(test)]
mod tests;
