//! The search that runs.

use std::time::{Duration, Instant};

use crate::chess::position::{Move, Position};
use crate::chess::score::{Depth, Score};
use crate::engine::search::{self, Bound, Control, Report, SearchResult, TimeLimit};
use crate::games::book::Scored;

use super::desired_state::Purpose;

/// A search that was ordered.
pub(super) struct RunningSearch {
    pub(super) number: u64,
    pub(super) purpose: Purpose,
    /// The revision of the game it is about.
    pub(super) revision: u64,
    pub(super) control: Control,
    /// The clock it was given.
    pub(super) time: TimeLimit,
    pub(super) started: Instant,
    pub(super) status: SearchStatus,
    pub(super) report: Option<Report>,
    /// The position that it is about, if what it finds is to be learnt.
    pub(super) subject: Option<Position>,
    /// The best of the moves that it leaves out since they did not hold, with what it is worth.
    pub(super) refuted: Option<Scored>,
    /// The report of its last completed iteration.
    pub(super) completed: Option<Report>,
    /// How long it had lasted when what it had found was last written down.
    pub(super) learnt_at: Duration,
    /// What it came to, if it ended before it was needed.
    pub(super) result: Option<SearchResult>,
}

/// How far a search has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct SearchStatus {
    /// Since its start.
    pub elapsed: Duration,
    /// Nodes searched.
    pub nodes: u64,
    /// The iteration, in plies.
    pub depth: Depth,
    /// The place of the current root move, from 1; 0 before the first.
    pub number: usize,
    /// The number of root moves.
    pub of: usize,
    /// The root move that is being searched.
    pub current: Option<Move>,
}

impl RunningSearch {
    /// Whether the move is the one this search was hoping for in this revision of the game.
    pub(super) fn hit(&self, mv: Move, revision: u64) -> bool {
        self.purpose == Purpose::Ponder(mv) && self.revision == revision
    }

    /// Whether it is on the opponent's time.
    pub(super) fn is_pondering(&self) -> bool {
        matches!(self.purpose, Purpose::Ponder(_))
    }

    /// The position of which this score can be learnt: of all its moves, no better one is known.
    pub(super) fn learnable_position(&self, score: Score) -> Option<Position> {
        self.subject.filter(|_| self.refuted.is_none_or(|(_, known)| score >= known))
    }

    /// Keeps what an event says of how far the search is.
    pub(super) fn note(&mut self, event: &search::SearchEvent) {
        match event {
            search::SearchEvent::Iteration(report) | search::SearchEvent::NewBest(report) => {
                self.status.depth = report.depth;
                self.status.nodes = report.nodes;
                if report.multi_pv == 1 {
                    self.report = Some(report.clone());
                    let is_whole = matches!(event, search::SearchEvent::Iteration(_));
                    if self.subject.is_some() && is_whole && report.bound == Bound::Exact {
                        self.completed = Some(report.clone());
                    }
                }
            }
            &search::SearchEvent::RootMove { mv, number, of, depth, nodes, .. } => {
                let current = Some(mv);
                self.status = SearchStatus { nodes, depth, number, of, current, ..self.status };
            }
            search::SearchEvent::Transposition(_) => (),
        }
    }
}
