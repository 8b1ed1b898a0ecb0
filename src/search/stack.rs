//! What a thread notes on its way down the tree.

use super::history::PieceTo;
use super::table::NO_EVAL;
use crate::position::Move;
use crate::score::Score;

/// What a thread notes at each ply of its current line.
#[derive(Debug, Clone, Copy)]
pub(super) struct StackEntry {
    /// The move made here; `None` for a null move.
    pub(super) mv: Option<Move>,
    /// The piece and target square of that move.
    pub(super) piece_to: Option<PieceTo>,
    /// The static evaluation here; `NO_EVAL` in check.
    pub(super) static_eval: Score,
    /// The move left out here.
    pub(super) excluded: Option<Move>,
    /// Double extensions on the way here.
    pub(super) double_extensions: u8,
}

impl Default for StackEntry {
    fn default() -> Self {
        StackEntry {
            mv: None,
            piece_to: None,
            static_eval: NO_EVAL,
            excluded: None,
            double_extensions: 0,
        }
    }
}
