//! The Universal Chess Interface: the same engine with another face.
//!
//! Source: the protocol's text by Stefan Meyer-Kahlen,
//! <https://www.shredderchess.com/chess-features/uci-universal-chess-interface.html>.

mod command;
mod session;

pub use command::{Command, Go};
pub use session::Session;
