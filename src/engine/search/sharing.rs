//! Shares the moves of a node among threads: PV-splitting with young brothers wait.
//!
//! Sources: for splitting along the principal variation, T. A. Marsland and M. Campbell (1982); for
//! young brothers wait, R. Feldmann (1993) and
//! <https://www.chessprogramming.org/Young_Brothers_Wait_Concept>.
//!
//! An idle thread sets its bit in a shared word. Busy threads check this word with one relaxed load
//! at each node of sufficient depth, after searching the first move (the first three moves if a
//! cutoff is expected). A busy thread that finds a bit set clears it, which reserves the idle
//! thread, and turns the remaining moves of the node into a [`SplitPoint`]. Both threads then
//! search moves at this split point. There is no list of split points and no lock shared by all
//! nodes, and a thread is woken only when there is a move for it to search.
//!
//! Threads take moves one at a time from the node's move picker, under the lock of the split point.
//! The next move that will not be pruned is always picked in advance. A thread that takes a move
//! therefore sees whether another one is left, and only then calls another idle thread. The split
//! point has its own copies of the owner's stack and of the position keys of the path, because the
//! owner changes the originals as soon as it searches on.
//!
//! An owner that has run out of moves waits for the other threads to leave. Meanwhile, it accepts
//! only work below its own node. After a cutoff, a thread marks the node and then sets the cutoff
//! flags of all threads that are or were below the node. A thread whose flag is set checks its
//! split point and those above it for a mark. As long as its flag is not set, a thread reads only
//! this flag, which is in its own cache line.
//!
//! If there are more threads than cores, the surplus threads are never called (`Config::cores`).

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::helper_pool::{ANYWHERE, Reservation, WaitResult};
use super::job::Job;
use super::node::{MoveFacts, Node, NodeProgress};
use super::observe::{OptionalObserver, SearchStep};
use super::prune;
use super::sharing_counts::count;
use super::source::MoveSource;
use super::split::{NodePath, SplitPoint, SplitState};
use super::worker::Worker;
use crate::chess::position::Move;
use crate::chess::score::Score;

/// Number of moves to search without a cutoff at an expected cut node before its remaining moves
/// are shared.
const CUT_NODE_MOVES: usize = 3;
/// How long the main thread waits for other threads before it checks the clock again.
const MAX_IDLE_WAIT: Duration = Duration::from_millis(1);

/// Removes a thread from a split point when dropped. This has to happen even after a panic, because
/// the owner of the split point waits until all other threads have left.
struct SignOff<'a> {
    split: &'a SplitPoint,
    job: &'a Job,
}

impl Drop for SignOff<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            // The move that was being searched has no score, so the node's score is unknown too.
            // Stop the search, which then returns the result of the last iteration.
            self.job.control.stop();
        }
        if self.split.sign_off() {
            self.job.pool.wake(self.split.owner);
        }
    }
}

impl<'a, S: OptionalObserver> Worker<'a, S> {
    /// Whether the remaining moves of `node` should be shared now, after its first `moves_done`
    /// moves.
    #[inline]
    pub(super) fn may_split(&self, node: &Node, moves_done: usize) -> bool {
        node.depth >= self.job.split_depth
            && node.excluded.is_none()
            && (!node.cut || moves_done >= CUT_NODE_MOVES)
            && self.job.pool.has_idle(&self.owners)
    }

