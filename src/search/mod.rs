//! The search: iterative deepening principal variation search, split over threads.
//!
//! [`Searcher`] runs one search at a time within [`Limits`], steered by a [`Control`], and tells
//! what it finds by [`Event`]s. It never prints.

pub mod bench;
mod book_ending;
mod book_match;
mod book_probe;
mod clock;
mod config;
mod control;
mod deepening;
mod event_count;
mod frame;
mod history;
mod job;
mod killers;
mod limits;
mod lmr;
mod node;
mod ordering;
mod prune;
mod pvs;
mod quiescence;
mod report;
mod room;
mod searcher;
mod see;
mod sharing;
mod source;
mod split;
mod table;
mod watch;
mod worker;

#[cfg(test)]
mod tests;

pub use clock::MOVE_OVERHEAD;
pub use config::{BookSearch, Config, ParseBookSearchError, ResearchOrder};
pub use control::Control;
pub use limits::{Limits, TimeControl};
pub use report::{Bound, Event, Fault, Report, SearchResult, Transposition};
pub use room::STACK_SIZE;
pub use searcher::Searcher;
pub use see::{see_ge, value};
