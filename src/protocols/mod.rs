//! The protocols between engines and graphical user interfaces. Each can be parsed and printed.
//!
//! Sessions parse commands and print replies. The match runner does the opposite. This area uses
//! `support`, `chess`, `games` and `engine`.

pub mod cecp;
pub mod uci;
