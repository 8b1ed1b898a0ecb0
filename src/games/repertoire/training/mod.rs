//! Trains a repertoire: asks for the player's moves, and repeats those that the player forgot.
//!
//! [`Training`] draws each position with a probability proportional to how likely it is that the
//! position occurs in the next game and the player does not remember the answer. `fsrs` estimates
//! what the player remembers, `judge` evaluates answers, and `journal` stores them.

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
