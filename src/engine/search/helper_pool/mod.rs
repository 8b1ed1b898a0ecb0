//! The idle threads of a search, and how they are given work.
//!
//! An idle thread *offers* itself by setting a shared bit, and then waits. A thread that has work
//! to share clears the bit; the idle thread is then *reserved*, and either *called* with a task or
//! released immediately. Work is therefore shared only with a thread that is ready to take it, and
//! every thread that wakes up receives a task. While no thread is idle, a busy thread reads only
//! one cache line for each 64 threads.
//!
//! A thread that waits for others below one of its nodes accepts work only below that node, because
//! other work would delay it. This rule is called the "helpful master": R. Feldmann, "Game Tree
//! Search on Massively Parallel Systems" (1993); see
//! <https://www.chessprogramming.org/Young_Brothers_Wait_Concept>.
//!
//! The protocol does not depend on chess. The `loom` tests (`--features loom`, `model`) check every
//! interleaving of the threads: no thread misses a call or is called by two threads at once, the
//! owner of a split point continues when its helper has left, and a thread that joins a node
//! notices a cutoff there.

#[cfg(feature = "loom")]
mod model;

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crossbeam::utils::CachePadded;

#[cfg(not(feature = "loom"))]
use crossbeam::{
    atomic::AtomicCell,
    sync::{Parker, Unparker},
};
#[cfg(not(feature = "loom"))]
use std::{
    sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering, fence},
    thread::yield_now,
};

#[cfg(feature = "loom")]
use loom::{
    sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering, fence},
    thread::yield_now,
};
#[cfg(feature = "loom")]
use model::{AtomicCell, Parker, Unparker};

/// Number of times that a waiting thread checks for a call before it goes to sleep. These checks
/// take about ten microseconds, as long as waking a sleeping thread.
const SPINS: u32 = if cfg!(feature = "loom") { 0 } else { 2_000 };
const PER_WORD: usize = u64::BITS as usize;
const WORDS: usize = 4;

/// A set of threads, with one bit per thread number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct ThreadSet([u64; WORDS]);

impl ThreadSet {
    pub(super) fn with(mut self, thread: usize) -> Self {
        self.0[thread / PER_WORD] |= bit(thread);
        self
    }

    fn threads(self) -> impl Iterator<Item = usize> {
        self.0.into_iter().enumerate().flat_map(|(word, bits)| {
            bits_of(bits).map(move |bit| word * PER_WORD + bit.trailing_zeros() as usize)
        })
    }
}

/// A set of threads that can grow while other threads are reading it.
#[derive(Debug, Default)]
pub(super) struct SharedThreadSet([AtomicU64; WORDS]);

impl SharedThreadSet {
    pub(super) fn insert(&self, thread: usize) -> bool {
        let before = self.0[thread / PER_WORD].fetch_or(bit(thread), Ordering::AcqRel);
        // A thread that cuts off a node marks the node before it reads this set, and a thread that
        // joins the node enters the set before it reads the mark. With the fences, at least one of
        // them sees what the other wrote.
        fence(Ordering::SeqCst);
        before & bit(thread) == 0
    }

    fn get(&self) -> ThreadSet {
        fence(Ordering::SeqCst);
        ThreadSet(std::array::from_fn(|word| self.0[word].load(Ordering::Acquire)))
    }
}

fn bit(thread: usize) -> u64 {
    1 << (thread % PER_WORD)
}

/// Iterates over the set bits of `word`. Each item is a word in which only that bit is set.
fn bits_of(mut word: u64) -> impl Iterator<Item = u64> {
    std::iter::from_fn(move || {
        let lowest = word & word.wrapping_neg();
        word ^= lowest;
        (lowest != 0).then_some(lowest)
    })
}

#[derive(Default)]
struct IdleThreads {
    free: AtomicU64,
    /// Idle threads that accept only work below a node of their own.
    bound: AtomicU64,
}

