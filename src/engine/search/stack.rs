//! What a thread notes on its way down the tree.

use super::history::PieceTo;
use super::table::NO_EVAL;
use crate::chess::position::{Move, Threats};
use crate::chess::score::{Depth, Score};

/// What a thread notes at each ply of its current line.
#[derive(Debug, Clone, Copy)]
pub(super) struct StackEntry {
    /// The move made here; `None` for a null move.
    pub(super) mv: Option<Move>,
    /// The piece and target square of that move.
    pub(super) piece_to: Option<PieceTo>,
    /// Whether it takes or promotes.
    pub(super) noisy: bool,
    /// The static evaluation here; `NO_EVAL` in check.
    pub(super) static_eval: Score,
    /// The move left out here.
    pub(super) excluded: Option<Move>,
    /// Double extensions on the way here.
    pub(super) double_extensions: u8,
    /// What the search of the move made here is reduced by, in plies.
    pub(super) reduction: Depth,
    /// How many nodes at this ply have failed high since the node two plies above was entered.
    pub(super) cutoffs: u32,
    /// What the opponent attacks here.
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
