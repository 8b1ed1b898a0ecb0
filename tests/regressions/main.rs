//! What trying the program out once broke, and must not break again: one test or more for each
//! finding, named `trust_NN_…` by its number in the list of findings.

#[path = "../support/mod.rs"]
mod support;

mod book;
mod clients;
mod machines;
mod matches;
mod pgn;
mod pgn_text;
mod search;
