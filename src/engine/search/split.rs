//! Nodes whose moves are shared among threads, see [`super::sharing`].

use std::sync::atomic::{AtomicBool, AtomicI32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crossbeam::utils::CachePadded;

use super::helper_pool::{SharedThreadSet, ThreadSet};
use super::node::{Node, NodeProgress};
use super::observe::VisitRef;
use super::source::SharedMoves;
use super::stack::StackEntry;
use crate::chess::position::Move;
use crate::chess::score::{Depth, Ply, Score};

/// Below this depth a split costs more than it gains: handing a node over takes about ten
/// microseconds, as long as about ten nodes.
const SPLIT_DEPTH: Depth = 4;

/// Returns the minimum depth at which `threads` threads share nodes.
pub(super) fn split_depth(threads: usize) -> Depth {
    if threads > 1 { SPLIT_DEPTH } else { Depth::MAX }
}

/// A node whose moves are shared.
pub(super) struct SplitPoint {
    pub(super) node: Node,
    /// Copy of the path to the node, as the owner's own changes.
    pub(super) stack: Vec<StackEntry>,
    pub(super) keys: Vec<u64>,
    pub(super) null_move_from: Ply,
    /// The owner's visit, for observers.
    pub(super) place: VisitRef,
    /// The thread that shares the node, and continues when all others have left.
    pub(super) owner: usize,
    /// The owners of this and of all split points above.
    pub(super) owners: ThreadSet,
    pub(super) parent: Option<Arc<SplitPoint>>,
    /// The threads that work or worked here or below.
    below: SharedThreadSet,
    cut_off: AtomicBool,
    /// The alpha of the progress, readable without the lock.
    alpha: AtomicI32,
    /// Number of threads working here, including the owner and those called.
    workers: CachePadded<AtomicUsize>,
    /// Whether another thread than the owner has searched a move.
    pub(super) joined: AtomicBool,
    shared: Mutex<SplitState>,
}

/// The mutable state of a split point.
pub(super) struct SplitState {
    pub(super) moves: SharedMoves,
    /// The next move and its number. It is known to be worth a search, so that a called thread
    /// always has work.
    pub(super) next: Option<(Move, usize)>,
    pub(super) progress: NodeProgress,
}

/// The path to a node, from the root.
pub(super) struct NodePath<'a> {
    pub(super) stack: &'a [StackEntry],
    pub(super) keys: &'a [u64],
    pub(super) null_move_from: Ply,
    pub(super) place: VisitRef,
}

impl SplitPoint {
    /// Creates a split point for a node of `owner`, which works there.
    pub(super) fn new(
        node: &Node,
        owner: usize,
        path: &NodePath<'_>,
        parent: Option<&Arc<SplitPoint>>,
        state: SplitState,
    ) -> Self {
        let above = parent.map_or_else(ThreadSet::default, |parent| parent.owners);
        let split = SplitPoint {
            node: node.clone(),
            stack: path.stack.to_vec(),
            keys: path.keys.to_vec(),
            null_move_from: path.null_move_from,
            place: path.place,
            owner,
            owners: above.with(owner),
            parent: parent.cloned(),
            below: SharedThreadSet::default(),
            cut_off: AtomicBool::new(false),
            alpha: AtomicI32::new(state.progress.alpha),
            workers: CachePadded::new(AtomicUsize::new(1)),
            joined: AtomicBool::new(false),
            shared: Mutex::new(state),
        };
        split.below.insert(owner);
        split
    }

    /// Identifies this node for threads that wait for it.
    pub(super) fn address(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }

    /// This and the split points above, innermost first.
    fn chain(&self) -> impl Iterator<Item = &SplitPoint> {
        std::iter::successors(Some(self), |split| split.parent.as_deref())
    }

    /// Whether this node, or one above it, needs no more search.
    pub(super) fn is_cut_off(&self) -> bool {
        self.chain().any(|split| split.cut_off.load(Ordering::Relaxed))
    }

    /// Whether this is the split point with that address, or below it.
    pub(super) fn is_below(&self, address: usize) -> bool {
        self.chain().any(|split| split.address() == address)
    }

    /// Registers a thread that is called here.
    pub(super) fn sign_on(&self, thread: usize) {
        self.workers.fetch_add(1, Ordering::Relaxed);
        // A thread below a split point is also below all those above it.
        let _ = self.chain().all(|split| split.below.insert(thread));
    }

    /// Signs a thread off; returns whether it was the last.
    pub(super) fn sign_off(&self) -> bool {
        self.workers.fetch_sub(1, Ordering::AcqRel) == 1
    }

    /// Whether no thread works here any more.
    pub(super) fn is_left(&self) -> bool {
        self.workers.load(Ordering::Acquire) == 0
    }

    /// Marks the node as cut off and returns the threads concerned.
    pub(super) fn cut_off(&self) -> &SharedThreadSet {
        self.cut_off.store(true, Ordering::Relaxed);
        &self.below
    }

    pub(super) fn alpha(&self) -> Score {
        self.alpha.load(Ordering::Relaxed)
    }

    /// Publishes a higher alpha to the threads working here. Call it under the lock.
    pub(super) fn raise_alpha(&self, alpha: Score) {
        self.alpha.store(alpha, Ordering::Relaxed);
    }

    pub(super) fn shared(&self) -> MutexGuard<'_, SplitState> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
