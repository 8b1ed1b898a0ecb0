//! The match runner.

#[path = "../support/mod.rs"]
mod support;

mod autoplay;
mod check;
mod library;
mod live;
mod ratings;
mod records;
mod refusals;
mod replay;
mod shared;
mod tournaments;
mod tune;
