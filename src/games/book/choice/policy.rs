//! The policies for choosing book moves, and their names.

use std::fmt;
use std::str::FromStr;

use crate::support::error::ParseError;

/// How to choose a move. Modelled on GNU Chess (`book on|off|best|worst|random|prefer`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Policy {
    /// Does not use the book.
    Off,
    /// Chooses the move with the highest lower bound of the score (see
    /// [`Chooser::confidence`](super::chooser::Chooser::confidence)).
    Best,
    /// Chooses the move with the lowest upper bound of the score, for handicap games and testing.
    Worst,
    /// Chooses any book move with equal probability.
    Random,
    /// Chooses moves at random. If the book has weights, the probability of a move is proportional
    /// to its weight. Otherwise it is proportional to the move's number of games, and moves that
    /// are rare or clearly worse than another are ignored. `on` selects this policy.
    #[default]
    Prefer,
    /// Chooses moves at random. If the book has weights, the probability of a move is proportional
    /// to its weight. Otherwise it increases with the lower bound of the move's score.
    Weighted,
    /// Chooses moves in proportion to how often they were played, regardless of their scores. This
    /// imitates the players of the book's games.
    Frequency,
}

/// Generates the policies' names and all lists of them from one table, so that help texts, options
/// and error messages agree.
macro_rules! policies {
    ($($variant:ident = $name:literal),+) => {
        impl Policy {
            /// All policies in display order: the default first, `off` last.
            pub const ALL: [Policy; [$($name),+].len()] = [$(Policy::$variant),+];
            pub(crate) const NAMES: [&str; Self::ALL.len()] = [$($name),+];
            pub(crate) const USAGE: &str = concat!("on", $("|", $name),+);
            /// The policy names, in the form used by the usage line of a command that also accepts
            /// a file.
            pub(crate) const USAGE_OR_FILE: &str = concat!("[on", $("|", $name),+, "|FILE]");

            /// The name shown to users.
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
    /// All policies that use the book, which excludes `off`.
    pub const IN_USE: [Policy; Self::ALL.len() - 1] = {
        let [used @ .., Policy::Off] = Self::ALL else { panic!("`off` is the last of all") };
        used
    };
    /// The word that selects the default policy.
    pub const ON: &str = "on";
}

impl FromStr for Policy {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text == Policy::ON {
            return Ok(Policy::default());
        }
        let found = Policy::ALL.into_iter().find(|policy| policy.name() == text);
        found.ok_or_else(|| {
            let names = Policy::USAGE.replace('|', ", ");
            ParseError(format!("unknown book policy {text:?}: expected one of {names}"))
        })
    }
}

impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
