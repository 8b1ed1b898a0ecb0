//! The search stack: one entry for each ply of a thread's current line.

use super::history::PieceTo;
use super::table::NO_EVAL;
use crate::chess::position::{Move, Threats};
use crate::chess::score::{Depth, Score};

#[derive(Debug, Clone, Copy)]
pub(super) struct StackEntry {
    /// The move made at this ply; `None` for a null move.
    pub(super) mv: Option<Move>,
    pub(super) piece_to: Option<PieceTo>,
    pub(super) noisy: bool,
    /// The static evaluation at this ply, or `NO_EVAL` if the side to move is in check.
    pub(super) static_eval: Score,
    pub(super) excluded: Option<Move>,
    pub(super) double_extensions: u8,
    /// Number of plies by which the search of the move made at this ply is reduced.
    pub(super) reduction: Depth,
    /// Number of fail highs at this ply since the search entered the current node two plies above
    /// it.
    pub(super) cutoffs: u32,
    pub(super) threats: Threats,
}

impl Default for StackEntry {
    fn default() -> Self {
        StackEntry {
            mv: None,
            piece_to: None,
            noisy: false,
            static_eval: NO_EVAL,
            excluded: None,
            double_extensions: 0,
            reduction: 0,
            cutoffs: 0,
            threats: Threats::default(),
        }
    }
}
