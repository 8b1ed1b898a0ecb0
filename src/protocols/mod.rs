//! The protocols between engines and boards, each parsed and printed: sessions use one direction,
//! the match runner the other.
//!
//! Uses `support`, `chess`, `games` and `engine`.

pub mod cecp;
pub mod uci;
