//! Tabia: a chess engine for the xboard protocol that knows its openings by position.
//!
//! The modules, in reading order, are described in `ARCHITECTURE.md`.

pub mod autoplay;
pub mod book;
pub mod cecp;
pub mod cli;
pub mod engine;
pub mod eval;
pub mod files;
pub mod lesson;
pub mod pgn;
pub mod plot;
pub mod position;
pub mod random;
pub mod score;
pub mod search;
pub mod suite;
pub mod tablebase;
pub mod train;
pub mod uci;
pub mod words;
