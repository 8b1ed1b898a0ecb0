//! The protocols between engines and graphical interfaces, each parsed and printed.
//!
//! Sessions parse commands and print replies; the match runner does the opposite.
//!
//! Uses `support`, `chess`, `games` and `engine`.

pub mod cecp;
pub mod uci;
