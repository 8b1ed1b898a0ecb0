//! Tests of search results: mates, endgames and problem suites.

#[path = "../support/mod.rs"]
mod support;

mod endgames;
mod mates;
mod solve;
mod soundness;
mod steer;
mod trace;
