//! Nodes whose moves are shared among threads. See [`super::sharing`].

use std::sync::atomic::{AtomicBool, AtomicI32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crossbeam::utils::CachePadded;

use super::helper_pool::{SharedThreadSet, ThreadSet};
use super::killers::KillersBelow;
use super::node::{Node, NodeProgress};
use super::observe::VisitRef;
use super::source::SharedMoves;
use super::stack::StackEntry;
use crate::chess::position::Move;
use crate::chess::score::{Depth, Ply, Score};

/// Minimum depth of a shared node. Sharing a node takes about ten microseconds, as long as
/// searching about ten nodes. Below this depth, sharing costs more time than it saves.
const SPLIT_DEPTH: Depth = 4;

/// Returns the minimum remaining depth at which a node is split among this many threads.
pub(super) fn split_depth(threads: usize) -> Depth {
    if threads > 1 { SPLIT_DEPTH } else { Depth::MAX }
}

pub(super) struct SplitPoint {
    pub(super) node: Node,
    /// A copy of the owner's stack up to this node, because the owner keeps changing the original.
    pub(super) stack: Vec<StackEntry>,
    /// The owner's counts of fail highs at the next two plies when the node was split.
    pub(super) cutoffs: [u32; 2],
    /// The owner's killer moves at the next two plies when the node was split.
    pub(super) killers: KillersBelow,
    pub(super) keys: Vec<u64>,
    pub(super) null_move_from: Ply,
    pub(super) place: VisitRef,
    /// Number of the thread that split the node. It waits until all other threads have left.
    pub(super) owner: usize,
    pub(super) owners: ThreadSet,
    pub(super) parent: Option<Arc<SplitPoint>>,
    /// All threads that have worked at this node or below it, including those that have left.
    below: SharedThreadSet,
    cut_off: AtomicBool,
    /// A copy of the alpha in `shared`, which can be read without taking the lock.
    alpha: AtomicI32,
    /// Number of threads at this node, including the owner and any threads that have been called
    /// but have not started yet.
    workers: CachePadded<AtomicUsize>,
    pub(super) joined: AtomicBool,
    shared: Mutex<SplitState>,
}

/// The state of a split point that changes during the search, protected by a lock.
pub(super) struct SplitState {
    pub(super) moves: SharedMoves,
    /// The next move to search, and its number in the search order. It has passed the pruning
    /// tests, so a thread that is called always has a move to search.
    pub(super) next: Option<(Move, usize)>,
    pub(super) progress: NodeProgress,
}

pub(super) struct NodePath<'a> {
    pub(super) stack: &'a [StackEntry],
    pub(super) cutoffs: [u32; 2],
    pub(super) killers: KillersBelow,
    pub(super) keys: &'a [u64],
    pub(super) null_move_from: Ply,
    pub(super) place: VisitRef,
}

impl SplitPoint {
    /// Creates a split point for a node that `owner` is searching. The owner is registered as the
    /// first thread at the node.
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
            cutoffs: path.cutoffs,
            killers: path.killers,
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

    /// Returns a number that identifies this node in the helper pool.
    pub(super) fn address(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }

    /// Iterates over this split point and those above it, innermost first.
    fn chain(&self) -> impl Iterator<Item = &SplitPoint> {
        std::iter::successors(Some(self), |split| split.parent.as_deref())
    }

    /// Whether the node need not be searched further, because of a cutoff at this split point or
    /// one above it.
    pub(super) fn is_cut_off(&self) -> bool {
        self.chain().any(|split| split.cut_off.load(Ordering::Relaxed))
    }

    /// Whether this split point has the given address or is below a split point with this address.
    pub(super) fn is_below(&self, address: usize) -> bool {
        self.chain().any(|split| split.address() == address)
    }

    pub(super) fn sign_on(&self, thread: usize) {
        self.workers.fetch_add(1, Ordering::Relaxed);
        // Register the thread at all split points above this one too, because it works below them
        // as well.
        let _ = self.chain().all(|split| split.below.insert(thread));
    }

    /// Removes a thread from the node. Returns true if no other thread is left there.
    pub(super) fn sign_off(&self) -> bool {
        self.workers.fetch_sub(1, Ordering::AcqRel) == 1
    }

    pub(super) fn is_left(&self) -> bool {
        self.workers.load(Ordering::Acquire) == 0
    }

    /// Marks the node as cut off. Returns the threads that may be searching below it, which must be
    /// notified to check the mark.
    pub(super) fn cut_off(&self) -> &SharedThreadSet {
        self.cut_off.store(true, Ordering::Relaxed);
        &self.below
    }

    pub(super) fn alpha(&self) -> Score {
        self.alpha.load(Ordering::Relaxed)
    }

    /// Publishes the alpha in `shared` to the threads at this node after it has been raised. The
    /// caller must hold the lock.
    pub(super) fn raise_alpha(&self, alpha: Score) {
        self.alpha.store(alpha, Ordering::Relaxed);
    }

    pub(super) fn shared(&self) -> MutexGuard<'_, SplitState> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
