//! Games and books: reading and writing PGN, and books of positions counted from games.
//!
//! Uses `support` and `chess`. `pgn` does not use `book`.

pub mod book;
pub mod pgn;
