//! The protocols between engines and GUIs, each parsed and printed. Sessions use one direction, the
//! match runner the other.
//!
//! Uses `support`, `chess`, `games` and `engine`.

pub mod cecp;
pub mod uci;