    /// Shares the moves of `source` with an idle thread. Returns `true` once all of them have been
    /// searched, or `false` without searching any if no thread is idle.
    #[cold]
    pub(super) fn split(
        &mut self,
        node: &Node,
        source: &mut MoveSource,
        progress: &mut NodeProgress,
    ) -> bool {
        let Some(helper) = self.reserve() else { return false };
        let Some(own) = self.pick(node, source, progress) else { return true };
        let Some(next) = self.pick(node, source, progress) else {
            drop(helper);
            self.search_last(node, own, progress);
            return true;
        };
        self.show(|_| SearchStep::Split);
        let so_far = std::mem::replace(progress, NodeProgress::new(progress.alpha));
        let state = SplitState { moves: source.share(), next: Some(next), progress: so_far };
        let path = NodePath {
            stack: &self.stack[..=node.ply],
            cutoffs: [1, 2].map(|plies| self.stack[node.ply + plies].cutoffs),
            killers: self.killers.below(node.ply),
            keys: &self.keys,
            null_move_from: self.null_move_from,
            place: self.observer.place(),
        };
        let split = Arc::new(SplitPoint::new(node, self.id, &path, self.split.as_ref(), state));
        call(helper, &split);
        self.set_split_point(Some(Arc::clone(&split)));
        self.work_at(&split, Some(own));
        self.wait_for_helpers(&split);
        self.set_split_point(split.parent.clone());
        let counts = &self.job.sharing[self.id];
        count(&counts.splits, 1);
        count(&counts.joined, split.joined.load(Ordering::Relaxed).into());
        *progress = std::mem::replace(&mut split.shared().progress, NodeProgress::new(0));
        true
    }

