//! The two protocols for communication between engines and graphical user interfaces. Both sides'
//! messages can be parsed and printed.
//!
//! This area uses `support`, `chess`, `games` and `engine`.

pub mod cecp;
pub mod uci;
