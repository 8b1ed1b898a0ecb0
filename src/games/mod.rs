//! Games and books: reading and writing PGN, books of positions counted from games, repertoires.
//! Uses `support` and `chess`. `pgn` does not use `book`, and neither uses `repertoire`.

pub mod book;
pub mod pgn;
pub mod repertoire;
