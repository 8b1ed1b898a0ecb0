//! The two protocols for communication between engines and graphical user interfaces. The messages
//! of each can be parsed and printed.
//!
//! This area uses `support`, `chess`, `games` and `engine`.

pub mod cecp;
pub mod uci;
