//! Tunes an engine's options by playing games, using simultaneous perturbation stochastic
//! approximation (SPSA).
//!
//! Two copies of the same engine play each other. Each parameter is shifted slightly in one copy,
//! and by the same amount in the opposite direction in the other copy. The score then adjusts all
//! parameters at the same time, so the number of games in an iteration does not depend on the
//! number of parameters.
//!
//! The journal stores the scores. All random numbers are derived from the seed and the iteration
//! number, so a resumed run computes the same values as an uninterrupted one.
//!
//! Sources: J. C. Spall, "Multivariate Stochastic Approximation Using a Simultaneous Perturbation
//! Gradient Approximation" (1992); for the gain sequences, J. C. Spall, "Implementation of the
//! Simultaneous Perturbation Algorithm for Stochastic Optimization" (1998). The schedule has the
//! same parameters as Stockfish's testing framework; see <https://www.chessprogramming.org/SPSA>.

mod gains;
mod journal;
mod pairs;
mod parameter;
mod picture;
mod tuner;
mod tuning;

#[cfg(fuzzing)]
pub(crate) use journal::open as open_tuning_journal;
pub(crate) use journal::{Tally, is_journal};
pub(crate) use parameter::{Parameter, check_names, read_parameters};
pub(crate) use picture::{digits, picture};
pub(crate) use tuner::{Plan, Tuner};
pub(crate) use tuning::{TuneEvent, Tuning};
