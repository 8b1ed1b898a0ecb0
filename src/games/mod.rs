//! Games and what is counted from them: PGN in and out, and books of positions.
//!
//! Uses `support` and `chess`. PGN uses no books.

pub mod book;
pub mod pgn;