    fn reserve(&self) -> Option<Reservation<'a, Arc<SplitPoint>>> {
        let is_above = |address| self.split.as_ref().is_some_and(|split| split.is_below(address));
        self.job.pool.reserve(&self.owners, is_above)
    }

    /// Returns the node's next move that is not pruned, together with its 1-based number in the
    /// search order.
    fn pick(
        &mut self,
        node: &Node,
        source: &mut MoveSource,
        progress: &mut NodeProgress,
    ) -> Option<(Move, usize)> {
        loop {
            let mv = source.next(node, self.history)?;
            progress.count += 1;
            let facts = MoveFacts::of(progress);
            if self.may_prune_moves(node, facts) && prune::late_move_pruning(node, facts.quiets) {
                self.show(|_| SearchStep::QuietsPruned);
                source.skip_quiets();
            }
            if !self.is_pruned(node, mv, facts) {
                return Some((mv, facts.number));
            }
        }
    }

    fn search_last(
        &mut self,
        node: &Node,
        (mv, number): (Move, usize),
        progress: &mut NodeProgress,
    ) {
        let facts = MoveFacts { number, ..MoveFacts::of(progress) };
        let Some(score) = self.search_move(node, mv, facts) else { return };
        self.show(|_| SearchStep::Scored { mv, score, alpha: facts.alpha });
        if !self.is_interrupted() {
            progress.record(node, mv, score, &self.pv_table[node.ply + 1]);
        }
    }

    /// Searches `own` and then the remaining moves of `split`, until none is left or one has failed
    /// high. Then removes this thread from the split point.
    fn work_at(&mut self, split: &SplitPoint, mut own: Option<(Move, usize)>) {
        let _sign_off = SignOff { split, job: self.job };
        loop {
            let taken = match own.take() {
                Some((mv, number)) => Some((mv, move_facts(&split.shared().progress, number))),
                None => self.take_move(split),
            };
            let Some((mv, facts)) = taken else { break };
            if self.id != split.owner {
                split.joined.store(true, Ordering::Relaxed);
            }
            let Some(score) = self.search_move(&split.node, mv, facts) else { continue };
            if self.is_interrupted() {
                break;
            }
            self.show(|_| SearchStep::Scored { mv, score, alpha: facts.alpha });
            if self.record(split, mv, score) {
                self.job.pool.check_cutoffs(split.cut_off());
                break;
            }
        }
    }

    fn record(&self, split: &SplitPoint, mv: Move, score: Score) -> bool {
        let line = &self.pv_table[split.node.ply + 1];
        let mut shared = split.shared();
        let fails_high = shared.progress.record(&split.node, mv, score, line);
        split.raise_alpha(shared.progress.alpha);
        fails_high
    }

    /// Takes the next move at the split point. If there is another move after it, calls an idle
    /// thread to search that one.
    fn take_move(&mut self, split: &SplitPoint) -> Option<(Move, MoveFacts)> {
        if self.is_interrupted() {
            return None;
        }
        let mut shared = split.shared();
        let SplitState { moves, next, progress } = &mut *shared;
        if progress.has_failed_high(&split.node) {
            return None;
        }
        let (mv, number) = next.take()?;
        *next = self.pick(&split.node, &mut moves.source(), progress);
        let facts = move_facts(progress, number);
        let is_more = next.is_some();
        drop(shared);
        if is_more
            && self.job.pool.has_idle(&self.owners)
            && let Some(helper) = self.reserve()
            && let Some(split) = &self.split
        {
            call(helper, split);
        }
        Some((mv, facts))
    }

    pub(super) fn shared_alpha(&self) -> Score {
        self.split.as_ref().map_or(-crate::chess::score::INFINITY, |split| split.alpha())
    }

    /// Waits until all other threads have left `split`, and meanwhile helps them at split points
    /// below it.
    fn wait_for_helpers(&mut self, split: &SplitPoint) {
        while !split.is_left()
            && let Some(other) = self.wait_for_work(split.address(), || split.is_left())
        {
            self.join(&other);
        }
        self.join_path(split);
    }

    /// Helps other threads until the search ends.
    pub(super) fn help(&mut self) {
        let pool = &self.job.pool;
        while let Some(split) = self.wait_for_work(ANYWHERE, || pool.is_over()) {
            self.join(&split);
        }
        self.show_done();
    }

    /// Waits until there is work or `is_over` returns true. Accepts only work below the split point
    /// with the address `below`, or any work if `below` is [`ANYWHERE`].
    fn wait_for_work(
        &mut self,
        below: usize,
        is_over: impl Fn() -> bool,
    ) -> Option<Arc<SplitPoint>> {
        let job = self.job;
        let begun = Instant::now();
        job.pool.offer(self.id, below);
        // Only the main thread checks the limits; the other threads sleep until they are called.
        let idle_wait = (self.id == 0).then_some(MAX_IDLE_WAIT);
        let called = loop {
            match job.pool.wait(self.id, &is_over, idle_wait) {
                WaitResult::Called(split) => break Some(split),
                WaitResult::Over => break None,
                WaitResult::TimedOut => self.poll_limits(),
            }
        };
        count(&job.sharing[self.id].waiting, begun.elapsed().as_nanos() as u64);
        called
    }

    fn join(&mut self, split: &Arc<SplitPoint>) {
        count(&self.job.sharing[self.id].joins, 1);
        self.join_path(split);
        self.set_split_point(Some(Arc::clone(split)));
        let SplitPoint { place, node, .. } = split.as_ref();
        self.show(|_| SearchStep::Join { place: *place, position: &node.position, ply: node.ply });
        self.work_at(split, None);
        if !split.node.is_root() {
            self.note_help();
        }
        self.show(|_| SearchStep::Part);
    }

    /// Replaces the state of this thread's line by that of the split point: everything that the
    /// search of its moves depends on.
    fn join_path(&mut self, split: &SplitPoint) {
        let (above, below) = self.stack.split_at_mut(split.stack.len());
        above.copy_from_slice(&split.stack);
        // Clear excluded moves at deeper plies, left over from the line that this thread searched
        // before.
        below.iter_mut().for_each(|frame| frame.excluded = None);
        for (frame, cutoffs) in below.iter_mut().zip(split.cutoffs) {
            frame.cutoffs = cutoffs;
        }
        self.killers.set_below(split.node.ply, split.killers);
        self.keys.clone_from(&split.keys);
        self.null_move_from = split.null_move_from;
    }
}

fn call(helper: Reservation<'_, Arc<SplitPoint>>, split: &Arc<SplitPoint>) {
    split.sign_on(helper.thread());
    helper.call(Arc::clone(split));
}

