//! The rules of the project's code and pages, the pages that quote the program, and the files that
//! the program writes for packages.

#[path = "../support/mod.rs"]
mod support;

mod architecture;
mod generate;
mod lessons;
mod pages;
