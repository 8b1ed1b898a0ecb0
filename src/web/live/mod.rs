//! The live page of a match: the boards of the games in progress, the standings, the sequential
//! test and the latest results.
//!
//! The match reports its events to a [`LiveMatch`], which only stores them. `server` runs on one
//! thread. It sends each open page, as server-sent events, what has changed since that page's last
//! update. A page that reads slowly therefore gets fewer and larger events. Events are not queued
//! for it, and the games never wait for it. A page that stops reading is disconnected.
//!
//! The page uses the same board and other components as Tabia's other pages.

mod server;
mod state;

pub(crate) use server::{LiveServer, LiveSettings};
pub(crate) use state::LiveMatch;
