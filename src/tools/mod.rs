//! Work done with engines, searches and games: matches, tuning, suites, annotation, training.
//!
//! Uses `support`, `chess`, `games`, `engine` and `protocols`.

pub(crate) mod annotate;
pub mod autoplay;
pub mod suite;
pub(crate) mod train;
