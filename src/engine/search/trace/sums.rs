//! What has happened in a search, added up.

use std::collections::BTreeMap;

use serde::Serialize;

use super::super::observe::{Counters, NodeEnd, PruneReason};
use crate::chess::score::{Depth, Score};

/// The type of a searched node, by its value and window.
/// <https://www.chessprogramming.org/Node_Types>
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum NodeType {
    /// The value lies inside the window: it is exact.
    Pv,
    /// The value is beta or more: one move refutes the last one.
    Cut,
    /// The value is alpha or less: no move helps.
    All,
}

impl NodeType {
    /// The type of a node that was left with `score`; the window is (alpha, beta).
    #[inline]
    pub fn of(score: Score, (alpha, beta): (Score, Score)) -> Self {
        match score {
            _ if score >= beta => NodeType::Cut,
            _ if score <= alpha => NodeType::All,
            _ => NodeType::Pv,
        }
    }
}

/// What has happened in a search, or in one thread's part of it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Sums {
    /// Nodes, as the search counts them: visits but those of the root, and those after a stop.
    pub nodes: u64,
    /// Those of them in quiescence.
    pub quiescence: u64,
    /// Visits by type; one that was stopped has none.
    pub types: BTreeMap<NodeType, u64>,
    /// Visits by what settled them.
    pub ends: BTreeMap<NodeEnd, u64>,
    /// Nodes whose moves were searched, and one failed high.
    pub cutoffs: u64,
    /// Those where it was the first.
    pub first_move_cutoffs: u64,
    /// Aspiration windows that failed and were opened again.
    pub windows: u64,
    /// Nodes of which the table had something.
    pub hits: u64,
    /// Late moves searched less deeply, and by how many plies in all.
    pub reduced: u64,
    /// See [`Sums::reduced`].
    pub reduced_plies: u64,
    /// Those searched again to the full depth.
    pub deeper: u64,
    /// Moves searched again with the open window.
    pub open: u64,
    /// Null moves tried.
    pub null_moves: u64,
    /// Nodes searched without their table move, to see whether that is the only good one.
    pub singularity_tests: u64,
    /// Table moves searched more deeply, and less.
    pub extended: u64,
    /// See [`Sums::extended`].
    pub extended_less: u64,
    /// Nodes searched less deeply for what the last move had made of the evaluation.
    pub hindsight: u64,
    /// Moves not searched, by reason; moves after the last of late move pruning are not counted one by one.
    pub left_out: BTreeMap<PruneReason, u64>,
    /// Nodes that the book knows.
    pub book_matches: u64,
    /// Nodes whose moves were shared out.
    pub splits: u64,
    /// How often a thread took moves of a node that another had shared out.
    pub joins: u64,
}

impl Sums {
    /// Notes a reduction of so many plies.
    pub(super) fn reduce(&mut self, plies: Depth) {
        if plies > 0 {
            self.reduced += 1;
            self.reduced_plies += plies.unsigned_abs() as u64;
        }
    }

    /// Takes in what another thread has done.
    pub(super) fn add(&mut self, other: &Sums) {
        let Sums { types, ends, left_out, .. } = other;
        types.iter().for_each(|(&key, count)| *self.types.entry(key).or_default() += count);
        ends.iter().for_each(|(&key, count)| *self.ends.entry(key).or_default() += count);
        left_out.iter().for_each(|(&key, count)| *self.left_out.entry(key).or_default() += count);
        self.nodes += other.nodes;
        self.quiescence += other.quiescence;
        self.cutoffs += other.cutoffs;
        self.first_move_cutoffs += other.first_move_cutoffs;
        self.windows += other.windows;
        self.hits += other.hits;
        self.reduced += other.reduced;
        self.reduced_plies += other.reduced_plies;
        self.deeper += other.deeper;
        self.open += other.open;
        self.null_moves += other.null_moves;
        self.singularity_tests += other.singularity_tests;
        self.extended += other.extended;
        self.extended_less += other.extended_less;
        self.hindsight += other.hindsight;
        self.book_matches += other.book_matches;
        self.splits += other.splits;
        self.joins += other.joins;
    }

    /// The sums of what the search counts itself.
    pub fn counters(&self) -> Counters {
        Counters { nodes: self.nodes, cutoffs: self.cutoffs, deeper: self.deeper, open: self.open }
    }
}

impl Counters {
    /// Takes in those of another thread.
    pub(super) fn add(&mut self, other: Counters) {
        self.nodes += other.nodes;
        self.cutoffs += other.cutoffs;
        self.deeper += other.deeper;
        self.open += other.open;
    }
}
