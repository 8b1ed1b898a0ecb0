//! The ways to choose among the moves of a book, and their names.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

/// How a move is chosen, after GNU Chess (`book on|off|best|worst|random|prefer`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Policy {
    /// The book is not asked.
    Off,
    /// The move whose score is the highest for certain, see [`Chooser::confidence`](super::Chooser::confidence).
    Best,
    /// The move whose score is the lowest for certain: for handicaps and for testing.
    Worst,
    /// Any move of the book, all alike.
    Random,
    /// The likelier the more often it was played, unless another is clearly better; in a book of
    /// weights, as its weight says. `on` is this.
    #[default]
    Prefer,
    /// The likelier the better its certain score; in a book of weights, as [`Policy::Prefer`].
    Weighted,
    /// As often as the games played it here, however it scored: for playing like somebody.
    Frequency,
}

/// A word that is no policy.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error(
    "unknown book policy {0:?}: expected on, off, best, worst, random, prefer, weighted or frequency"
)]
pub struct ParsePolicyError(String);

impl FromStr for Policy {
    type Err = ParsePolicyError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(match text {
            "off" => Policy::Off,
            "best" => Policy::Best,
            "worst" => Policy::Worst,
            "random" => Policy::Random,
            "on" | "prefer" => Policy::Prefer,
            "weighted" => Policy::Weighted,
            "frequency" => Policy::Frequency,
            _ => return Err(ParsePolicyError(text.to_owned())),
        })
    }
}

impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Policy::Off => "off",
            Policy::Best => "best",
            Policy::Worst => "worst",
            Policy::Random => "random",
            Policy::Prefer => "prefer",
            Policy::Weighted => "weighted",
            Policy::Frequency => "frequency",
        })
    }
}
