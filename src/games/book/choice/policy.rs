//! The policies for choosing among book moves, and their names.

use std::fmt;
use std::str::FromStr;

use crate::support::error::ParseError;

/// How to choose a move; modelled on GNU Chess (`book on|off|best|worst|random|prefer`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Policy {
    /// The book is not used.
    Off,
    /// The move whose score has the highest lower bound, see
    /// [`Chooser::confidence`](super::chooser::Chooser::confidence).
    Best,
    /// The move whose score has the lowest upper bound, for handicaps and for testing.
    Worst,
    /// Any book move, with equal probability.
    Random,
    /// In proportion to the games of a move, unless another move is clearly better; in a book of
    /// weights, in proportion to its weight. `on` selects this policy.
    #[default]
    Prefer,
    /// More often the higher the lower bound of a move's score; in a book of weights, like
    /// [`Policy::Prefer`].
    Weighted,
    /// In proportion to the games of a move, regardless of its score, to imitate players.
    Frequency,
}

/// Creates the lists of policies from one table, so that help, options and errors use the same
/// names.
macro_rules! policies {
    ($($variant:ident = $name:literal),+) => {
        impl Policy {
            /// All policies in the order in which lists show them: the default first, `off` last.
            pub const ALL: [Policy; [$($name),+].len()] = [$(Policy::$variant),+];
            pub(crate) const NAMES: [&str; Self::ALL.len()] = [$($name),+];
            pub(crate) const USAGE: &str = concat!("on", $("|", $name),+);
            /// All policies as a choice in usage texts that also accept a file.
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
