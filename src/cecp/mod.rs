//! The Chess Engine Communication Protocol, as xboard and WinBoard speak it.
//!
//! [`Command`] is what a GUI tells an engine, [`Reply`] what the engine tells the GUI; each can be
//! parsed and printed, so that the engine and the match runner share them. The specification is
//! <https://www.gnu.org/software/xboard/engine-intf.html>.

mod command;
mod option;
mod reply;
mod syntax;
mod text;

pub use command::{Command, Level, MoveSet};
pub use option::{OptionKind, OptionSpec};
pub use reply::{Audience, Bound, Extras, Feature, FeatureValue, Reply, Status, Thinking};
pub use syntax::{COMMANDS, CommandError, Syntax, looks_like_move};
pub use text::{MATE_BASE, from_protocol_score, shield, to_protocol_score};
