//! A search thread: its state and basic operations.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::book_ending_state::BookEndingState;
use super::handicap::MoveVisibility;
use super::helper_pool::{CutoffFlag, ThreadSet};
use super::history::{Context, History, LastMoves, PieceTo, continuation_index};
use super::job::Job;
use super::killers::Killers;
use super::node::{Pv, Window};
use super::observe::{Counters, Entry, NodeEnd, OptionalObserver, SearchReason, SearchStep};
use super::prune::Reductions;
use super::report::SearchEvent;
use super::split::SplitPoint;
use super::stack::StackEntry;
use crate::chess::position::{Keys, Move, Position};
use crate::chess::score::{DRAW, Depth, MAX_PLY, Ply, Score};
use crate::engine::eval::Evaluator;

pub(super) const FIFTY_MOVES: u16 = 100;
/// Salt mixed into the keys of mate searches, so that they do not share transposition table entries
/// with other searches.
const PROOF_SALT: u64 = 0x7ab1_a0a7_e000_9500;
/// Number of nodes between checks of the clock. Searching this many nodes takes about a
/// millisecond.
const CLOCK_INTERVAL: u64 = 1_024;
/// Number of nodes between a helper's checks of the node limit. Helpers check the limit too,
/// because the main thread may be waiting for them. They do not check it at every node, because
/// adding up the node counts of all threads would slow the search down.
const SUM_INTERVAL: u64 = 32;

pub(super) type Listener<'a> = &'a mut (dyn FnMut(&SearchEvent) + Send);

/// A thread's buffers, which are kept between searches.
pub(super) struct ThreadData {
    killers: Killers,
    pub(super) evaluator: Evaluator,
    reductions: Reductions,
    /// Buffers for [`Worker::stack`] and [`Worker::pv_table`]. Only the memory is reused, not the
    /// contents, because allocating it anew would take about 5% of the time of a small search.
    stack: Vec<StackEntry>,
    pv_table: Vec<Pv>,
}

impl ThreadData {
    pub(super) fn new() -> Self {
        ThreadData {
            killers: Killers::new(),
            evaluator: Evaluator::default(),
            reductions: Reductions::new(),
            stack: vec![StackEntry::default(); MAX_PLY + 1],
            pv_table: vec![Pv::default(); MAX_PLY + 2],
        }
    }
}

pub(super) struct Worker<'a, S = ()> {
    /// Thread number. Thread 0, the main thread, checks the clock and reports events.
    pub(super) id: usize,
    pub(super) job: &'a Job,
    pub(super) history: &'a History,
    pub(super) killers: &'a mut Killers,
    pub(super) evaluator: &'a mut Evaluator,
    pub(super) reductions: &'a Reductions,
    pub(super) stack: &'a mut [StackEntry],
    pub(super) keys: Vec<u64>,
    pub(super) pv_table: &'a mut [Pv],
    pub(super) selective_depth: Ply,
    /// The innermost split point at which this thread is working.
    pub(super) split: Option<Arc<SplitPoint>>,
    /// The owners of `split` and of the split points above it. While these threads wait for their
    /// helpers, they may be called to help this one.
    pub(super) owners: ThreadSet,
    /// Set if a split point above the current node may have been cut off. `None` if there is only
    /// one thread.
    cutoff_flag: Option<&'a CutoffFlag>,
    /// While a null move is being verified, the smallest ply at which null moves are allowed;
    /// otherwise 0.
    pub(super) null_move_from: Ply,
    /// Whether the search looks only for mates. If so, only sound pruning is allowed.
    pub(super) proving: bool,
    pub(super) book_ending: BookEndingState,
    listener: Option<Listener<'a>>,
    /// First move of the last reported line of each rank. The index is the rank minus 1.
    pub(super) reported: Vec<Option<Move>>,
    salt: u64,
    nodes: u64,
    /// Number of this thread's nodes that have already been attributed to a root move.
    attributed: u64,
    /// Counts maintained only for observers.
    pub(super) counters: Counters,
    pub(super) observer: S,
}

