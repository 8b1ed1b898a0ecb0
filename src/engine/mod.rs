//! The engine: evaluation, endgame tables, search, and the controller that plays games.
//!
//! It uses `support`, `chess` and `games`, and neither reads nor prints protocol text.

pub(crate) mod controller;
pub mod eval;
pub mod search;
pub mod tablebase;
