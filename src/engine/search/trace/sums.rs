//! Sums of the events of a search.

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
    /// Returns the type of a node with this score and window (alpha, beta).
    #[inline]
    pub fn of(score: Score, (alpha, beta): (Score, Score)) -> Self {
        match score {
            _ if score >= beta => NodeType::Cut,
            _ if score <= alpha => NodeType::All,
            _ => NodeType::Pv,
        }
    }
}

/// Sums of the events of a search, or of one thread's part.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Sums {
    /// Nodes, as counted by the search: visits except those of the root and those after a stop.
    pub nodes: u64,
    /// Nodes in quiescence.
    pub quiescence: u64,
    /// Visits by type; a stopped one has none.
    pub types: BTreeMap<NodeType, u64>,
    /// Visits by what determined their value.
    pub ends: BTreeMap<NodeEnd, u64>,
    /// Nodes at which a searched move failed high.
    pub cutoffs: u64,
    /// Cutoffs by the first move.
    pub first_move_cutoffs: u64,
    /// Aspiration windows that failed and were widened.
    pub windows: u64,
    /// Nodes with an entry in the table.
    pub hits: u64,
    /// Late moves searched with a reduction.
    pub reduced: u64,
    /// Total plies of these reductions; see [`Sums::reduced`].
    pub reduced_plies: u64,
    /// Reduced moves searched again at full depth.
    pub deeper: u64,
    /// Moves searched again with the open window.
    pub open: u64,
    /// Null moves tried.
    pub null_moves: u64,
    /// Nodes searched without their table move, to test whether that is the only good one.
    pub singularity_tests: u64,
    /// Table moves searched more deeply.
    pub extended: u64,
    /// Table moves searched less deeply; see [`Sums::extended`].
    pub extended_less: u64,
    /// Nodes searched less deeply because the last move raised the evaluation.
    pub hindsight: u64,
    /// Moves not searched, by reason. Moves skipped by late move pruning after the first are not
    /// counted individually.
    pub pruned: BTreeMap<PruneReason, u64>,
    /// Nodes in the book.
    pub book_matches: u64,
    /// Nodes whose moves were shared.
    pub splits: u64,
    /// How often a thread joined a node shared by another.
    pub joins: u64,
}

impl Sums {
    /// Adds a reduction of this many plies.
    pub(super) fn reduce(&mut self, plies: Depth) {
        if plies > 0 {
            self.reduced += 1;
            self.reduced_plies += plies.unsigned_abs() as u64;
        }
    }

    /// Adds the sums of another thread.
    pub(super) fn add(&mut self, other: &Sums) {
        let Sums { types, ends, pruned, .. } = other;
        types.iter().for_each(|(&key, count)| *self.types.entry(key).or_default() += count);
        ends.iter().for_each(|(&key, count)| *self.ends.entry(key).or_default() += count);
        pruned.iter().for_each(|(&key, count)| *self.pruned.entry(key).or_default() += count);
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

    /// Returns the sums that the search counts itself.
    pub fn counters(&self) -> Counters {
        Counters { nodes: self.nodes, cutoffs: self.cutoffs, deeper: self.deeper, open: self.open }
    }
}

impl Counters {
    /// Adds the counts of another thread.
    pub(super) fn add(&mut self, other: Counters) {
        self.nodes += other.nodes;
        self.cutoffs += other.cutoffs;
        self.deeper += other.deeper;
        self.open += other.open;
    }
}
