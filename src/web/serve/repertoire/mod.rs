//! The repertoire as a layer on top of the books: its moves, its gaps, and additions to its file.
//!
//! `file` reads and writes the repertoire. `place` builds responses with the repertoire's data for
//! a position, and `gaps` builds the list of positions without an answer. `routes` decides who may
//! read and change the repertoire.

mod file;
mod gaps;
mod place;
mod routes;
mod shapes;

pub(crate) use file::RepertoireFile;
pub(super) use routes::{Served, only_local, readable, writable};
