//! Pawn hash table: caches the terms that depend only on pawns and kings, indexed by pawn key.

use super::trace::{Silent, Sum, Trace};
use super::view::View;
use super::weights::Weights;
use super::{king, pawns};
use crate::chess::position::{BitBoard, Color, Position, Square};
use crate::engine::eval::tapered::Tapered;

/// Number of entries; a power of two. At 48 bytes per entry, the table fits in an L2 cache.
const ENTRIES: usize = 8192;

/// The cached terms for a pawn structure. Each array contains White's value and then Black's, each
/// from that side's own point of view.
#[derive(Clone, Copy)]
pub(super) struct PawnEntry {
    key: u64,
    pub passed: [BitBoard; 2],
    structure: [Tapered; 2],
    /// Shelter scores. Each is valid only while that side's king is on the square stored in
    /// `kings`.
    shelter: [Tapered; 2],
    kings: [Option<Square>; 2],
}

/// Entry for a board without pawns, for which the key and all terms are zero. Also the initial
/// value of every entry.
const NO_PAWNS: PawnEntry = PawnEntry {
    key: 0,
    passed: [BitBoard(0); 2],
    structure: [Tapered::ZERO; 2],
    shelter: [Tapered::ZERO; 2],
    kings: [None; 2],
};

impl PawnEntry {
    #[inline]
    pub(super) fn score(&self, color: Color) -> Tapered {
        self.structure[color.to_index()] + self.shelter[color.to_index()]
    }

    fn set_structure<T: Trace>(&mut self, views: &[View; 2], w: &Weights, trace: &mut T) {
        for (color, view) in super::sides(views) {
            let mut sum = Sum::new(color, trace);
            self.passed[color.to_index()] = pawns::evaluate(view, w, &mut sum);
            self.structure[color.to_index()] = sum.score;
        }
    }

    fn set_shelter<T: Trace>(&mut self, views: &[View; 2], w: &Weights, trace: &mut T) {
        for (color, view) in super::sides(views) {
            let king = Some(view.us.king);
            if self.kings[color.to_index()] != king {
                let mut sum = Sum::new(color, trace);
                king::shelter(view, w, &mut sum);
                self.shelter[color.to_index()] = sum.score;
                self.kings[color.to_index()] = king;
            }
        }
    }
}

/// Pawn hash table. Each thread has its own.
///
/// Source: <https://www.chessprogramming.org/Pawn_Hash_Table>.
#[derive(Clone)]
pub(in crate::engine::eval) struct PawnTable(Box<[PawnEntry]>);

impl PawnTable {
    pub(crate) fn new() -> Self {
        PawnTable(vec![NO_PAWNS; ENTRIES].into_boxed_slice())
    }

    /// Returns the pawn and shelter terms of `position`. Bypasses the cache while a trace is being
    /// recorded, because the trace must receive every weight.
    #[inline]
    pub(super) fn look_up<T: Trace>(
        &mut self,
        position: &Position,
        views: &[View; 2],
        w: &Weights,
        trace: &mut T,
    ) -> PawnEntry {
        if T::ON {
            let mut entry = NO_PAWNS;
            entry.set_structure(views, w, trace);
            entry.set_shelter(views, w, trace);
            return entry;
        }
        let key = position.pawn_key();
        let entry = &mut self.0[key as usize % ENTRIES];
        if entry.key != key {
            *entry = PawnEntry { key, ..NO_PAWNS };
            entry.set_structure(views, w, &mut Silent);
        }
        entry.set_shelter(views, w, &mut Silent);
        *entry
    }
}
