//! The engine: evaluation, endgame tables, search, and the controller that plays games.
//!
//! This module depends on `support`, `chess` and `games`. It neither reads nor prints protocol
//! text.

pub(crate) mod controller;
pub mod eval;
pub mod search;
pub mod tablebase;
