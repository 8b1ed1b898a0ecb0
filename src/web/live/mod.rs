//! The live page of a match: the boards of the games in progress, the standings, the sequential
//! test and the latest results.
//!
//! The match reports its events to a [`LiveMatch`], which only stores them. `server` runs on one
//! thread. As server-sent events, it sends each open page the changes since that page's last
//! update. Events are not queued for a page that reads slowly. Instead, the page receives fewer and
//! larger events, and the games never wait for it. A page that stops reading is disconnected.
//!
//! The page uses the same board and other components as Tabia's other pages.

mod server;
mod state;

pub(crate) use server::{LiveServer, LiveSettings};
pub(crate) use state::LiveMatch;
