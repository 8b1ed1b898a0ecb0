//! What the project says of itself: its rules, the pages that quote the program, and what the
//! program writes for packages.

#[path = "../support/mod.rs"]
mod support;

mod architecture;
mod generate;
mod lessons;
