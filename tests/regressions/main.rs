//! Regression tests: at least one for each bug found while using the program.

#[path = "../support/mod.rs"]
mod support;

mod book;
mod clients;
mod machines;
mod matches;
mod pgn;
mod pgn_text;
mod search;
