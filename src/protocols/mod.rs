//! The protocols between engines and graphical user interfaces. Each can be parsed and printed.
//!
//! This area uses `support`, `chess`, `games` and `engine`.

pub mod cecp;
pub mod uci;
