//! The ways to choose among the moves of a book, and their names.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

/// How a move is chosen, after GNU Chess (`book on|off|best|worst|random|prefer`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Policy {
    /// The book is not asked.
    Off,
    /// The move whose score is the highest for certain, see [`Chooser::confidence`](super::chooser::Chooser::confidence).
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

/// Makes the lists of policies from one table, so that help, options and errors name the same.
macro_rules! policies {
    ($($variant:ident = $name:literal),+) => {
        impl Policy {
            /// All policies, the default first and `off` last, in the order in which lists name them.
            pub const ALL: [Policy; [$($name),+].len()] = [$(Policy::$variant),+];
            /// The names of all policies and [`Policy::ON`], as usages show them.
            pub(crate) const USAGE: &str = concat!("on", $("|", $name),+);
            /// The same where a file may stand in place of them.
            pub(crate) const USAGE_OR_FILE: &str = concat!("[on", $("|", $name),+, "|FILE]");

            /// The name, by which users choose it.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Policy::$variant => $name),+
                }
            }
        }
    };
}

policies! {
    Prefer = "prefer",
    Frequency = "frequency",
    Weighted = "weighted",
    Random = "random",
    Best = "best",
    Worst = "worst",
    Off = "off"
}

impl Policy {
    /// The policies that use the book: all but `off`.
    pub const IN_USE: [Policy; Self::ALL.len() - 1] = {
        let [used @ .., Policy::Off] = Self::ALL else { panic!("`off` is the last of all") };
        used
    };
    /// The word for the default policy where a book is turned on.
    pub const ON: &str = "on";
}

/// A word that is no policy.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("unknown book policy {word:?}: expected one of {}", Policy::USAGE.replace('|', ", "))]
pub struct ParsePolicyError {
    word: String,
}

impl FromStr for Policy {
    type Err = ParsePolicyError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text == Policy::ON {
            return Ok(Policy::default());
        }
        let found = Policy::ALL.into_iter().find(|policy| policy.name() == text);
        found.ok_or_else(|| ParsePolicyError { word: text.to_owned() })
    }
}

impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
