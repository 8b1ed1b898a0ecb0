//! PV-splitting with young brothers wait: sharing the moves of a node among threads.
//!
//! Once the first move of a node is done, a thread with idle comrades puts the remaining moves
//! up as a [`SplitPoint`] and works at it itself; others join. A thread that runs out of moves
//! there helps below the split points of those still at work, its own not being complete before
//! they are. A cutoff tells everybody below to come back. T. A. Marsland and M. Campbell (1982)
//! on splitting along the principal variation, R. Feldmann (1993) on young brothers wait;
//! <https://www.chessprogramming.org/Young_Brothers_Wait_Concept>.
//!
//! With one thread nobody is ever idle, so nothing is split and the search is deterministic.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::event_count::Ticket;
use super::job::Job;
use super::node::{Node, NodeProgress};
use super::observe::{Spectator, Step};
use super::pvs::MoveFacts;
use super::source::MoveSource;
use super::split::{SplitPoint, SplitState, Splits};
use super::worker::Worker;
use crate::position::Move;
use crate::score::{Depth, INFINITY, Score};

/// Below this depth a split costs more than it brings: handing a node over takes some ten
/// microseconds, as long as some ten nodes.
const SPLIT_DEPTH: Depth = 4;
/// Moves that must have failed to cut at an expected cut node before its others are shared out.
const CUT_NODE_MOVES: usize = 3;
/// How long the main thread waits for others before it looks at the clock again.
const NAP: Duration = Duration::from_millis(1);

/// Signs a thread off from a split point when it leaves, in whatever way: the owner waits for it.
struct SignOff<'a> {
    split: &'a SplitPoint,
    job: &'a Job,
}

impl Drop for SignOff<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            // Its move has no score, so neither has the node: the last iteration decides.
            self.job.control.stop();
        }
        self.split.shared().workers -= 1;
        self.job.splits.events.notify();
    }
}

