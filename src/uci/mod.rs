//! The Universal Chess Interface: the same engine with another face.
//!
//! [`Command`] is what a GUI tells an engine, [`Reply`] what the engine tells the GUI; each can be
//! parsed and printed, so that the engine and the match runner share them.
//!
//! Source: the protocol's text by Stefan Meyer-Kahlen,
//! <https://www.shredderchess.com/chess-features/uci-universal-chess-interface.html>.

mod command;
mod reply;
mod session;
mod win_rate;

pub use command::{Command, Go, Start, UnknownCommand};
pub use reply::{Info, Reply};
pub use session::Session;
pub use win_rate::{WinRate, win_rate};
