//! Tools based on engines, searches and games: matches, tuning, test suites, annotation, opening
//! reports and training.
//!
//! This area uses `support`, `chess`, `games`, `engine` and `protocols`.

#[cfg(feature = "cli")]
pub(crate) mod annotate;
pub mod autoplay;
#[cfg(feature = "cli")]
pub(crate) mod opening_report;
pub mod suite;
#[cfg(feature = "train")]
pub(crate) mod train;
