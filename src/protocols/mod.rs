//! The protocols between engines and graphical user interfaces, each with parsing and printing.
//!
//! Sessions parse commands and print replies; the match runner does the opposite. This area uses
//! `support`, `chess`, `games` and `engine`.

pub mod cecp;
pub mod uci;
