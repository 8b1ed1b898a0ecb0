//! Proofs of the rules: move counts, keys, notation and refusal of what is no position.

#[path = "../support/mod.rs"]
mod support;

mod agreement;
mod hostile;
mod keys;
mod perft;
mod walk;
