//! Event counts of a traced search.

use std::collections::BTreeMap;

use serde::Serialize;

use super::super::observe::{Counters, NodeEnd, PruneReason};
use crate::chess::score::{Depth, Score};

/// The type of a searched node: PV, cut or all. It is determined by the node's value and window.
///
/// See <https://www.chessprogramming.org/Node_Types>.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum NodeType {
    /// The value is inside the window and therefore exact.
    Pv,
    /// The value is at least beta, so one of the node's moves refutes the opponent's last move.
    Cut,
    /// The value is at most alpha. No move raises alpha.
    All,
}

impl NodeType {
    /// Returns the type of a node, given its score and its window (alpha and beta).
    #[inline]
    pub fn of(score: Score, (alpha, beta): (Score, Score)) -> Self {
        match score {
            _ if score >= beta => NodeType::Cut,
            _ if score <= alpha => NodeType::All,
            _ => NodeType::Pv,
        }
    }
}

/// Event counts for a search, or for one thread's part of it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Sums {
    /// Number of nodes as counted by the search. This includes all visits except visits to the root
    /// and visits after the search was stopped.
    pub nodes: u64,
    /// Number of quiescence nodes.
    pub quiescence: u64,
    /// Number of visits, by node type. Visits that were stopped have no type and are not counted.
    pub types: BTreeMap<NodeType, u64>,
    /// Number of visits, by the rule or step that determined their value.
    pub ends: BTreeMap<NodeEnd, u64>,
    /// Number of nodes at which a move failed high.
    pub cutoffs: u64,
    /// Number of cutoffs caused by the first move.
    pub first_move_cutoffs: u64,
    /// Number of times that an aspiration window failed and was widened.
    pub windows: u64,
    /// Number of nodes found in the transposition table, not counting table cutoffs in quiescence.
    pub hits: u64,
    /// Number of late moves searched with a reduction.
    pub reduced: u64,
    /// Total reduction, in plies, for the moves counted in [`Sums::reduced`].
    pub reduced_plies: u64,
    /// Number of reduced moves searched again at full depth.
    pub deeper: u64,
    /// Number of moves searched again with the open window because their null-window search raised
    /// alpha.
    pub open: u64,
    /// Number of null moves tried.
    pub null_moves: u64,
    /// Number of searches of a node without its table move, to test whether the table move is the
    /// only good one.
    pub singularity_tests: u64,
    /// Number of table moves extended because no other move was as good (singular extensions).
    pub extended: u64,
    /// Number of table moves reduced because other moves may have been as good.
    pub extended_less: u64,
    /// Number of nodes searched less deeply in hindsight, because the last move had already been
    /// reduced and the evaluation had improved for the side to move.
    pub hindsight: u64,
    /// Number of pruned moves, by reason. Late move pruning is counted once per node.
    pub pruned: BTreeMap<PruneReason, u64>,
    /// Number of nodes whose position is in the book.
    pub book_matches: u64,
    /// Number of nodes whose moves were shared among threads.
    pub splits: u64,
    /// Number of times a thread joined a node shared by another thread.
    pub joins: u64,
}

impl Sums {
    /// Counts a late move and its reduction by `plies`, unless the reduction is 0.
    pub(super) fn reduce(&mut self, plies: Depth) {
        if plies > 0 {
            self.reduced += 1;
            self.reduced_plies += plies.unsigned_abs() as u64;
        }
    }

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

    /// Returns the counts that the search itself also keeps (see [`Counters`]).
    pub fn counters(&self) -> Counters {
        Counters { nodes: self.nodes, cutoffs: self.cutoffs, deeper: self.deeper, open: self.open }
    }
}

impl Counters {
    pub(super) fn add(&mut self, other: Counters) {
        self.nodes += other.nodes;
        self.cutoffs += other.cutoffs;
        self.deeper += other.deeper;
        self.open += other.open;
    }
}