/// State of a thread in the pool: what work it accepts while idle, and its next task.
struct ThreadSlot<T> {
    /// While idle, the thread accepts only work from the subtree of the node at this address, or
    /// any work if it is [`ANYWHERE`].
    below: AtomicUsize,
    called: AtomicBool,
    task: AtomicCell<Option<T>>,
    cutoff_flag: CutoffFlag,
    /// Locked only by the thread that owns the slot.
    parker: Mutex<Parker>,
    unparker: Unparker,
}

/// A flag that is set if a node above the thread's current node may have been cut off.
#[derive(Debug, Default)]
pub(super) struct CutoffFlag(AtomicBool);

impl CutoffFlag {
    #[inline]
    pub(super) fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    pub(super) fn set(&self) {
        self.0.store(true, Ordering::Release);
    }

    /// Clears the flag. Call this before checking for cutoffs, so that the check sees every mark
    /// made before the flag was set.
    pub(super) fn clear(&self) {
        self.0.swap(false, Ordering::AcqRel);
    }
}

/// Value of `ThreadSlot::below` for a thread that accepts work anywhere in the tree.
pub(super) const ANYWHERE: usize = 0;

pub(super) struct HelperPool<T> {
    /// The sets of idle threads, each for 64 threads. Empty if there is only one thread.
    idle: Box<[CachePadded<IdleThreads>]>,
    slots: Box<[CachePadded<ThreadSlot<T>>]>,
    /// Number of threads that must stay idle because there are no cores for them.
    spare: usize,
    over: AtomicBool,
}

#[derive(Debug)]
pub(super) enum WaitResult<T> {
    Called(T),
    /// The condition that the thread was waiting for has been met. The thread is no longer offered
    /// for work.
    Over,
    TimedOut,
}

impl<T: Send> HelperPool<T> {
    /// Creates a pool of `threads` threads, all of which count as busy until they offer themselves.
    /// Afterwards, at most `cores` threads are busy at the same time.
    pub(super) fn new(threads: usize, cores: usize) -> Self {
        let slot = || {
            let parker = Parker::new();
            CachePadded::new(ThreadSlot {
                below: AtomicUsize::new(ANYWHERE),
                called: AtomicBool::new(false),
                task: AtomicCell::new(None),
                cutoff_flag: CutoffFlag::default(),
                unparker: parker.unparker().clone(),
                parker: Mutex::new(parker),
            })
        };
        let slots = if threads > 1 { threads } else { 0 };
        HelperPool {
            idle: (0..slots.div_ceil(PER_WORD)).map(|_| CachePadded::default()).collect(),
            slots: (0..slots).map(|_| slot()).collect(),
            spare: threads.saturating_sub(cores),
            over: AtomicBool::new(false),
        }
    }

    /// Estimates whether an idle thread can take work. This requires a free core and an idle thread
    /// that either accepts any work or is one of `owners`. A waiting owner accepts only work below
    /// its own node. Cheap enough to be called often.
    #[inline]
    pub(super) fn has_idle(&self, owners: &ThreadSet) -> bool {
        let is_there = self.idle.iter().zip(owners.0).any(|(idle, owners)| {
            idle.free.load(Ordering::Relaxed) != 0
                || idle.bound.load(Ordering::Relaxed) & owners != 0
        });
        is_there && (self.spare == 0 || self.count_idle() > self.spare)
    }

    #[cold]
    fn count_idle(&self) -> usize {
        let count = |idle: &CachePadded<IdleThreads>| {
            [&idle.free, &idle.bound]
                .map(|word| word.load(Ordering::Relaxed).count_ones())
                .iter()
                .sum::<u32>()
        };
        self.idle.iter().map(count).sum::<u32>() as usize
    }

