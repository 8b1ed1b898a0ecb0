//! Tests of the rules of chess: move counts, keys, notation, and rejection of invalid positions.

#[path = "../support/mod.rs"]
mod support;

mod agreement;
mod hostile;
mod keys;
mod perft;
mod walk;
