//! The engine: evaluation, endgame tables, the search, and the controller that plays games with them.
//!
//! Uses `support`, `chess` and `games`. It neither reads nor prints text of a protocol.

pub(crate) mod controller;
pub mod eval;
pub mod search;
pub mod tablebase;
