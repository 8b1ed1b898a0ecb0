//! Tuning an engine's options by games: simultaneous perturbation stochastic approximation.
//!
//! Two copies of one engine play each other, all parameters of the one a little off to one side,
//! those of the other as much to the other; the score moves all of them at once. So an iteration
//! costs the same games however many parameters there are.
//!
//! Sources: J. C. Spall, "Multivariate Stochastic Approximation Using a Simultaneous Perturbation
//! Gradient Approximation" (1992), and "Implementation of the Simultaneous Perturbation Algorithm
//! for Stochastic Optimization" (1998) for the gain sequences; the parameters of the schedule are
//! those of Stockfish's testing framework, see <https://www.chessprogramming.org/SPSA>.
//!
//! From below: `parameter` is what is tuned, `gains` how far it goes, `tuner` the mathematics
//! without any games, `checkpoint` keeps where it stands, `pairs` plays the games, and `tuning` is
//! all of it.

mod checkpoint;
mod gains;
mod pairs;
mod parameter;
mod picture;
mod tuner;
mod tuning;

pub(crate) use checkpoint::{Tally, is_checkpoint};
pub(crate) use parameter::{Parameter, check_names, read_parameters};
pub(crate) use picture::{digits, picture};
pub(crate) use tuner::{Plan, Tuner};
pub(crate) use tuning::{TuneEvent, Tuning};