    /// Reserves an idle thread. Prefers one of `owners` that waits at a node above the work;
    /// otherwise takes a thread that accepts any work. `is_above` receives the node's address.
    pub(super) fn reserve(
        &self,
        owners: &ThreadSet,
        is_above: impl Fn(usize) -> bool,
    ) -> Option<Reservation<'_, T>> {
        let fits = |thread: usize| is_above(self.slots[thread].below.load(Ordering::Relaxed));
        for (word, (idle, owners)) in self.idle.iter().zip(owners.0).enumerate() {
            for bit in bits_of(idle.bound.load(Ordering::Acquire) & owners) {
                let thread = word * PER_WORD + bit.trailing_zeros() as usize;
                if fits(thread) && take(&idle.bound, bit) {
                    let reservation = Reservation { pool: self, thread };
                    // Between the check and the reservation, the thread may have begun to wait
                    // below a different node.
                    if fits(thread) {
                        return Some(reservation);
                    }
                }
            }
        }
        self.idle.iter().enumerate().find_map(|(word, idle)| {
            let mut free = bits_of(idle.free.load(Ordering::Acquire));
            let taken = free.find(|&bit| take(&idle.free, bit))?;
            let thread = word * PER_WORD + taken.trailing_zeros() as usize;
            Some(Reservation { pool: self, thread })
        })
    }

    /// Offers thread `me` for work below the node with the address `below`, or for any work
    /// ([`ANYWHERE`]). The caller must then call [`HelperPool::wait`].
    pub(super) fn offer(&self, me: usize, below: usize) {
        self.slots[me].below.store(below, Ordering::Relaxed);
        let before = self.offered(me).fetch_or(bit(me), Ordering::Release);
        debug_assert_eq!(before & bit(me), 0, "thread {me} is offered twice");
    }

    fn offered(&self, thread: usize) -> &AtomicU64 {
        let idle = &self.idle[thread / PER_WORD];
        match self.slots[thread].below.load(Ordering::Relaxed) {
            ANYWHERE => &idle.free,
            _ => &idle.bound,
        }
    }

    /// Waits, after [`HelperPool::offer`], until the thread is called or `is_over` returns true. If
    /// `longest` is given, the thread sleeps only once, for at most this time or until
    /// [`HelperPool::wake`] is called, and then returns [`WaitResult::TimedOut`].
    pub(super) fn wait(
        &self,
        me: usize,
        is_over: impl Fn() -> bool,
        longest: Option<Duration>,
    ) -> WaitResult<T> {
        let slot = &self.slots[me];
        let mut spins = 0;
        loop {
            if slot.called.load(Ordering::Acquire) {
                slot.called.store(false, Ordering::Relaxed);
                let task = slot.task.take();
                debug_assert!(task.is_some(), "thread {me} is called without a task");
                if let Some(task) = task {
                    return WaitResult::Called(task);
                }
            }
            if is_over() {
                if take(self.offered(me), bit(me)) {
                    return WaitResult::Over;
                }
                // Another thread has reserved this one and will call or release it immediately.
                yield_now();
            } else if spins < SPINS {
                spins += 1;
                std::hint::spin_loop();
            } else {
                let parker = slot.parker.lock().unwrap_or_else(PoisonError::into_inner);
                match longest {
                    None => parker.park(),
                    Some(longest) => {
                        parker.park_timeout(longest);
                        return WaitResult::TimedOut;
                    }
                }
            }
        }
    }

    /// Wakes a thread, which then checks again whether it still has to wait.
    pub(super) fn wake(&self, thread: usize) {
        self.slots[thread].unparker.unpark();
    }

    pub(super) fn cutoff_flag(&self, thread: usize) -> Option<&CutoffFlag> {
        self.slots.get(thread).map(|slot| &slot.cutoff_flag)
    }

    pub(super) fn check_cutoffs(&self, threads: &SharedThreadSet) {
        for thread in threads.get().threads() {
            self.slots[thread].cutoff_flag.set();
        }
    }

    pub(super) fn finish(&self) {
        self.over.store(true, Ordering::Release);
        for slot in &self.slots {
            slot.cutoff_flag.set();
            slot.unparker.unpark();
        }
    }

    pub(super) fn is_over(&self) -> bool {
        self.over.load(Ordering::Acquire)
    }
}

