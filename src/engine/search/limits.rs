//! What bounds a search.

use std::time::Duration;

use super::handicap::Handicap;
use crate::chess::position::Move;
use crate::chess::score::{Depth, MAX_PLY, Ply, Score, mate_in};

/// What bounds one search. The default searches all moves without an end, until stopped.
#[derive(Debug, Clone)]
pub struct Limits {
    /// The last iteration, in plies.
    pub depth: Option<Depth>,
    /// Nodes after which the search stops, of all threads together.
    pub nodes: Option<u64>,
    /// Nodes after which no new iteration begins.
    pub soft_nodes: Option<u64>,
    /// Only a mate in so many moves is looked for, at least 1: nothing is pruned on suspicion, so
    /// what is not found in `2 * moves - 1` iterations does not exist. The search ends with the
    /// first one found; without one it has the score of a bound.
    pub mate: Option<u32>,
    /// Time on the clock.
    pub time: TimeLimit,
    /// The only moves to search at the root; empty means all.
    pub root_moves: Vec<Move>,
    /// How many of the best moves to report with lines of their own; at least 1.
    pub multi_pv: usize,
    /// Whether the search runs on the opponent's time: the own clock starts with
    /// [`Control::ponder_hit`](super::Control::ponder_hit), and no move comes before it.
    pub ponder: bool,
    /// What makes the search err; `None` for full strength.
    pub handicap: Option<Handicap>,
    /// The move is told no sooner, unless the search is stopped.
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
    /// Limits of an analysis to a fixed depth.
    pub fn depth(depth: Depth) -> Self {
        Limits { depth: Some(depth), ..Limits::default() }
    }

    /// Whether nothing but a stop ends the search.
    pub fn is_analysis(&self) -> bool {
        self.depth.is_none()
            && self.nodes.is_none()
            && self.soft_nodes.is_none()
            && self.mate.is_none()
            && self.time == TimeLimit::Infinite
    }

    /// Limits of an analysis of a number of nodes.
    pub fn nodes(nodes: u64) -> Self {
        Limits { nodes: Some(nodes), ..Limits::default() }
    }

    /// Limits of a search for a mate in so many moves.
    pub fn mate(moves: u32) -> Self {
        Limits { mate: Some(moves), ..Limits::default() }
    }

    /// The least score of the mates that are looked for, if only they are.
    pub(super) fn min_mate(&self) -> Option<Score> {
        let plies = 2 * self.mate?.clamp(1, MAX_PLY as u32 / 2 - 1) - 1;
        Some(mate_in(plies as Ply))
    }

    /// The number of the last iteration.
    pub(super) fn last_iteration(&self) -> Depth {
        let mate = self.min_mate().map(|least| mate_in(0) - least);
        let last = self.depth.into_iter().chain(mate).min().unwrap_or(Depth::MAX);
        last.clamp(1, MAX_PLY as Depth - 2)
    }

    /// Limits of a search that takes the given time.
    pub fn move_time(time: Duration) -> Self {
        Limits { time: TimeLimit::MoveTime(time), ..Limits::default() }
    }
}

/// The time a search may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeLimit {
    /// No bound.
    Infinite,
    /// Exactly this long, unless another limit ends the search.
    MoveTime(Duration),
    /// A share of what is on the clock.
    Clock {
        /// Time left for this and all further moves of the period.
        remaining: Duration,
        /// Time added after each move.
        increment: Duration,
        /// Moves to play in the period; `None` where it lasts to the end of the game.
        moves_to_go: Option<u32>,
    },
}
