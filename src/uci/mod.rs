//! The Universal Chess Interface: the same engine with another face.
//!
//! Source: the protocol's text by Stefan Meyer-Kahlen,
//! <https://www.shredderchess.com/chess-features/uci-universal-chess-interface.html>.

mod command;
mod session;
mod win_rate;

pub use command::{Command, Go, Start};
pub use session::Session;
pub use win_rate::{WinRate, win_rate};
