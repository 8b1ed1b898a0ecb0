//! The match runner, which plays games between UCI and xboard engines and records the results.
//!
//! - `process` runs an engine in its own process group, with bounded queues and one `reader` thread
//!   per output channel, which timestamps each line. A `player` adds a protocol: `xboard` or `uci`.
//! - [`overhead`] counts the delays between the engines' moves and the next commands.
//! - [`play`] plays a game, and a [`referee`] adjudicates it. [`tournament`] distributes the games
//!   of a round among worker threads, and one thread collects the [`results`]. [`schedule`] defines
//!   the tournament formats; [`rounds`] pairs the next round from the results.
//! - [`ratings`] computes joint ratings of engines from the games of a match or of PGN files.
//! - [`match_record`] writes each game to the state file and then to the PGN file.
//! - `shared` combines the games that several machines play for one sequential test.
//! - `spsa` tunes an engine's options by playing games. `check` tests an engine's protocol.
//!
//! This module never prints anything; the command's reporter (`cli::autoplay`) prints the events.
//!
//! Every wait has a deadline, and no engine outlives its `Process`. A match locks its files. When
//! it is resumed, only the incomplete end of its own last write is removed. Failed starts are
//! repeated. Engines that send their features late play anyway. Both cases are reported and counted
//! as startup retries.
//!
//! `examples/play_match.rs` plays a match.
//!
//! ```
//! use tabia::autoplay::config::EngineConfig;
//! use tabia::autoplay::schedule::{Format, Schedule};
//! use tabia::autoplay::stats::elo;
//!
//! let engine = EngineConfig::from_command("gnuchess --uci")?;
//! assert_eq!(engine.label(), "gnuchess");
//! let schedule =
//!     Schedule { engines: 2, format: Format::RoundRobin, games: 4, openings: 2, reversed: true };
//! assert_eq!(schedule.slots().len(), 4);
//! // Losses, draws and wins.
//! assert!(elo(&[20, 40, 40]).is_some_and(|difference| difference.value > 0.0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod affinity;
pub(crate) mod check;
pub mod clock;
pub mod config;
#[cfg(feature = "cli")]
pub mod engine_file;
mod engine_pool;
pub(crate) mod error;
pub(crate) mod games;
pub mod match_record;
pub mod openings;
pub mod overhead;
pub mod pgn_style;
pub mod play;
pub(crate) mod player;
pub(crate) mod process;
pub(crate) mod protocol_adapter;
pub mod ratings;
mod reader;
pub mod record;
pub mod referee;
pub(crate) mod report;
pub mod results;
pub mod rounds;
pub mod schedule;
pub(crate) mod shared;
pub(crate) mod spsa;
pub(crate) mod state;
pub mod stats;
pub(crate) mod summary;
pub mod tournament;
mod uci;
pub mod verdict;
mod xboard;

pub use player::StartError;
