//! What is shown in a browser: the explorer's server, and the lessons with the searches that they show.
//!
//! Uses all areas but `cli`.

pub mod lesson;
pub(crate) mod serve;