/// Clears `bit` in `word` and returns whether it was set.
fn take(word: &AtomicU64, bit: u64) -> bool {
    word.fetch_and(!bit, Ordering::AcqRel) & bit != 0
}

/// Exclusive access to an idle thread. Dropping the reservation without calling the thread releases
/// it.
pub(super) struct Reservation<'a, T: Send> {
    pool: &'a HelperPool<T>,
    thread: usize,
}

impl<T: Send> Reservation<'_, T> {
    pub(super) fn call(self, task: T) {
        let slot = &self.pool.slots[self.thread];
        debug_assert!(!slot.called.load(Ordering::Relaxed), "thread {} is busy", self.thread);
        slot.task.store(Some(task));
        slot.called.store(true, Ordering::Release);
        slot.unparker.unpark();
        std::mem::forget(self);
    }

    pub(super) fn thread(&self) -> usize {
        self.thread
    }
}

impl<T: Send> Drop for Reservation<'_, T> {
    fn drop(&mut self) {
        let bit = bit(self.thread);
        let before = self.pool.offered(self.thread).fetch_or(bit, Ordering::Release);
        debug_assert_eq!(before & bit, 0, "thread {} was not reserved", self.thread);
    }
}

#[cfg(all(test, not(feature = "loom")))]
mod tests {
    use super::*;

    #[test]
    fn thread_is_reserved_once_and_only_for_matching_work() {
        let pool: HelperPool<&str> = HelperPool::new(70, 70);
        let no_threads = ThreadSet::default();
        let owners = no_threads.with(3).with(66);
        assert!(!pool.has_idle(&owners) && pool.reserve(&owners, |_| true).is_none());
        pool.offer(66, 8);
        assert!(pool.has_idle(&owners) && !pool.has_idle(&no_threads));
        assert!(pool.reserve(&owners, |below| below == 9).is_none());
        let reservation = pool.reserve(&owners, |below| below == 8).expect("thread 66");
        assert_eq!(reservation.thread(), 66);
        assert!(!pool.has_idle(&owners), "it is reserved");
        drop(reservation);
        assert!(pool.has_idle(&owners), "it is released");
        pool.offer(65, ANYWHERE);
        assert!(pool.has_idle(&no_threads));
        pool.reserve(&no_threads, |_| false).expect("thread 65").call("work");
        assert!(matches!(pool.wait(65, || false, None), WaitResult::Called("work")));
        assert!(matches!(pool.wait(66, || true, None), WaitResult::Over));
        assert!(!pool.has_idle(&owners));
    }

    #[test]
    fn pool_of_one_thread_has_no_helpers() {
        let pool: HelperPool<()> = HelperPool::new(1, 1);
        assert!(!pool.has_idle(&ThreadSet::default()) && pool.cutoff_flag(0).is_none());
        pool.finish();
        assert!(pool.is_over());
    }

    #[test]
    fn idle_wait_times_out_and_cutoff_flags_reach_the_set() {
        let pool: HelperPool<()> = HelperPool::new(3, 3);
        pool.offer(0, ANYWHERE);
        assert!(matches!(
            pool.wait(0, || false, Some(Duration::from_millis(1))),
            WaitResult::TimedOut
        ));
        let set = SharedThreadSet::default();
        assert!(set.insert(2) && !set.insert(2));
        pool.check_cutoffs(&set);
        let cutoff_flag =
            [0, 1, 2].map(|thread| pool.cutoff_flag(thread).is_some_and(CutoffFlag::is_set));
        assert_eq!(cutoff_flag, [false, false, true]);
    }

    #[test]
    fn pool_uses_no_more_threads_than_cores() {
        let pool: HelperPool<()> = HelperPool::new(4, 2);
        let no_threads = ThreadSet::default();
        pool.offer(1, ANYWHERE);
        pool.offer(2, ANYWHERE);
        assert!(!pool.has_idle(&no_threads), "two are busy");
        pool.offer(3, ANYWHERE);
        assert!(pool.has_idle(&no_threads), "one is busy");
    }
}
