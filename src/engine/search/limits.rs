//! Limits of a search: depth, nodes, time, and others.

use std::time::Duration;

use super::handicap::Handicap;
use crate::chess::position::Move;
use crate::chess::score::{Depth, MAX_PLY, Ply, Score, mate_in};

/// Limits of a search. The default is to search all moves until the search is stopped.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Depth of the last iteration, in plies.
    pub depth: Option<Depth>,
    /// Total number of nodes, over all threads, after which the search stops.
    pub nodes: Option<u64>,
    /// Total number of nodes, over all threads, after which no new iteration starts.
    pub soft_nodes: Option<u64>,
    /// Searches only for a mate in this many moves, at least 1.
    ///
    /// Only sound pruning is used, so a mate not found in `2 * moves - 1` iterations does not
    /// exist. The search ends with the first mate found. If it finds none, its score is a bound.
    pub mate: Option<u32>,
    /// Maximum time for the search.
    pub time: TimeLimit,
    /// The moves to search at the root; empty for all legal moves.
    pub root_moves: Vec<Move>,
    /// Number of best moves to report, each with a separate line; at least 1.
    pub multi_pv: usize,
    /// Whether to ponder. The clock starts with
    /// [`Control::ponder_hit`](super::Control::ponder_hit), and no move is returned before that.
    pub ponder: bool,
    /// The mistakes to make on purpose; `None` for full strength.
    pub handicap: Option<Handicap>,
    /// Minimum time before the move is returned, unless the search is stopped.
    pub min_time: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            depth: None,
            nodes: None,
            soft_nodes: None,
            mate: None,
            time: TimeLimit::Infinite,
            root_moves: Vec::new(),
            multi_pv: 1,
            ponder: false,
            handicap: None,
            min_time: Duration::ZERO,
        }
    }
}

impl Limits {
    /// Returns the limits of a search to a fixed depth, in plies.
    pub fn depth(depth: Depth) -> Self {
        Limits { depth: Some(depth), ..Limits::default() }
    }

    /// Whether the search runs until it is stopped.
    pub fn is_analysis(&self) -> bool {
        self.depth.is_none()
            && self.nodes.is_none()
            && self.soft_nodes.is_none()
            && self.mate.is_none()
            && self.time == TimeLimit::Infinite
    }

    /// Returns the limits of a search with a fixed number of nodes.
    pub fn nodes(nodes: u64) -> Self {
        Limits { nodes: Some(nodes), ..Limits::default() }
    }

    /// Returns the limits of a search for a mate in this many moves.
    pub fn mate(moves: u32) -> Self {
        Limits { mate: Some(moves), ..Limits::default() }
    }

    /// Returns the lowest score of the mates that the search looks for, or `None` if it does not
    /// look only for mates.
    pub(super) fn min_mate(&self) -> Option<Score> {
        let plies = 2 * self.mate?.clamp(1, MAX_PLY as u32 / 2 - 1) - 1;
        Some(mate_in(plies as Ply))
    }

    /// Returns the depth of the last iteration, in plies.
    pub(super) fn last_iteration(&self) -> Depth {
        let mate = self.min_mate().map(|least| mate_in(0) - least);
        let last = self.depth.into_iter().chain(mate).min().unwrap_or(Depth::MAX);
        last.clamp(1, MAX_PLY as Depth - 2)
    }

    /// Returns the limits of a search that takes the given time.
    pub fn move_time(time: Duration) -> Self {
        Limits { time: TimeLimit::MoveTime(time), ..Limits::default() }
    }
}

/// The time that a search may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeLimit {
    /// No time limit.
    Infinite,
    /// Exactly this time, unless another limit ends the search.
    MoveTime(Duration),
    /// A share of the time on a clock.
    Clock {
        /// Time left for this and all further moves of the period.
        remaining: Duration,
        /// Time added after each move.
        increment: Duration,
        /// Number of moves to play in the period; `None` if it lasts until the end of the game.
        moves_to_go: Option<u32>,
    },
}
