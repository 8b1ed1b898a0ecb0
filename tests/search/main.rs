//! What the search finds: mates, the way through endgames, the solutions of a suite.

#[path = "../support/mod.rs"]
mod support;

mod endgames;
mod mates;
mod solve;
mod trace;
