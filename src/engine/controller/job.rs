//! The running search and its progress.

use std::time::{Duration, Instant};

use crate::chess::position::{Move, Position};
use crate::chess::score::{Depth, Score};
use crate::engine::search::{self, Bound, Control, Report, SearchResult, TimeLimit};
use crate::games::book::Scored;

use super::desired_state::Purpose;

pub(super) struct RunningSearch {
    pub(super) number: u64,
    pub(super) purpose: Purpose,
    pub(super) revision: u64,
    pub(super) control: Control,
    pub(super) time: TimeLimit,
    pub(super) started: Instant,
    pub(super) status: SearchStatus,
    pub(super) report: Option<Report>,
    pub(super) subject: Option<Position>,
    pub(super) refuted: Option<Scored>,
    pub(super) completed: Option<Report>,
    pub(super) learnt_at: Duration,
    pub(super) result: Option<SearchResult>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct SearchStatus {
    pub elapsed: Duration,
    pub nodes: u64,
    pub depth: Depth,
    /// 1-based position of the current root move in the search order; 0 before the first root move
    /// is searched.
    pub number: usize,
    pub of: usize,
    pub current: Option<Move>,
}

impl RunningSearch {
    /// Whether the opponent's move `mv` is a ponder hit: this search is pondering on `mv` and was
    /// started at the given revision of the game.
    pub(super) fn hit(&self, mv: Move, revision: u64) -> bool {
        self.purpose == Purpose::Ponder(mv) && self.revision == revision
    }

    pub(super) fn is_pondering(&self) -> bool {
        matches!(self.purpose, Purpose::Ponder(_))
    }

    /// Returns the position for which `score` should be learned. Returns `None` if nothing is to be
    /// learned from this search, or if a move excluded from the search is known to be better.
    pub(super) fn learnable_position(&self, score: Score) -> Option<Position> {
        self.subject.filter(|_| self.refuted.is_none_or(|(_, known)| score >= known))
    }

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