impl<'a> Worker<'a> {
    /// Creates a worker that sends its events to `listener`, or leaves them to the main thread if
    /// it has no listener.
    pub(super) fn new(
        id: usize,
        job: &'a Job,
        data: &'a mut ThreadData,
        listener: Option<Listener<'a>>,
    ) -> Self {
        Worker::watched(id, job, data, listener, ())
    }
}

impl<'a, S: OptionalObserver> Worker<'a, S> {
    pub(super) fn watched(
        id: usize,
        job: &'a Job,
        data: &'a mut ThreadData,
        listener: Option<Listener<'a>>,
        observer: S,
    ) -> Self {
        data.killers = Killers::new();
        data.evaluator.set(&job.config.evaluation);
        data.stack.fill(StackEntry::default());
        Worker {
            id,
            job,
            history: &job.history,
            killers: &mut data.killers,
            evaluator: &mut data.evaluator,
            reductions: &data.reductions,
            stack: &mut data.stack,
            keys: job.keys.clone(),
            pv_table: &mut data.pv_table,
            selective_depth: 0,
            split: None,
            owners: ThreadSet::default(),
            cutoff_flag: job.pool.cutoff_flag(id),
            null_move_from: 0,
            proving: job.limits.mate.is_some(),
            salt: match &job.book {
                _ if job.limits.mate.is_some() => PROOF_SALT,
                Some(probe) => probe.salt(),
                None => job.limits.handicap.map_or(0, |handicap| handicap.salt()),
            },
            book_ending: BookEndingState::default(),
            listener,
            reported: vec![None; job.lines()],
            nodes: 0,
            attributed: 0,
            counters: Counters::default(),
            observer,
        }
    }

