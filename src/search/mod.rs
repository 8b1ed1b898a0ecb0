//! The search: iterative deepening principal variation search.

mod control;
mod limits;
mod report;

pub use control::Control;
pub use limits::{Limits, TimeControl};
pub use report::{Bound, Event, Report, SearchResult};
