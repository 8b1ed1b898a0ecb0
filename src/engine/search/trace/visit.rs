//! One recorded visit of a node.

use serde::{Serialize, Serializer};

use super::super::observe::{NodeEnd, PruneReason, SearchReason};
use super::sums::NodeType;
use crate::chess::score::{Depth, Ply, Score};

/// One visit of a node. Windows and scores are those of the side to move there, in centipawns.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Visit {
    /// Index of the parent's visit in [`Trace::visits`](super::Trace::visits).
    pub parent: Option<usize>,
    /// The visiting thread; 0 is the main one.
    pub thread: usize,
    /// The iteration, in plies.
    pub iteration: Depth,
    /// Rank of the line being searched, from 1.
    pub line: usize,
    /// The move that led here, in SAN; none if the parent is the same node, or after a null move.
    #[serde(rename = "move")]
    pub mv: Option<String>,
    /// The position.
    pub fen: String,
    /// Why the node was searched.
    #[serde(serialize_with = "describe")]
    pub why: SearchReason,
    /// Plies by which it was reduced.
    pub reduction: Depth,
    /// Plies from the root.
    pub ply: Ply,
    /// Plies left; 0 in quiescence.
    pub depth: Depth,
    /// Whether it was a visit of quiescence.
    pub quiescence: bool,
    /// The lower bound of the window.
    pub alpha: Score,
    /// The upper bound of the window.
    pub beta: Score,
    /// The static evaluation, if it was computed.
    pub eval: Option<Score>,
    /// Whether the table had an entry.
    pub hit: bool,
    /// Games of the book that reached it.
    pub book_games: Option<u64>,
    /// Plies by which it was searched less deeply because the reduced last move raised the
    /// evaluation.
    pub hindsight: Depth,
    /// The table move and the plies of its extension or (negative) reduction.
    pub extended: Option<(String, Depth)>,
    /// The moves that were not searched.
    pub pruned: Vec<(String, PruneReason)>,
    /// Whether late move pruning skipped the remaining quiet moves.
    pub quiets_pruned: bool,
    /// Whether its moves were shared.
    pub split: bool,
    /// What determined its value.
    pub end: NodeEnd,
    /// The best move in the end.
    pub best: Option<String>,
    /// Its value; meaningless if it was stopped.
    pub score: Score,
    /// Whether the search was stopped during the visit.
    pub stopped: bool,
    /// Nodes of all threads at and below it.
    pub nodes: u64,
    /// Visits below that are counted but not recorded.
    pub hidden: u64,
    /// Whether it leads to the end of [`Bounds::branch`](super::Bounds), or is below it.
    pub on_branch: bool,
}

impl Visit {
    /// Returns its type; `None` if it was stopped.
    pub fn node_type(&self) -> Option<NodeType> {
        (!self.stopped).then(|| NodeType::of(self.score, (self.alpha, self.beta)))
    }

    /// Returns the window and the score for the side to move at the root.
    pub fn from_root(&self) -> ((Score, Score), Score) {
        match self.ply % 2 {
            0 => ((self.alpha, self.beta), self.score),
            _ => ((-self.beta, -self.alpha), -self.score),
        }
    }
}

fn describe<S: Serializer>(why: &SearchReason, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(why.name())
}
