//! Content for web browsers: the explorer's server, the live page of a match, and lessons that
//! demonstrate textbook searches.
//!
//! Uses all areas except `cli`.

#[cfg(feature = "lesson")]
pub mod lesson;
#[cfg(feature = "serve")]
pub(crate) mod live;
#[cfg(feature = "serve")]
pub(crate) mod serve;
