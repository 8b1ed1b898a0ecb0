//! Games and books: PGN input and output, and books of positions counted from games.
//!
//! Uses `support` and `chess`. PGN uses no books.

pub mod book;
pub mod pgn;
