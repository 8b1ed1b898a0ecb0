//! Trains a repertoire: asks for the player's moves, and repeats what was not remembered.
//!
//! [`Training`] draws positions in proportion to the probability that the next game reaches the
//! position and the player does not remember the answer. `fsrs` estimates what the player
//! remembers; `judge` evaluates answers; `journal` stores them.

mod fsrs;
mod journal;
mod judge;
mod session;
#[cfg(test)]
mod tests;

pub use fsrs::{Grade, Memory, Time};
pub use journal::Verdict;
pub use judge::{MoveFacts, ReplyFacts};
pub use session::{Hint, Judgement, Progress, Question, Tally, Training, TrainingOptions};
