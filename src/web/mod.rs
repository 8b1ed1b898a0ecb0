//! Content for browsers: the explorer's server, and the lessons with their textbook searches.
//!
//! Uses all areas but `cli`.

#[cfg(feature = "lesson")]
pub mod lesson;
#[cfg(feature = "serve")]
pub(crate) mod serve;
