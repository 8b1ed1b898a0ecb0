//! Texel's tuning method, which finds the weights that best predict game results.
//!
//! A logistic curve maps the static score of a quiet position to an expected result. Gradient
//! descent minimises the mean squared error of this prediction by adjusting all weights at once.
//! Source: <https://www.chessprogramming.org/Texel%27s_Tuning_Method>. The gradient, including its
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
