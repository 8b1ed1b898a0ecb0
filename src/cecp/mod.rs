//! The Chess Engine Communication Protocol, as xboard and WinBoard speak it.
//!
//! [`Command`] is what a GUI tells an engine, [`Reply`] what the engine tells the GUI; each can be
//! parsed and printed, so that the engine and the match runner share them. The specification is
//! <https://www.gnu.org/software/xboard/engine-intf.html>.

mod command;
mod features;
mod option;
mod reply;
mod say;
mod session;
mod syntax;
mod text;

pub use crate::engine::Level;
pub use crate::search::Bound;
pub use command::{Command, MoveSet};
pub use features::options;
pub use option::{OptionKind, OptionSpec};
pub use reply::{Audience, Extras, Feature, FeatureValue, Reply, Status, Thinking};
pub use session::Session;
pub use syntax::{COMMANDS, CommandError, Syntax, looks_like_move};
pub use text::{FATAL, MATE_BASE, from_protocol_score, shield, to_protocol_score};
