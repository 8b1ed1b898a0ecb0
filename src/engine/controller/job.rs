//! The running search.

use std::time::{Duration, Instant};

use crate::chess::position::{Move, Position};
use crate::chess::score::{Depth, Score};
use crate::engine::search::{self, Bound, Control, Report, SearchResult, TimeLimit};
use crate::games::book::Scored;

use super::desired_state::Purpose;

/// A requested search.
pub(super) struct RunningSearch {
    pub(super) number: u64,
    pub(super) purpose: Purpose,
    /// The revision of the game it is for.
    pub(super) revision: u64,
    pub(super) control: Control,
    /// The time limit it was started with.
    pub(super) time: TimeLimit,
    pub(super) started: Instant,
    pub(super) status: SearchStatus,
    pub(super) report: Option<Report>,
    /// The searched position, if the result is to be learnt.
    pub(super) subject: Option<Position>,
    /// The best of the moves excluded as refuted, with its score.
    pub(super) refuted: Option<Scored>,
    /// The report of its last completed iteration.
    pub(super) completed: Option<Report>,
    /// Elapsed time when its result was last written.
    pub(super) learnt_at: Duration,
    /// Its result, if it ended before it was needed.
    pub(super) result: Option<SearchResult>,
}

/// The progress of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct SearchStatus {
    /// Time since its start.
    pub elapsed: Duration,
    /// Nodes searched.
    pub nodes: u64,
    /// The iteration, in plies.
    pub depth: Depth,
    /// The number of the current root move, from 1; 0 before the first.
    pub number: usize,
    /// The number of root moves.
    pub of: usize,
    /// The current root move.
    pub current: Option<Move>,
}

impl RunningSearch {
    /// Whether the search ponders on this move in this revision of the game.
    pub(super) fn hit(&self, mv: Move, revision: u64) -> bool {
        self.purpose == Purpose::Ponder(mv) && self.revision == revision
    }

    /// Whether it runs on the opponent's time.
    pub(super) fn is_pondering(&self) -> bool {
        matches!(self.purpose, Purpose::Ponder(_))
    }

    /// Returns the position for which this score can be learnt: no excluded move has a better one.
    pub(super) fn learnable_position(&self, score: Score) -> Option<Position> {
        self.subject.filter(|_| self.refuted.is_none_or(|(_, known)| score >= known))
    }

    /// Updates the progress from an event.
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
