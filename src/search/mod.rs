//! The search: iterative deepening principal variation search, split over threads.
//!
//! [`Searcher`] runs one search at a time within [`Limits`], steered by a [`Control`], and tells
//! what it finds by [`Event`]s. It never prints.

mod bell;
pub mod bench;
mod book_ending;
mod book_probe;
mod clock;
mod config;
mod control;
mod deepening;
mod history;
mod killers;
mod late;
mod limits;
mod node;
mod ordering;
mod prune;
mod pvs;
mod quiescence;
mod report;
mod room;
mod searcher;
mod see;
mod source;
mod split;
mod table;
mod worker;

#[cfg(test)]
mod tests;

pub use book_probe::{BookSearch, ParseBookSearchError};
pub use clock::MOVE_OVERHEAD;
pub use config::Config;
pub use control::Control;
pub use limits::{Limits, ResearchOrder, TimeControl};
pub use report::{Bound, Event, Fault, Report, SearchResult, Transposition};
pub use searcher::{STACK_SIZE, Searcher};
pub use see::{see_ge, value};
