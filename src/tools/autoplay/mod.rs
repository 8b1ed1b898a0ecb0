//! The match runner: engines of either protocol play each other, and the results are counted.
//!
//! From below: `process` runs an engine, `xboard` and `uci` speak with it (`adapter` is what they
//! have in common), which makes it a `player`; [`play`] lets two of them play a game under a
//! [`referee`], [`tournament`] plays a [`schedule`] of games, [`results`] keeps what comes of them,
//! and [`stats`] says what that means. `spsa` tunes an engine's options by such games. Every wait has a deadline, and no engine outlives its process.
//!
//! `examples/play_match.rs` plays a match.

pub mod affinity;
pub(crate) mod check;
pub mod clock;
pub mod config;
mod engine_pool;
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
