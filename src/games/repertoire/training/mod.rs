//! Trains a repertoire: asks for the player's moves, and repeats those that the player forgot.
//!
//! [`Training`] prefers positions that are likely to occur in the next game and that the player has
//! probably forgotten: it draws each one with a probability proportional to the product of the two.
//! `fsrs` estimates what the player remembers, `judge` evaluates answers, and `journal` stores
//! them.

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
