//! Texel's tuning method: weights that predict the results of games best.
//!
//! The score of a quiet position, put through a logistic curve, should be the expected result of
//! the game. The mean square of the difference is made small by gradient descent on all weights at
//! once. Source: <https://www.chessprogramming.org/Texel%27s_Tuning_Method>; the gradient, with
//! its treatment of the nonlinear terms, follows from A. Grant, "Evaluation & Tuning in Chess
//! Engines" (2020).

mod adam;
mod data;
mod model;
mod normal;
mod run;

pub(crate) use data::Samples;
pub(crate) use normal::normalised;
pub(crate) use run::{TuneOutcome, TuneProgress, TuneSettings, source_file, tune};
