//! Tests how user files are handled: games, books and invalid files.

#[path = "../support/mod.rs"]
mod support;

mod additions;
mod analysis;
mod annotation;
mod bad_input;
mod book;
mod book_files;
mod facets;
mod games;
mod learning;
mod opening_report;
mod partial;
mod patterns;
mod pgn;
mod repertoire;
mod repertoire_check;
mod repertoire_files;
mod repertoire_grow;
mod repertoire_report;
mod repertoire_train;
#[cfg(feature = "train")]
mod selfplay;
mod unfinished;
