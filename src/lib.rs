//! Tabia is a chess engine for xboard and UCI with opening books indexed by position.
//!
//! The program is `cli::main`. The modules that are useful to other programs are public:
//!
//! | module | contents |
//! | --- | --- |
//! | [`position`] | positions, games, moves, FEN and SAN |
//! | [`pgn`] | reading and writing games |
//! | [`book`] | opening books: building, opening, probing, merging |
//! | [`repertoire`] | a player's prepared moves, compared with a book |
//! | [`search`] | the search, with [`eval`], [`tablebase`] and [`score`] |
//! | [`cecp`], [`uci`] | parsing and printing the messages of both protocols |
//! | [`autoplay`] | the match runner |
//! | [`suite`] | built-in positions; measurements of re-search order and of the effect of books |
//! | `lesson` | searches that report every step |
//! | [`ParseError`], [`FileError`] | the errors that several modules share |
//!
//! The documentation of each module starts with an example or refers to one. `src/` groups the
//! modules into areas; see `ARCHITECTURE.md`.
//!
//! # Features
//!
//! If you use Tabia as a library, disable the default features and choose those you need:
//!
//! ```toml
//! tabia = { version = "0.2", default-features = false }
//! ```
//!
//! | feature | default | adds |
//! | --- | --- | --- |
//! | `cli` | yes | the program: command line, console, annotation, engine definitions in TOML |
//! | `serve` | yes | `tabia serve`; includes `cli` |
//! | `lesson` | yes | the `lesson` module; with `cli`, also `tabia lesson` |
//! | `compression` | yes | support for games compressed with gzip, bzip2 or zstd; part of `cli` |
//! | `syzygy` | yes | support for endgame tables; part of `cli` |
//! | `train` | no | `tabia train`; includes `cli` |
//! | `tune` | no | engine options for the search constants |
//! | `parquet` | no | partial counts and games in Parquet |

#![warn(unreachable_pub)]
// Some crate-private items are used only by optional features, so warnings about unused items are
// turned off unless all of these features are enabled.
#![cfg_attr(
    not(all(feature = "cli", feature = "lesson", feature = "serve", feature = "train")),
    allow(dead_code, unused_imports)
)]

mod chess;
#[cfg(feature = "cli")]
pub mod cli;
mod engine;
mod games;
mod protocols;
mod support;
mod tools;
mod web;

pub use crate::chess::{position, score};
pub use crate::engine::{eval, search, tablebase};
pub use crate::games::{book, pgn, repertoire};
pub use crate::protocols::{cecp, uci};
pub use crate::support::error::ParseError;
pub use crate::support::files::FileError;
pub use crate::tools::{autoplay, suite};
#[cfg(feature = "lesson")]
pub use crate::web::lesson;

#[cfg(fuzzing)]
#[doc(hidden)]
#[path = "../fuzz/inside/mod.rs"]
pub mod fuzz;
