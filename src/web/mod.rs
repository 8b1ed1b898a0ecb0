//! Content for web browsers: the explorer's server, the page of a match in progress, and the
//! lessons with textbook searches.
//!
//! Uses all areas except `cli`.

#[cfg(feature = "lesson")]
pub mod lesson;
#[cfg(feature = "serve")]
pub(crate) mod live;
#[cfg(feature = "serve")]
pub(crate) mod serve;
