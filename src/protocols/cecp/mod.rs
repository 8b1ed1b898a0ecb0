//! The Chess Engine Communication Protocol of xboard and WinBoard.
//!
//! Both [`Command`] and [`Reply`] can be parsed and printed, so the engine and the match runner
//! share them. The specification is <https://www.gnu.org/software/xboard/engine-intf.html>.
//!
//! xboard searches free text for words that it interprets as a result, a draw offer or a failed
//! start. When a [`Reply`] is printed, these words are replaced (`text::shield`).
//!
//! ```
//! use tabia::cecp::{Command, Reply};
//!
//! let command: Command = "level 40 5 0".parse().expect("a command");
//! assert!(matches!(command, Command::Level(_)));
//! let reply = Reply::from("12 34 150 98765 20 658433 0\te4 e5");
//! let Reply::Thinking(thinking) = &reply else { panic!("{reply}") };
//! assert_eq!((thinking.depth, thinking.nodes, thinking.line.as_str()), (12, 98_765, "e4 e5"));
//! ```

mod command;
mod features;
mod messages;
mod option;
mod reply;
mod session;
mod syntax;
mod text;

pub use crate::engine::controller::Level;
pub use crate::engine::search::Bound;
pub use command::{Command, MoveSet};
pub use option::{OptionKind, OptionSpec};
pub use reply::{Audience, Extras, Feature, FeatureValue, Reply, Status, Thinking};
pub(crate) use session::Session;
pub(crate) use text::{FATAL, from_protocol_score};
