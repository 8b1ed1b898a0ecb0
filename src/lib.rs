//! Tabia: a chess engine for the xboard protocol that knows its openings by position.
//!
//! The program is [`cli::main`]; what other programs may want of it is public:
//!
//! | module | what it has |
//! | --- | --- |
//! | [`position`] | positions, games, moves, FEN and SAN |
//! | [`pgn`] | games in and out |
//! | [`book`] | opening books by position: built, opened, asked, merged |
//! | [`search`] | the search, with [`eval`], [`tablebase`] and [`score`] |
//! | [`cecp`], [`uci`] | the messages of both protocols, parsed and printed |
//! | [`autoplay`] | the match runner |
//! | [`suite`] | series of searches: built-in positions, comparisons of search orders and of books |
//! | [`lesson`] | searches that tell every step |
//!
//! Each begins with an example or names one. `src/` groups them into areas: see `ARCHITECTURE.md`.

#![warn(unreachable_pub)]

mod chess;
pub mod cli;
mod engine;
mod games;
mod protocols;
mod support;
mod tools;
mod web;

pub use crate::chess::{position, score};
pub use crate::engine::{eval, search, tablebase};
pub use crate::games::{book, pgn};
pub use crate::protocols::{cecp, uci};
pub use crate::tools::{autoplay, suite};
pub use crate::web::lesson;

#[cfg(fuzzing)]
#[doc(hidden)]
#[path = "../fuzz/inside/mod.rs"]
pub mod fuzz;
