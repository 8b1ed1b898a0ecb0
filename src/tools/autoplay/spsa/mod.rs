//! Tuning of an engine's options by games: simultaneous perturbation stochastic approximation.
//!
//! Two copies of one engine play each other. All parameters of one copy are shifted a little in one
//! direction, those of the other by the same amount in the opposite direction. The score moves all
//! parameters at once, so the games of an iteration do not depend on the number of parameters.
//!
//! From the bottom up: `parameter` is a tuned option, `gains` the step sizes, `tuner` the
//! mathematics without games, `journal` the saved state, `pairs` plays the games, and `tuning`
//! runs the iterations. The workers of `pairs` have two copies of the engine, which get their
//! values before each game.
//!
//! The journal stores the scores, not the values. All random numbers follow from the seed and the
//! number of the iteration, so a resumed tuning takes the same path as an uninterrupted one.
//!
//! Sources: J. C. Spall, "Multivariate Stochastic Approximation Using a Simultaneous Perturbation
//! Gradient Approximation" (1992), and "Implementation of the Simultaneous Perturbation Algorithm
//! for Stochastic Optimization" (1998) for the gain sequences; the parameters of the schedule are
//! those of Stockfish's testing framework, see <https://www.chessprogramming.org/SPSA>.

mod gains;
mod journal;
mod pairs;
mod parameter;
mod picture;
mod tuner;
mod tuning;

pub(crate) use journal::{Tally, is_journal};
pub(crate) use parameter::{Parameter, check_names, read_parameters};
pub(crate) use picture::{digits, picture};
pub(crate) use tuner::{Plan, Tuner};
pub(crate) use tuning::{TuneEvent, Tuning};
