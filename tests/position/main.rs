//! Proofs of the rules: move counts, keys, notation and refusal of what is no position.

#[path = "../common/mod.rs"]
mod common;

mod agreement;
mod hostile;
mod keys;
mod perft;
mod walk;
