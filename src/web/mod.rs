//! Content for browsers: the explorer's server, and the lessons with their textbook searches.
//!
//! Uses all areas but `cli`.

pub mod lesson;
pub(crate) mod serve;