    /// Passes a step to the observer. Without an observer, this method compiles to nothing.
    #[inline(always)]
    pub(super) fn show<'s>(&mut self, step: impl FnOnce(&Self) -> SearchStep<'s>) {
        if S::IS_OBSERVED {
            let step = step(self);
            self.observer.on_step(&step);
        }
    }

    #[inline(always)]
    pub(super) fn count(&mut self, counter: impl FnOnce(&mut Counters) -> &mut u64) {
        if S::IS_OBSERVED {
            *counter(&mut self.counters) += 1;
        }
    }

    /// Reports to the observer why the next node is searched.
    #[inline(always)]
    pub(super) fn set_reason(&mut self, why: SearchReason) {
        self.show(|_| SearchStep::Next(why));
    }

    /// Reports to the observer what determined the value of the current node, and returns `score`
    /// unchanged.
    #[inline(always)]
    pub(super) fn ended<T>(&mut self, end: NodeEnd, score: T) -> T {
        self.show(|_| SearchStep::Ended(end));
        score
    }

    #[inline(always)]
    pub(super) fn show_entry(
        &mut self,
        position: &Position,
        ply: Ply,
        depth: Depth,
        Window { alpha, beta }: Window,
        quiescence: bool,
    ) {
        self.show(|worker| {
            let via = ply.checked_sub(1).and_then(|parent| worker.stack[parent].mv);
            SearchStep::Enter(Entry { position, ply, via, depth, alpha, beta, quiescence })
        });
    }

    #[inline(always)]
    pub(super) fn show_leave(&mut self, score: Score) -> Score {
        self.show(|_| SearchStep::Leave(score));
        score
    }

    pub(super) fn show_done(&mut self) {
        self.counters.nodes = self.nodes;
        self.show(|worker| SearchStep::Done(worker.counters));
    }

    #[inline]
    pub(super) fn count_node(&mut self, ply: Ply) {
        self.nodes += 1;
        self.job.counters[self.id].store(self.nodes, Ordering::Relaxed);
        self.selective_depth = self.selective_depth.max(ply);
        #[cfg(test)]
        self.job.control.panic_if_due(self.id, self.nodes);
        self.check_limits();
    }

    #[inline]
    fn check_limits(&mut self) {
        let is_main = self.id == 0;
        if is_main && self.nodes.is_multiple_of(CLOCK_INTERVAL) {
            self.poll_limits();
        } else if let Some(limit) = self.job.limits.nodes
            && (is_main || self.nodes.is_multiple_of(SUM_INTERVAL))
            && self.job.nodes() >= limit
        {
            self.job.control.stop();
        }
    }

    pub(super) fn take_nodes(&mut self) -> u64 {
        let nodes = self.nodes - self.attributed;
        self.attributed = self.nodes;
        nodes
    }

    /// Checks all limits and forwards events from helpers. The main thread also calls this while it
    /// waits for other threads.
    #[cold]
    pub(super) fn poll_limits(&mut self) {
        let job = self.job;
        let spent = job.limits.nodes.is_some_and(|limit| job.nodes() >= limit);
        if spent || job.clock.must_stop(&job.control) || self.stops_in_book() {
            job.control.stop();
        }
        self.flush_events();
    }

    /// Sends all pending events and then `event`. If this thread has no listener, the main thread
    /// sends them later.
    pub(super) fn send_event(&mut self, event: SearchEvent) {
        self.job.pending_events.push(event);
        self.flush_events();
    }

    pub(super) fn flush_events(&mut self) {
        let Some(listener) = &mut self.listener else { return };
        while let Some(event) = self.job.pending_events.pop() {
            if let SearchEvent::Iteration(report) | SearchEvent::NewBest(report) = &event
                && let Some(reported) = self.reported.get_mut(report.multi_pv - 1)
            {
                *reported = report.pv.first().copied();
            }
            listener(&event);
        }
    }

    /// Whether to abandon the current line, because the search was stopped or a split point above
    /// the current node was cut off.
    #[inline]
    pub(super) fn is_interrupted(&self) -> bool {
        self.job.control.is_stopped()
            || (self.cutoff_flag.is_some_and(CutoffFlag::is_set) && self.is_cutoff_signalled())
    }

    /// Whether the split point at which this thread works, or one above it, was really cut off. If
    /// not, clears the cutoff flag. Called only if the flag is set.
    #[cold]
    fn is_cutoff_signalled(&self) -> bool {
        let Some(cutoff_flag) = self.cutoff_flag else { return false };
        cutoff_flag.clear();
        let is_cancelled = match &self.split {
            Some(split) => split.is_cut_off(),
            None => self.job.pool.is_over(),
        };
        if is_cancelled {
            cutoff_flag.set();
        }
        is_cancelled
    }

    pub(super) fn set_split_point(&mut self, split: Option<Arc<SplitPoint>>) {
        self.owners = split.as_ref().map_or_else(ThreadSet::default, |split| split.owners);
        self.split = split;
        if let Some(cutoff_flag) = self.cutoff_flag {
            // Force a check, because the node may have been cut off before this thread was
            // registered there.
            cutoff_flag.set();
        }
    }

    /// Returns the position after `mv`. First prefetches that position's table entry, because
    /// loading the entry takes longer than making the move.
    #[inline(always)]
    pub(super) fn play(&self, position: &Position, mv: Move) -> Position {
        let keys = self.keys_after(position, mv);
        position.play_on(mv, keys)
    }

    #[inline(always)]
    pub(super) fn keys_after(&self, position: &Position, mv: Move) -> Keys {
        let keys = position.keys_after(mv);
        self.job.table.prefetch(self.with_salt(keys.whole()));
        keys
    }

    #[inline]
    pub(super) fn enter(&mut self, position: &Position, mv: Move, ply: Ply, next: &Position) {
        self.stack[ply].mv = Some(mv);
        self.stack[ply].piece_to = Some(PieceTo::new(position, mv));
        self.keys.push(next.key());
        self.history.prefetch_correction(next, self.last_moves(ply + 1));
    }

    /// Returns the table key for `position`. If the search uses book values, looks only for mates,
    /// or has a handicap, the key is salted to keep its entries apart from those of other searches.
    #[inline]
    pub(super) fn table_key(&self, position: &Position) -> u64 {
        self.with_salt(position.key())
    }

    #[inline]
    fn with_salt(&self, key: u64) -> u64 {
        key ^ self.salt
    }

    #[inline]
    pub(super) fn leave(&mut self) {
        self.keys.pop();
    }

    /// Returns the context for history lookups at `ply`: the moves made one, two and four plies
    /// before it.
    #[inline]
    pub(super) fn context(&self, ply: Ply) -> Context {
        let moves = [self.moved(ply, 1), self.moved(ply, 2), self.moved(ply, 4)];
        Context { moves, ..Context::default() }
    }

    /// Returns two indices into the correction history. Each combines the last move with an earlier
    /// one: the first with the move made two plies before `ply`, the second with the move made four
    /// plies before it.
    #[inline]
    pub(super) fn last_moves(&self, ply: Ply) -> LastMoves {
        let Some(last) = self.moved(ply, 1) else { return [None; 2] };
        let place = |earlier: Option<PieceTo>| Some(continuation_index(earlier?, last));
        [place(self.moved(ply, 2)), place(self.moved(ply, 4))]
    }

    /// Returns the move made `back` plies before `ply`, or `None` if that was a null move or would
    /// be before the root.
    #[inline(always)]
    fn moved(&self, ply: Ply, back: usize) -> Option<PieceTo> {
        self.stack[ply.checked_sub(back)?].piece_to
    }

    /// Whether the position is drawn under the rules, or counts as a draw because of a repetition.
    ///
    /// A repetition of a position that has occurred since the root counts as a draw immediately. A
    /// position that occurred only before the root must have occurred there twice.
    pub(super) fn is_draw(&self, position: &Position) -> bool {
        if position.halfmove_clock() >= FIFTY_MOVES {
            return !position.in_check() || !position.has_no_moves();
        }
        position.insufficient_material() || self.is_repetition(position)
    }

    fn is_repetition(&self, position: &Position) -> bool {
        let root = self.job.keys.len() - 1;
        let current = self.keys.len() - 1;
        let reach = usize::from(position.halfmove_clock()).min(current);
        let mut seen_before_root = false;
        for back in (4..=reach).step_by(2) {
            let index = current - back;
            if self.keys[index] == position.key() {
                if index >= root || seen_before_root {
                    return true;
                }
                seen_before_root = true;
            }
        }
        false
    }

    /// Whether the side to move can repeat, with a single move, a position that has occurred since
    /// the root. If so, it can get at least a draw. Positions before a null move are ignored.
    pub(super) fn can_repeat(&self, position: &Position, ply: Ply) -> bool {
        let reach = usize::from(position.halfmove_clock()).min(ply);
        if reach < 3 {
            return false;
        }
        let current = self.keys.len() - 1;
        let key = |back: usize| self.keys[current - back];
        let is_null = |back: usize| self.stack[ply - back].mv.is_none();
        if is_null(1) {
            return false;
        }
        // The combined effect of the opponent's moves on the position key. A single move can
        // restore the position only if the opponent's moves cancel out.
        let mut theirs = key(0) ^ key(1) ^ Position::turn_key();
        for back in (3..=reach).step_by(2) {
            if is_null(back - 1) || is_null(back) {
                return false;
            }
            theirs ^= key(back - 1) ^ key(back) ^ Position::turn_key();
            if theirs == 0 && self.job.cycles.is_move(position, key(0) ^ key(back)) {
                return true;
            }
        }
        false
    }

    #[inline]
    pub(super) fn draw_score(&self) -> Score {
        DRAW
    }

    /// Returns the static evaluation of `position`. Under a handicap, this includes a deliberate
    /// error.
    #[inline]
    pub(super) fn evaluate(&mut self, position: &Position, ply: Ply) -> Score {
        let score = self.evaluator.evaluate(position, ply);
        match &self.job.limits.handicap {
            None => score,
            Some(handicap) => handicap.add_eval_noise(position, score),
        }
    }

    #[inline]
    pub(super) fn visibility(&self, position: &Position, ply: Ply) -> Option<MoveVisibility> {
        let handicap = self.job.limits.handicap.as_ref()?;
        let last = ply.checked_sub(1).and_then(|parent| self.stack[parent].mv);
        handicap.visibility(position, ply, last)
    }
}
