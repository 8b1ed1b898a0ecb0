//! The page of a match in progress: boards of the games, standings, the sequential test and the
//! last results.
//!
//! The match reports its events to a [`LiveMatch`], which only stores them. `server` runs on one
//! thread. It sends to each page, as server-sent events, the changes since that page's last update.
//! A page that reads slowly therefore gets fewer and larger events. Nothing is queued for it, and
//! the games never wait for it. A page that stops reading is disconnected.
//!
//! The page uses the board and the other parts that all pages share.

mod server;
mod state;

pub(crate) use server::{LiveServer, LiveSettings};
pub(crate) use state::LiveMatch;
