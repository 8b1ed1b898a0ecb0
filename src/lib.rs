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
//! | [`lesson`] | searches that tell every step |
//!
//! Each begins with an example or names one. How all of it hangs together is in `ARCHITECTURE.md`.

#![warn(unreachable_pub)]

mod annotate;
pub mod autoplay;
pub mod book;
pub mod cecp;
pub mod cli;
mod engine;
pub mod eval;
mod files;
mod huge_pages;
pub mod lesson;
mod page;
pub mod pgn;
mod plot;
pub mod position;
mod prefetch;
mod random;
pub mod score;
pub mod search;
mod serve;
mod suite;
pub mod tablebase;
mod threads;
mod train;
pub mod uci;
mod words;

#[cfg(fuzzing)]
#[doc(hidden)]
#[path = "../fuzz/inside/mod.rs"]
pub mod fuzz;
