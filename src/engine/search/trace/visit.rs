//! A visit to a node, as recorded in a trace.

use serde::{Serialize, Serializer};

use super::super::observe::{NodeEnd, PruneReason, SearchReason};
use super::sums::NodeType;
use crate::chess::score::{Depth, Ply, Score};

/// A recorded visit to a node.
///
/// Windows and scores are in centipawns, from the point of view of the side to move at the node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Visit {
    /// Index in [`Trace::visits`](super::Trace::visits) of the visit to the parent node.
    pub parent: Option<usize>,
    /// Number of the thread that visited the node; 0 is the main thread.
    pub thread: usize,
    /// Depth of the iteration, in plies.
    pub iteration: Depth,
    /// 1-based rank of the line being searched (1 unless there are several principal variations).
    pub line: usize,
    /// The move that led to the node, in SAN. `None` at the root, after a null move, or if the same
    /// node is searched again.
    #[serde(rename = "move")]
    pub mv: Option<String>,
    /// The node's position as FEN.
    pub fen: String,
    /// The reason why the node was searched.
    #[serde(serialize_with = "describe")]
    pub why: SearchReason,
    /// Late move reduction of the node's depth, in plies.
    pub reduction: Depth,
    /// Distance from the root in plies.
    pub ply: Ply,
    /// Remaining depth in plies; 0 in quiescence.
    pub depth: Depth,
    /// Whether the node belongs to the quiescence search.
    pub quiescence: bool,
    /// Lower bound of the window.
    pub alpha: Score,
    /// Upper bound of the window.
    pub beta: Score,
    /// Static evaluation, if it was computed.
    pub eval: Option<Score>,
    /// Whether the transposition table had an entry for the node.
    pub hit: bool,
    /// Number of the book's games that reached the position, or `None` if the position is not in
    /// the book.
    pub book_games: Option<u64>,
    /// Number of plies by which the node was reduced in hindsight, because the last move had
    /// already been reduced and the evaluation had improved for the side to move.
    pub hindsight: Depth,
    /// The table move and its extension in plies. A negative extension is a reduction.
    pub extended: Option<(String, Depth)>,
    /// The pruned moves, each with the reason.
    pub pruned: Vec<(String, PruneReason)>,
    /// Whether late move pruning skipped the remaining quiet moves.
    pub quiets_pruned: bool,
    /// Whether the node's moves were shared among threads.
    pub split: bool,
    /// The rule or step that determined the node's value.
    pub end: NodeEnd,
    /// The best move, in SAN. `None` if no move raised alpha.
    pub best: Option<String>,
    /// Value of the node for the side to move. Meaningless if the search was stopped during the
    /// visit.
    pub score: Score,
    /// Whether the search was stopped during the visit.
    pub stopped: bool,
    /// Number of nodes searched during this visit, including the node itself and nodes searched by
    /// other threads.
    pub nodes: u64,
    /// Number of visits below this one that were counted but not recorded.
    pub hidden: u64,
    /// Whether the visit is on the line [`Bounds::branch`](super::Bounds) or below its end.
    pub on_branch: bool,
}

impl Visit {
    /// Returns the type of the node, or `None` if the visit was stopped.
    pub fn node_type(&self) -> Option<NodeType> {
        (!self.stopped).then(|| NodeType::of(self.score, (self.alpha, self.beta)))
    }

    /// Returns the window and the score from the point of view of the side to move at the root.
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
