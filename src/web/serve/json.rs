//! Objects that several JSON responses contain.

use arrayvec::ArrayString;
use serde::{Deserialize, Serialize};

use crate::chess::position::{Move, Position, SAN_BYTES, UCI_BYTES};

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct NamedMove {
    /// The move in UCI notation. Castling is written as a move of the king.
    pub(crate) uci: ArrayString<UCI_BYTES>,
    pub(crate) san: ArrayString<SAN_BYTES>,
}

impl NamedMove {
    pub(crate) fn new(position: &Position, mv: Move) -> Self {
        NamedMove { uci: mv.uci(), san: position.short_san(mv) }
    }

    pub(crate) fn line(start: &Position, moves: &[Move]) -> Vec<Self> {
        let mut position = *start;
        let mut line = Vec::with_capacity(moves.len());
        for &mv in moves {
            let Some(next) = position.try_play(mv) else { break };
            line.push(Self::new(&position, mv));
            position = next;
        }
        line
    }
}
