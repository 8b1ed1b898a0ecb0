//! Nodes whose moves are shared out among threads, see [`super::sharing`].

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

/// Below this depth a split costs more than it brings: handing a node over takes some ten
/// microseconds, as long as some ten nodes.
const SPLIT_DEPTH: Depth = 4;

/// The least depth at which so many threads share nodes out.
pub(super) fn split_depth(threads: usize) -> Depth {
    if threads > 1 { SPLIT_DEPTH } else { Depth::MAX }
}

/// A node whose moves are shared out.
pub(super) struct SplitPoint {
    pub(super) node: Node,
    /// What a thread must know of the way here: whoever shares it out goes on to change his own.
    pub(super) stack: Vec<StackEntry>,
    pub(super) keys: Vec<u64>,
    pub(super) null_move_from: Ply,
    /// The visit of whoever shares it out, for who watches.
    pub(super) place: VisitRef,
    /// The thread that shares it out, and goes on when all others have left.
    pub(super) owner: usize,
    /// The owners of this and of all split points above.
    pub(super) owners: ThreadSet,
    pub(super) parent: Option<Arc<SplitPoint>>,
    /// The threads that are or were at work here or below.
    below: SharedThreadSet,
    cut_off: AtomicBool,
    /// That of the progress, to be read without the lock.
    alpha: AtomicI32,
    /// Threads at work here, the owner among them, and those that are called.
    workers: CachePadded<AtomicUsize>,
    /// Whether another thread than the owner has searched a move.
    pub(super) joined: AtomicBool,
    shared: Mutex<SplitState>,
}

/// What the threads at a split point change in turn.
pub(super) struct SplitState {
    pub(super) moves: SharedMoves,
    /// The move to be handed out next, and its number: it is known to be worth a search, so whoever is
    /// called here finds something to do.
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
    /// A node that `owner` shares out, who is at work there.
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

    /// By what a thread is known to wait for this node.
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

    /// Counts a thread in that is called here.
    pub(super) fn sign_on(&self, thread: usize) {
        self.workers.fetch_add(1, Ordering::Relaxed);
        // Whoever is below a split point is below all those above it, too.
        let _ = self.chain().all(|split| split.below.insert(thread));
    }

    /// Counts a thread out; returns whether it was the last.
    pub(super) fn sign_off(&self) -> bool {
        self.workers.fetch_sub(1, Ordering::AcqRel) == 1
    }

    /// Whether nobody is at work here any more.
    pub(super) fn is_left(&self) -> bool {
        self.workers.load(Ordering::Acquire) == 0
    }

    /// The threads that a cutoff here concerns.
    pub(super) fn cut_off(&self) -> &SharedThreadSet {
        self.cut_off.store(true, Ordering::Relaxed);
        &self.below
    }

    /// Alpha by now.
    pub(super) fn alpha(&self) -> Score {
        self.alpha.load(Ordering::Relaxed)
    }

    /// Tells the threads at work here of a higher alpha; under the lock.
    pub(super) fn raise_alpha(&self, alpha: Score) {
        self.alpha.store(alpha, Ordering::Relaxed);
    }

    pub(super) fn shared(&self) -> MutexGuard<'_, SplitState> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
