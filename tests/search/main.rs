//! What the search finds: mates, and the way through endgames.

#[path = "../support/mod.rs"]
mod support;

mod endgames;
mod mates;
