//! A recorded search: every visit to a node and every step, in order.
//!
//! ```
//! use tabia::lesson::chess::Chess;
//! use tabia::lesson::game::Window;
//! use tabia::lesson::record::{Bounds, Recorder};
//! use tabia::lesson::search::{Algorithm, Search};
//! use tabia::position::Position;
//!
//! let (root, mut recorder) = (Position::start(), Recorder::new(Bounds { ply: 1, visits: 100 }));
//! let mut chess = Chess::new(&root);
//! Search::new(&mut chess, &mut recorder, &[]).run(Algorithm::Pvs, &root, 2, Window::FULL);
//! assert!(recorder.visits.len() as u64 <= recorder.counter.nodes);
//! ```

use super::game::Window;
use super::observe::{Counter, Observer, SearchReason};
use crate::chess::score::{Depth, Ply, Score};

/// A visit to a node. Windows and scores are from the point of view of the side to move at the
/// node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Visit<M> {
    /// The index of the visit to the parent node; `None` at the root.
    pub parent: Option<usize>,
    /// The move that led to the node; `None` at the root.
    pub via: Option<M>,
    /// The number of plies from the root.
    pub ply: Ply,
    /// The window at the start of the visit.
    pub window: Window,
    /// Why the node is searched with this window.
    pub why: SearchReason,
    /// The value at the end of the visit.
    pub value: Score,
    /// The best line, starting at this node.
    pub line: Vec<M>,
    /// Whether the node had no moves to search.
    pub leaf: bool,
    /// Whether the transposition table provided the value.
    pub hit: bool,
    /// Alpha, beta and the moves that were cut off, or `None` if there was no cutoff.
    pub cutoff: Option<(Score, Score, Vec<M>)>,
    /// The number of unrecorded visits to descendants of this node during this visit. Those below a
    /// recorded descendant are counted there instead.
    pub hidden: u64,
}

/// A step of a search. A `usize` is the index of the visit to which the step belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step<M> {
    /// An iteration to this depth starts.
    Iteration(Depth),
    /// The search enters a node.
    Enter(usize),
    /// The transposition table provides the move to search first.
    First(usize, M),
    /// The move raises alpha to this score.
    Raise(usize, M, Score),
    /// The remaining moves are cut off.
    Cutoff(usize),
    /// The search leaves a node.
    Leave(usize),
}

/// Limits that determine which visits are recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// The greatest ply at which visits are recorded.
    pub ply: Ply,
    /// The maximum number of recorded visits.
    pub visits: usize,
}

impl Bounds {
    /// Records every visit.
    pub const NONE: Bounds = Bounds { ply: Ply::MAX, visits: usize::MAX };
}

/// An [`Observer`] that records the visits within [`Bounds`] and their steps, and counts all steps.
#[derive(Debug, Clone)]
pub struct Recorder<M> {
    /// The recorded visits, in the order in which the search entered the nodes.
    pub visits: Vec<Visit<M>>,
    /// The recorded steps, in order.
    pub steps: Vec<Step<M>>,
    /// Counts over all visits, whether recorded or not.
    pub counter: Counter,
    bounds: Bounds,
    /// The visits in progress, from the root to the current node: the index of each visit, or
    /// `None` if the visit is not recorded.
    path: Vec<Option<usize>>,
}

impl<M> Recorder<M> {
    /// Creates an empty recorder with the given limits.
    pub fn new(bounds: Bounds) -> Self {
        Recorder {
            visits: Vec::new(),
            steps: Vec::new(),
            counter: Counter::default(),
            bounds,
            path: Vec::new(),
        }
    }

    pub(crate) fn last_of_root(&self) -> Option<&Visit<M>> {
        self.visits.iter().rev().find(|visit| visit.parent.is_none())
    }

    fn current(&self) -> Option<usize> {
        self.path.last().copied().flatten()
    }

    /// Counts an unrecorded visit in the `hidden` field of its nearest recorded ancestor.
    fn hide(&mut self) {
        if let Some(above) = self.path.iter().rev().copied().flatten().next() {
            self.visits[above].hidden += 1;
        }
    }
}

impl<M: Copy> Observer<M> for Recorder<M> {
    fn iteration(&mut self, depth: Depth) {
        self.steps.push(Step::Iteration(depth));
    }

    fn enter(&mut self, ply: Ply, via: Option<M>, window: Window, why: SearchReason) {
        self.counter.enter(ply, via, window, why);
        let parent = self.current();
        let orphan = ply > 0 && parent.is_none();
        if orphan || ply > self.bounds.ply || self.visits.len() >= self.bounds.visits {
            self.hide();
            self.path.push(None);
            return;
        }
        let id = self.visits.len();
        self.visits.push(Visit {
            parent,
            via,
            ply,
            window,
            why,
            value: 0,
            line: Vec::new(),
            leaf: false,
            hit: false,
            cutoff: None,
            hidden: 0,
        });
        self.steps.push(Step::Enter(id));
        self.path.push(Some(id));
    }

    fn hit(&mut self, ply: Ply) {
        Observer::<M>::hit(&mut self.counter, ply);
        if let Some(id) = self.current() {
            self.visits[id].hit = true;
        }
    }

    fn first(&mut self, _ply: Ply, mv: M) {
        if let Some(id) = self.current() {
            self.steps.push(Step::First(id, mv));
        }
    }

    fn raise(&mut self, _ply: Ply, mv: M, value: Score) {
        if let Some(id) = self.current() {
            self.steps.push(Step::Raise(id, mv, value));
        }
    }

    fn cutoff(&mut self, ply: Ply, alpha: Score, beta: Score, rest: &[M]) {
        self.counter.cutoff(ply, alpha, beta, rest);
        if rest.is_empty() {
            return;
        }
        if let Some(id) = self.current() {
            self.visits[id].cutoff = Some((alpha, beta, rest.to_vec()));
            self.steps.push(Step::Cutoff(id));
        }
    }

    fn leave(&mut self, ply: Ply, value: Score, line: &[M], leaf: bool) {
        self.counter.leave(ply, value, line, leaf);
        if let Some(id) = self.path.pop().flatten() {
            let visit = &mut self.visits[id];
            visit.value = value;
            visit.line = line.to_vec();
            visit.leaf = leaf;
            self.steps.push(Step::Leave(id));
        }
    }
}