fn move_facts(progress: &NodeProgress, number: usize) -> MoveFacts {
    MoveFacts { number, shared: true, ..MoveFacts::of(progress) }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;
    use crate::chess::position::Game;
    use crate::engine::search::helper_pool::ThreadSet;
    use crate::engine::search::job::PersistentState;
    use crate::engine::search::node::Window;
    use crate::engine::search::observe::VisitRef;
    use crate::engine::search::source::SharedMoves;
    use crate::engine::search::worker::ThreadData;
    use crate::engine::search::{Config, Control, Limits, STACK_SIZE};

    fn job(control: &Control) -> Job {
        let config = Config { threads: 2, ..Config::default() };
        Job::new(
            &Game::default(),
            &Limits::depth(9),
            control,
            config,
            PersistentState::new(1),
            false,
        )
    }

    fn split_at_the_root(worker: &mut Worker) -> SplitPoint {
        let node = worker.assess(&worker.job.root, 0, 9, Window::FULL, false, None);
        let state = SplitState {
            moves: SharedMoves::List(Vec::new().into_iter()),
            next: None,
            progress: NodeProgress::new(node.window.alpha),
        };
        let path = NodePath {
            stack: &worker.stack[..1],
            cutoffs: [3, 1],
            killers: [[None; 2]; 2],
            keys: &worker.keys,
            null_move_from: 5,
            place: VisitRef::default(),
        };
        let split = SplitPoint::new(&node, 0, &path, None, state);
        split.sign_on(1);
        split
    }

    #[test]
    fn joining_thread_copies_the_state_of_the_line() {
        let control = Control::new();
        let (job, mut data) = (job(&control), ThreadData::new());
        let mut worker = Worker::new(0, &job, &mut data, None);
        let excluded = "e2e4".parse().ok();
        let mut split = split_at_the_root(&mut worker);
        split.stack[0].excluded = excluded;
        worker.stack[7].excluded = excluded;
        worker.stack[1].cutoffs = 9;
        split.killers = [[excluded, None], [None; 2]];
        worker.join_path(&split);
        assert_eq!((worker.stack[0].excluded, worker.stack[7].excluded), (excluded, None));
        assert_eq!(worker.null_move_from, 5, "a null move is being verified above");
        assert_eq!([1, 2].map(|ply| worker.stack[ply].cutoffs), [3, 1]);
        assert_eq!((worker.killers.at(1), worker.killers.at(2)), ([excluded, None], [None; 2]));
    }

    #[test]
    fn root_move_nodes_do_not_exceed_total_nodes() {
        let control = Control::new();
        let config = Config { threads: 3, cores: Some(3), ..Config::default() };
        let limits = Limits::nodes(300_000);
        let job =
            Job::new(&Game::default(), &limits, &control, config, PersistentState::new(8), false);
        std::thread::scope(|scope| {
            for id in [1, 2, 0] {
                let job = &job;
                let work = move || {
                    let mut data = ThreadData::new();
                    let mut worker = Worker::new(id, job, &mut data, None);
                    if id > 0 {
                        return worker.help();
                    }
                    while !job.pool.has_idle(&ThreadSet::default()) {
                        std::thread::yield_now();
                    }
                    worker.think();
                };
                let thread = std::thread::Builder::new().stack_size(STACK_SIZE);
                thread.spawn_scoped(scope, work).expect("a thread");
            }
        });
        assert!(job.sharing().joins > 0, "threads have helped each other");
        let counted: u64 = job.root_moves().iter().map(|root_move| root_move.nodes).sum();
        let all = job.nodes();
        assert!(counted <= all && counted > all / 3, "{counted} of {all}");
    }

    #[test]
    fn panicking_thread_signs_off_and_stops_the_search() {
        let control = Control::new();
        let (job, mut data) = (job(&control), ThreadData::new());
        let mut worker = Worker::new(0, &job, &mut data, None);
        let split = split_at_the_root(&mut worker);
        drop(SignOff { split: &split, job: &job });
        assert!(!split.is_left() && !control.is_stopped());
        let panics = || {
            let _sign_off = SignOff { split: &split, job: &job };
            panic!("deliberate panic of a helper");
        };
        assert!(catch_unwind(AssertUnwindSafe(panics)).is_err());
        assert!(split.is_left() && control.is_stopped());
    }
}
