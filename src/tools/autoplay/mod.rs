//! The match runner. It lets engines that use either protocol play each other, and it records the
//! results.
//!
//! From the bottom up:
//!
//! - `process` runs an engine in its own process group. It uses bounded queues and one reader
//!   thread per output channel. Each line gets a timestamp when it is read.
//! - `xboard` and `uci` implement the two protocols, and `protocol_adapter` is their common
//!   interface. A `player` consists of a process and its protocol adapter.
//! - [`play`] plays one game between two players under a [`referee`].
//! - [`tournament`] distributes the games in a [`schedule`] among worker threads. One thread
//!   collects the [`results`].
//! - [`match_record`] writes each game to the state file and then to the PGN file. [`stats`]
//!   computes Elo and the SPRT, and `report` creates the HTML page.
//! - `spsa` tunes an engine's options by playing games. `check` tests whether an engine follows the
//!   xboard protocol.
//!
//! This module never prints anything. The command's reporter (`cli::autoplay`) prints the events
//! and keeps no results.
//!
//! Every wait has a deadline, and no engine outlives its `Process`. A match locks its files. When
//! a match is resumed, only the incomplete end of its own last write is removed. If a start fails,
//! it is repeated. If an engine's features arrive late, the engine plays anyway. Both cases are
//! reported and counted as startup retries.
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
pub mod play;
pub(crate) mod player;
pub(crate) mod process;
pub(crate) mod protocol_adapter;
pub mod record;
pub mod referee;
pub(crate) mod report;
pub mod results;
pub mod schedule;
pub(crate) mod spsa;
pub(crate) mod state;
pub mod stats;
pub(crate) mod summary;
pub mod tournament;
mod uci;
pub mod verdict;
mod xboard;

pub use player::StartError;
