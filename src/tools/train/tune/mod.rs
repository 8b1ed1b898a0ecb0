//! Texel's tuning method: finds the weights that best predict the results of games.
//!
//! The score of a quiet position, mapped by a logistic curve, should be the expected result of the
//! game. Gradient descent on all weights at once minimises the mean square of the difference.
//! Source: <https://www.chessprogramming.org/Texel%27s_Tuning_Method>; the gradient, with its
//! treatment of the nonlinear terms, follows A. Grant, "Evaluation & Tuning in Chess Engines"
//! (2020).

mod adam;
mod data;
mod model;
mod normal;
mod run;

pub(crate) use data::Samples;
pub(crate) use normal::normalised;
pub(crate) use run::{TuneOutcome, TuneProgress, TuneSettings, source_file, tune};
