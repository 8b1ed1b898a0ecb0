//! The match runner.

#[path = "../support/mod.rs"]
mod support;

mod autoplay;
mod check;
mod library;
mod ratings;
mod records;
mod replay;
mod tournaments;
mod tune;
