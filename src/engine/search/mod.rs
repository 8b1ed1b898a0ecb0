//! The search: iterative deepening principal variation search, split over threads.
//!
//! [`Searcher`] runs one search at a time within [`Limits`], controlled by a [`Control`], and
//! reports its progress by [`SearchEvent`]s. It never prints.
//!
//! ```
//! use tabia::position::{Game, Position};
//! use tabia::score::mate_distance;
//! use tabia::search::{Config, Control, Limits, SearchEvent, Searcher};
//!
//! let position = Position::from_fen("7k/8/5K2/8/8/8/8/6R1 w - - 0 1")?;
//! let mut searcher = Searcher::new(Config { memory_mb: 1, ..Config::default() });
//! let mut iterations = 0;
//! let result = searcher.search(
//!     &Game::new(position),
//!     &Limits::depth(8),
//!     &Control::new(),
//!     &mut |event| iterations += i32::from(matches!(event, SearchEvent::Iteration(_))),
//! );
//! assert_eq!(mate_distance(result.score), Some(2));
//! assert_eq!(result.best.map(|mv| position.san(mv)).as_deref(), Some("Kf7"));
//! assert!(iterations > 0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub(crate) mod bench;
mod book_ending;
mod book_ending_state;
mod book_known;
mod book_match;
mod book_near;
mod book_probe;
mod clock;
mod clusters;
mod config;
pub(crate) mod constants;
mod control;
mod deepening;
mod finish_node;
mod handicap;
mod helper_pool;
mod history;
mod job;
mod killers;
mod limits;
mod lmr;
mod memory_limit;
mod move_pruning;
mod node;
pub mod observe;
mod ordering;
mod prune;
mod pvs;
mod quiescence;
mod report;
mod searcher;
mod see;
mod sharing;
mod sharing_counts;
mod singular;
mod source;
mod split;
mod stack;
mod steer;
mod table;
pub mod trace;
mod worker;

#[cfg(test)]
mod exact_tests;
#[cfg(test)]
mod tests;

pub(crate) use clock::{MOVE_OVERHEAD, usual_time};
pub use config::{BookSearch, Config, ParseBookSearchError, ResearchOrder};
pub use control::Control;
pub use handicap::Handicap;
pub use limits::{Limits, TimeLimit};
pub(crate) use memory_limit::{STACK_SIZE, total_memory};
pub use report::{Bound, Report, SearchEvent, SearchFault, SearchResult, Sharing, Transposition};
pub use searcher::Searcher;
