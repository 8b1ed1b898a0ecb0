//! The repertoire as a layer on the books: its moves, its gaps, and additions to its file.
//!
//! `file` reads and writes the repertoire. `place` responds with the repertoire's data for a
//! position, and `gaps` with the positions that lack an answer. `routes` decides who may change the
//! file.

mod file;
mod gaps;
mod place;
mod routes;
mod shapes;

pub(crate) use file::RepertoireFile;
pub(super) use routes::{Served, only_local, readable, writable};
