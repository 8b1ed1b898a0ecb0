//! The Universal Chess Interface, which is the second protocol supported by the engine.
//!
//! Both [`Command`] and [`Reply`] can be parsed and printed, so the engine and the match runner
//! share them. Source: the specification by Stefan Meyer-Kahlen,
//! <https://www.shredderchess.com/chess-features/uci-universal-chess-interface.html>.
//!
//! ```
//! use tabia::uci::{Command, Reply};
//!
//! let command: Command = "go wtime 60000 btime 60000 movestogo 40".parse().expect("a command");
//! assert_eq!(command.to_string(), "go wtime 60000 btime 60000 movestogo 40");
//! let reply = Reply::from("info depth 12 score cp 34 nodes 98765 pv e2e4 e7e5");
//! let Reply::Info(info) = &reply else { panic!("{reply:?}") };
//! assert_eq!((info.depth, info.nodes), (Some(12), Some(98_765)));
//! ```

mod command;
mod lag;
mod reply;
mod session;
mod win_rate;

pub use command::{Command, Go, Start};
pub use reply::{Info, Reply};
pub(crate) use session::Session;
pub use win_rate::WinRate;
