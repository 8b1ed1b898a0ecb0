//! Games and books: PGN text, books of positions counted from games, and repertoires. Uses
//! `support` and `chess`. `pgn` does not use `book`, and neither of them uses `repertoire`.

pub mod book;
pub mod pgn;
pub mod repertoire;
