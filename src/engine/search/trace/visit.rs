//! One visit of a node, as it is written down.

use serde::{Serialize, Serializer};

use super::super::observe::{NodeEnd, PruneReason, SearchReason};
use super::sums::NodeType;
use crate::chess::score::{Depth, Ply, Score};

/// One visit of a node. Windows and scores are those of the side to move there, in centipawns.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Visit {
    /// The visit of the node above, by its place in [`Trace::visits`](super::Trace::visits).
    pub parent: Option<usize>,
    /// The thread that made it; 0 is the main one.
    pub thread: usize,
    /// The iteration, in plies.
    pub iteration: Depth,
    /// Which of the best lines was searched for, from 1.
    pub line: usize,
    /// The move that led here, in SAN; none where it is the same node as that above, or after passing.
    #[serde(rename = "move")]
    pub mv: Option<String>,
    /// The position.
    pub fen: String,
    /// Why it was made.
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
    /// The window.
    pub alpha: Score,
    /// Its upper bound.
    pub beta: Score,
    /// The static evaluation, where it was asked for.
    pub eval: Option<Score>,
    /// Whether the table had something of it.
    pub hit: bool,
    /// Games of the book that reached it.
    pub book_games: Option<u64>,
    /// Plies it was searched less deeply for what the last move, which was reduced, had made of the
    /// evaluation.
    pub hindsight: Depth,
    /// Its table move if that was searched more deeply, or less, and by how many plies.
    pub extended: Option<(String, Depth)>,
    /// The moves that were not searched.
    pub left_out: Vec<(String, PruneReason)>,
    /// Whether all quiet moves from some on were left out too.
    pub quiets_left_out: bool,
    /// Whether its moves were shared out.
    pub split: bool,
    /// What settled it.
    pub end: NodeEnd,
    /// The move that was the best in the end.
    pub best: Option<String>,
    /// Its value; meaningless if it was stopped.
    pub score: Score,
    /// Whether the search was told to stop meanwhile.
    pub stopped: bool,
    /// Nodes at and below it, of all threads.
    pub nodes: u64,
    /// Visits below that are counted and not written down.
    pub hidden: u64,
    /// Whether it is on the way to the end of [`Bounds::branch`](super::Bounds), or below it.
    pub on_branch: bool,
}

impl Visit {
    /// Its type; none if it was stopped.
    pub fn node_type(&self) -> Option<NodeType> {
        (!self.stopped).then(|| NodeType::of(self.score, (self.alpha, self.beta)))
    }

    /// The window and the score as the side to move at the root sees them.
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
