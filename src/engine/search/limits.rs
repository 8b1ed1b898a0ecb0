//! Limits on a search, such as depth, nodes and time.

use std::time::Duration;

use super::handicap::Handicap;
use crate::chess::position::Move;
use crate::chess::score::{Depth, MAX_PLY, Ply, Score, mate_in};

/// Limits on a search. By default, a search considers all moves and runs until it is stopped.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Maximum iteration depth, in plies.
    pub depth: Option<Depth>,
    /// Maximum total number of nodes over all threads. The search stops when it is reached.
    pub nodes: Option<u64>,
    /// Total number of nodes, summed over all threads, after which no new iteration starts.
    pub soft_nodes: Option<u64>,
    /// If set, the search looks only for a mate within this many moves (at least 1).
    ///
    /// It ends when it finds the first such mate. It uses only sound pruning, so if it finds none
    /// in `2 * moves - 1` iterations, no such mate exists; the score is then only a bound.
    pub mate: Option<u32>,
    /// Maximum time for the search.
    pub time: TimeLimit,
    /// The moves to search at the root. If empty, all legal moves are searched.
    pub root_moves: Vec<Move>,
    /// Number of lines to report (MultiPV, at least 1), each for a different root move, best first.
    pub multi_pv: usize,
    /// Whether to search on the opponent's time. Until
    /// [`Control::ponder_hit`](super::Control::ponder_hit) is called, the clock does not run and no
    /// move is returned.
    pub ponder: bool,
    /// Deliberate mistakes, or `None` for full strength.
    pub handicap: Option<Handicap>,
    /// Minimum time before the best move is returned. It does not apply if the search is stopped
    /// through its control.
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
    /// Returns limits for a search to a fixed depth, in plies.
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

    /// Returns limits for a search with a fixed number of nodes.
    pub fn nodes(nodes: u64) -> Self {
        Limits { nodes: Some(nodes), ..Limits::default() }
    }

    /// Returns limits for a search for a mate within `moves` moves.
    pub fn mate(moves: u32) -> Self {
        Limits { mate: Some(moves), ..Limits::default() }
    }

    /// Returns the lowest score of a mate within the requested number of moves; `None` if the
    /// search is not a search for mates.
    pub(super) fn min_mate(&self) -> Option<Score> {
        let plies = 2 * self.mate?.clamp(1, MAX_PLY as u32 / 2 - 1) - 1;
        Some(mate_in(plies as Ply))
    }

    pub(super) fn last_iteration(&self) -> Depth {
        let mate = self.min_mate().map(|least| mate_in(0) - least);
        let last = self.depth.into_iter().chain(mate).min().unwrap_or(Depth::MAX);
        last.clamp(1, MAX_PLY as Depth - 2)
    }

    /// Returns limits for a search with a fixed time per move.
    pub fn move_time(time: Duration) -> Self {
        Limits { time: TimeLimit::MoveTime(time), ..Limits::default() }
    }
}

/// The time that a search may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeLimit {
    /// No time limit.
    Infinite,
    /// A fixed time for the move, less a small reserve for communication. The search uses all of
    /// it, unless another limit ends the search first.
    MoveTime(Duration),
    /// A share of the time on a clock.
    Clock {
        /// Time left on the clock for the current move and all later moves of the time control.
        remaining: Duration,
        /// Time added after each move.
        increment: Duration,
        /// Number of moves until the next time control, or `None` if the remaining time is for the
        /// rest of the game.
        moves_to_go: Option<u32>,
    },
}
