//! The rules of chess: positions, moves and games, their notation, and scores.
//!
//! This area uses `support`.

pub(crate) mod epd;
pub(crate) mod notation;
pub mod position;
pub mod score;
