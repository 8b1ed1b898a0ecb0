//! The match runner: engines of either protocol play each other, and the results are counted.
//!
//! From below: [`process`] runs an engine, `xboard` and `uci` speak with it ([`dialect`] is
//! what they have in common), which makes it a [`player`]; [`play`] lets two of them play a
//! game under a [`referee`], [`tournament`] plays a [`schedule`] of games, [`results`] keeps what
//! comes of them, and [`stats`] says what that means. Every wait has a deadline, and no engine outlives its [`process::Process`].

pub mod affinity;
pub mod check;
pub mod clock;
pub mod config;
pub mod dialect;
pub mod games;
pub mod ledger;
pub mod openings;
pub mod owned;
pub mod play;
pub mod player;
pub mod process;
pub mod record;
pub mod referee;
pub mod report;
pub mod results;
pub mod schedule;
pub mod state;
pub mod stats;
pub mod summary;
pub mod tournament;
mod uci;
pub mod verdict;
mod xboard;
