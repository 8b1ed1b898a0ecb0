//! Nodes whose moves are shared out among threads, see [`super::sharing`].

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::event_count::EventCount;
use super::node::{Node, NodeProgress};
use super::observe::Place;
use super::stack::StackEntry;
use crate::position::Move;
use crate::score::Ply;

/// A node whose moves are shared out.
pub(super) struct SplitPoint {
    pub(super) node: Node,
    /// What a thread must know of the way here.
    pub(super) stack: Vec<StackEntry>,
    pub(super) keys: Vec<u64>,
    pub(super) null_move_from: Ply,
    /// The visit of whoever shares it out, for who watches.
    pub(super) place: Place,
    pub(super) parent: Option<Arc<SplitPoint>>,
    pub(super) cut_off: AtomicBool,
    pub(super) shared: Mutex<SplitState>,
}

pub(super) struct SplitState {
    pub(super) moves: std::vec::IntoIter<Move>,
    pub(super) progress: NodeProgress,
    pub(super) workers: usize,
}

impl SplitPoint {
    /// Whether this node, or one above it, needs no more search.
    pub(super) fn is_cut_off(&self) -> bool {
        let mut split = Some(self);
        while let Some(here) = split {
            if here.cut_off.load(Ordering::Relaxed) {
                return true;
            }
            split = here.parent.as_deref();
        }
        false
    }

    fn is_below(&self, other: &SplitPoint) -> bool {
        let mut split = Some(self);
        while let Some(here) = split {
            if std::ptr::eq(here, other) {
                return true;
            }
            split = here.parent.as_deref();
        }
        false
    }

    pub(super) fn shared(&self) -> MutexGuard<'_, SplitState> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The split points of a search, and its idle threads.
#[derive(Default)]
pub(super) struct Splits {
    open: Mutex<Vec<Arc<SplitPoint>>>,
    /// Rung whenever an idle thread may find something new.
    pub(super) events: EventCount,
    pub(super) finished: AtomicBool,
}

impl Splits {
    fn open(&self) -> MutexGuard<'_, Vec<Arc<SplitPoint>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells all threads that the search is over.
    pub(super) fn finish(&self) {
        self.finished.store(true, Ordering::Release);
        self.events.notify();
    }

    pub(super) fn publish(&self, split: &Arc<SplitPoint>) {
        self.open().push(Arc::clone(split));
        self.events.notify();
    }

    /// Lets nobody else join.
    pub(super) fn withdraw(&self, split: &Arc<SplitPoint>) {
        self.open().retain(|other| !Arc::ptr_eq(other, split));
    }

    /// Joins the split point with the most depth left, if any (below `top`).
    pub(super) fn join(&self, top: Option<&SplitPoint>) -> Option<Arc<SplitPoint>> {
        let open = self.open();
        let candidates = open.iter().filter(|split| top.is_none_or(|top| split.is_below(top)));
        let best = candidates
            .filter(|split| !split.is_cut_off() && split.shared().moves.len() > 0)
            .max_by_key(|split| split.node.depth)?;
        best.shared().workers += 1;
        Some(Arc::clone(best))
    }
}
