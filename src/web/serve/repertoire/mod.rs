//! The repertoire as a layer on the books: its moves, its gaps, and additions to its file.
//!
//! `file` holds the repertoire and writes it. `place` responds with what the repertoire contains at a
//! position, `gaps` with the positions that lack an answer, and `routes` decides who may change the
//! file.

mod file;
mod gaps;
mod place;
mod routes;
mod shapes;

pub(crate) use file::RepertoireFile;
pub(super) use routes::{Served, only_local, readable, writable};