impl<S: Spectator> Worker<'_, S> {
    /// Whether the remaining moves of `node` are worth sharing out now.
    #[inline]
    pub(super) fn may_split(&self, node: &Node, moves_done: usize) -> bool {
        self.job.counters.len() > 1
            && node.depth >= SPLIT_DEPTH
            && node.excluded.is_none()
            && (!node.cut || moves_done >= CUT_NODE_MOVES)
            && self.job.splits.events.has_waiting()
    }

    /// Shares out the moves of `source` and returns when all are done.
    pub(super) fn split(
        &mut self,
        node: &Node,
        source: &mut MoveSource,
        progress: NodeProgress,
    ) -> NodeProgress {
        let moves = source.drain(node, self.history);
        self.show(|_| Step::Split);
        let split = Arc::new(SplitPoint {
            node: node.clone(),
            stack: self.stack[..=node.ply].to_vec(),
            keys: self.keys.clone(),
            null_move_from: self.null_move_from,
            place: self.spectator.place(),
            parent: self.split.clone(),
            cut_off: AtomicBool::new(false),
            shared: Mutex::new(SplitState { moves: moves.into_iter(), progress, workers: 1 }),
        });
        self.job.splits.publish(&split);
        self.work_at(&split);
        self.job.splits.withdraw(&split);
        self.help_below(&split);
        self.split.clone_from(&split.parent);

        std::mem::replace(&mut split.shared().progress, NodeProgress::new(0))
    }

    /// Takes moves from `split` until none is left or one has failed high, then signs off.
    fn work_at(&mut self, split: &Arc<SplitPoint>) {
        self.split = Some(Arc::clone(split));
        let _sign_off = SignOff { split, job: self.job };
        while let Some((mv, facts)) = self.take_move(split) {
            let Some(score) = self.search_move(&split.node, mv, facts) else { continue };
            if self.is_interrupted() {
                break;
            }
            self.show(|_| Step::Scored { mv, score, alpha: facts.alpha });
            let line = &self.pv_table[split.node.ply + 1];
            if split.shared().progress.record(&split.node, mv, score, line) {
                split.cut_off.store(true, Ordering::Relaxed);
                break;
            }
        }
    }

    fn take_move(&self, split: &SplitPoint) -> Option<(Move, MoveFacts)> {
        if self.is_interrupted() {
            return None;
        }
        let mut shared = split.shared();
        if shared.progress.has_failed_high(&split.node) {
            return None;
        }
        let mv = shared.moves.next()?;
        shared.progress.count += 1;
        Some((mv, MoveFacts { shared: true, ..MoveFacts::of(&shared.progress) }))
    }

    /// Alpha of the node whose moves this thread shares with others, by now.
    pub(super) fn shared_alpha(&self) -> Score {
        self.split.as_ref().map_or(-INFINITY, |split| split.shared().progress.alpha)
    }

    /// Until all threads have left `split`: helps those that have split again below it.
    fn help_below(&mut self, split: &Arc<SplitPoint>) {
        self.help_until(|_| split.shared().workers == 0, Some(split));
        self.adopt(split);
    }

    /// The life of a thread that has no node of its own: joins others until the search ends.
    pub(super) fn help_until_done(&mut self) {
        self.help_until(|splits| splits.finished.load(Ordering::Acquire), None);
        self.show_done();
    }

    /// Joins split points (below `top`) until `is_over`, of which it is notified.
    fn help_until(&mut self, is_over: impl Fn(&Splits) -> bool, top: Option<&SplitPoint>) {
        loop {
            let ticket = self.job.splits.events.ticket();
            if is_over(&self.job.splits) {
                return;
            }
            match self.find_split(top) {
                Some(split) => self.join(&split),
                None => self.idle(ticket),
            }
        }
    }

    /// A split point (below `top`) that wants help. None after a stop: threads that kept joining
    /// and leaving what nobody works at any more would keep its owner from the locks it needs.
    fn find_split(&self, top: Option<&SplitPoint>) -> Option<Arc<SplitPoint>> {
        if self.job.control.is_stopped() { None } else { self.job.splits.join(top) }
    }

    fn join(&mut self, split: &Arc<SplitPoint>) {
        self.adopt(split);
        let SplitPoint { place, node, .. } = split.as_ref();
        self.show(|_| Step::Join { place: *place, position: &node.position, ply: node.ply });
        self.work_at(split);
        self.show(|_| Step::Part);
    }

    /// Puts this thread on the way to `split`.
    fn adopt(&mut self, split: &SplitPoint) {
        let (above, below) = self.stack.split_at_mut(split.stack.len());
        above.copy_from_slice(&split.stack);
        // The line that this thread was on may have left moves out further down.
        below.iter_mut().for_each(|frame| frame.excluded = None);
        self.keys.clone_from(&split.keys);
        self.null_move_from = split.null_move_from;
    }

    fn idle(&mut self, ticket: Ticket) {
        // Only the main thread has bounds to look at; the others sleep until they are called.
        self.job.splits.events.wait(ticket, (self.id == 0).then_some(NAP));
        if self.id == 0 {
            self.look_up();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;
    use crate::position::Game;
    use crate::search::job::Lasting;
    use crate::search::node::Window;
    use crate::search::observe::Place;
    use crate::search::worker::ThreadData;
    use crate::search::{Config, Control, Limits};

    fn job(control: &Control) -> Job {
        let config = Config { threads: 2, ..Config::default() };
        Job::new(&Game::default(), &Limits::depth(9), control, config, Lasting::new(1), false)
    }

    /// A split point at the root, with no move left and two threads.
    fn split_at_the_root(worker: &mut Worker) -> SplitPoint {
        let node = worker.assess(&worker.job.root, 0, 9, Window::FULL, false, None);
        let shared = SplitState {
            moves: Vec::new().into_iter(),
            progress: NodeProgress::new(node.window.alpha),
            workers: 2,
        };
        SplitPoint {
            node,
            stack: worker.stack[..1].to_vec(),
            keys: worker.keys.clone(),
            null_move_from: 5,
            place: Place::default(),
            parent: None,
            cut_off: AtomicBool::new(false),
            shared: Mutex::new(shared),
        }
    }

    #[test]
    fn a_thread_that_joins_takes_over_what_is_left_out_there() {
        let control = Control::new();
        let (job, mut data) = (job(&control), ThreadData::new());
        let mut worker = Worker::new(0, &job, &mut data, None);
        let excluded = "e2e4".parse().ok();
        let mut split = split_at_the_root(&mut worker);
        split.stack[0].excluded = excluded;
        worker.stack[7].excluded = excluded;
        worker.adopt(&split);
        assert_eq!((worker.stack[0].excluded, worker.stack[7].excluded), (excluded, None));
        assert_eq!(worker.null_move_from, 5, "a null move is being verified above");
    }

    #[test]
    fn a_thread_that_panics_signs_off_and_ends_the_search() {
        let control = Control::new();
        let (job, mut data) = (job(&control), ThreadData::new());
        let mut worker = Worker::new(0, &job, &mut data, None);
        let split = split_at_the_root(&mut worker);
        drop(SignOff { split: &split, job: &job });
        assert!(split.shared().workers == 1 && !control.is_stopped());
        let panics = || {
            let _sign_off = SignOff { split: &split, job: &job };
            panic!("a panic of a helper that this test means to see");
        };
        assert!(catch_unwind(AssertUnwindSafe(panics)).is_err());
        assert!(split.shared().workers == 0 && control.is_stopped());
    }
}
