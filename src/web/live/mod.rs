//! The page of a match in progress: the boards of the current games, standings, the sequential test
//! and the latest results.
//!
//! The match reports its events to a [`LiveMatch`], which only stores them. `server` runs on one
//! thread. Using server-sent events, it sends each page what has changed since that page's last
//! update. A page that reads slowly therefore gets fewer and larger events. Nothing is queued for
//! it, and the games never wait for it. A page that stops reading is disconnected.
//!
//! The page shares the board and other components with all other pages.

mod server;
mod state;

pub(crate) use server::{LiveServer, LiveSettings};
pub(crate) use state::LiveMatch;
