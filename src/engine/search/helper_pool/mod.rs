//! The idle threads of a search, and how they get work.
//!
//! An idle thread *offers* itself by setting a bit that all others can read, and waits. A thread with
//! work to share clears the bit: from then on the idle thread is *reserved* and exclusive to it, and is
//! *called* with a task or released at once. So work is shared only with a thread that is ready to take
//! it, exactly as many threads wake as get a task, and while no thread is idle a busy thread only reads
//! one word.
//!
//! A thread that waits for others below a node of its own may be called for work below that node only;
//! other work would delay it. This is the "helpful master" of R. Feldmann, "Game Tree Search on
//! Massively Parallel Systems" (1993); see <https://www.chessprogramming.org/Young_Brothers_Wait_Concept>.

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

/// How often a thread looks whether it is called before it sleeps: some ten microseconds, which is
/// what it takes to wake one that sleeps.
const SPINS: u32 = if cfg!(feature = "loom") { 0 } else { 2_000 };
/// Threads whose bits share a word.
const PER_WORD: usize = u64::BITS as usize;
/// Words for as many threads as a search can have.
const WORDS: usize = 4;

/// Threads of a search, by number: one bit each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct ThreadSet([u64; WORDS]);

impl ThreadSet {
    /// These and `thread`.
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

/// A set that threads join while others read it.
#[derive(Debug, Default)]
pub(super) struct SharedThreadSet([AtomicU64; WORDS]);

impl SharedThreadSet {
    /// Adds `thread`; returns whether it is new.
    pub(super) fn insert(&self, thread: usize) -> bool {
        let before = self.0[thread / PER_WORD].fetch_or(bit(thread), Ordering::AcqRel);
        // A thread that signals a cutoff marks the node before it reads this set; a joining thread
        // reads the mark after it has joined. Whichever of the two fences comes second sees what was
        // written before the other.
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

/// The bits that are set, one at a time.
fn bits_of(mut word: u64) -> impl Iterator<Item = u64> {
    std::iter::from_fn(move || {
        let lowest = word & word.wrapping_neg();
        word ^= lowest;
        (lowest != 0).then_some(lowest)
    })
}

/// The idle threads of one word.
#[derive(Default)]
struct IdleThreads {
    /// Those that work anywhere.
    free: AtomicU64,
    /// Those that work below a node of their own only.
    bound: AtomicU64,
}

/// A thread's slot: its state while idle, and its next task.
struct ThreadSlot<T> {
    /// The node below which the idle thread accepts work, or [`ANYWHERE`].
    below: AtomicUsize,
    called: AtomicBool,
    task: AtomicCell<Option<T>>,
    cutoff_flag: CutoffFlag,
    /// Locked by the thread itself only.
    parker: Mutex<Parker>,
    unparker: Unparker,
}

/// Set when a node above a thread may have been cut off.
#[derive(Debug, Default)]
pub(super) struct CutoffFlag(AtomicBool);

impl CutoffFlag {
    /// Whether the thread must check for cutoffs.
    #[inline]
    pub(super) fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Makes the thread check for cutoffs.
    pub(super) fn set(&self) {
        self.0.store(true, Ordering::Release);
    }

    /// Clears the flag. Call this before checking, so that the check sees every mark made before the
    /// flag was set.
    pub(super) fn clear(&self) {
        self.0.swap(false, Ordering::AcqRel);
    }
}

/// For a thread that accepts work below any node.
pub(super) const ANYWHERE: usize = 0;

/// The helper threads of a search, which wait for tasks `T`.
pub(super) struct HelperPool<T> {
    /// Empty with a single thread.
    idle: Box<[CachePadded<IdleThreads>]>,
    slots: Box<[CachePadded<ThreadSlot<T>>]>,
    /// Threads that are always idle, because there are no cores for them.
    spare: usize,
    over: AtomicBool,
}

/// Why a thread stopped waiting.
#[derive(Debug)]
pub(super) enum WaitResult<T> {
    /// It got something to do.
    Called(T),
    /// What it waited for has come; it is not offered any more.
    Over,
    /// It has slept as long as it may, and is still offered.
    TimedOut,
}

impl<T: Send> HelperPool<T> {
    /// A pool of so many threads, all busy at first; later at most `cores` of them are.
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

    /// Whether a thread is idle that works below nodes of `owners`, or anywhere, and there is a core for it:
    /// as far as can be told by a look.
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

    /// Reserves an idle thread: of `owners` one that waits below something that `is_above` the work to
    /// do, or else one that works anywhere.
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
                    // Meanwhile it may have come to wait below something else.
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

    /// Offers the thread `me` for work below `below`, or [`ANYWHERE`]. It waits next.
    pub(super) fn offer(&self, me: usize, below: usize) {
        self.slots[me].below.store(below, Ordering::Relaxed);
        self.offered(me).fetch_or(bit(me), Ordering::Release);
    }

    /// The word that has the bit of a thread while it is offered.
    fn offered(&self, thread: usize) -> &AtomicU64 {
        let idle = &self.idle[thread / PER_WORD];
        match self.slots[thread].below.load(Ordering::Relaxed) {
            ANYWHERE => &idle.free,
            _ => &idle.bound,
        }
    }

    /// Waits, once offered, until the thread is called or `is_over`, of which it is told by
    /// [`HelperPool::wake`]; but sleeps no longer than `longest`.
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
                if let Some(task) = slot.task.take() {
                    return WaitResult::Called(task);
                }
            }
            if is_over() {
                if take(self.offered(me), bit(me)) {
                    return WaitResult::Over;
                }
                // Reserved: whoever did that calls or lets go at once.
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

    /// Wakes a thread, which checks again whether it must wait.
    pub(super) fn wake(&self, thread: usize) {
        self.slots[thread].unparker.unpark();
    }

    /// The thread's cutoff flag; `None` with a single thread.
    pub(super) fn cutoff_flag(&self, thread: usize) -> Option<&CutoffFlag> {
        self.slots.get(thread).map(|slot| &slot.cutoff_flag)
    }

    /// Makes threads check for cutoffs.
    pub(super) fn check_cutoffs(&self, threads: &SharedThreadSet) {
        for thread in threads.get().threads() {
            self.slots[thread].cutoff_flag.set();
        }
    }

    /// Tells all threads that there will be no more to do.
    pub(super) fn finish(&self) {
        self.over.store(true, Ordering::Release);
        for slot in &self.slots {
            slot.cutoff_flag.set();
            slot.unparker.unpark();
        }
    }

    /// Whether that was told.
    pub(super) fn is_over(&self) -> bool {
        self.over.load(Ordering::Acquire)
    }
}

/// Takes a bit out of a word; returns whether it was there.
fn take(word: &AtomicU64, bit: u64) -> bool {
    word.fetch_and(!bit, Ordering::AcqRel) & bit != 0
}

/// An idle thread that nobody else can have. It is let go unless it is called.
pub(super) struct Reservation<'a, T: Send> {
    pool: &'a HelperPool<T>,
    thread: usize,
}

impl<T: Send> Reservation<'_, T> {
    /// Gives the thread something to do.
    pub(super) fn call(self, task: T) {
        let slot = &self.pool.slots[self.thread];
        slot.task.store(Some(task));
        slot.called.store(true, Ordering::Release);
        slot.unparker.unpark();
        std::mem::forget(self);
    }

    /// The thread's number.
    pub(super) fn thread(&self) -> usize {
        self.thread
    }
}

impl<T: Send> Drop for Reservation<'_, T> {
    fn drop(&mut self) {
        self.pool.offered(self.thread).fetch_or(bit(self.thread), Ordering::Release);
    }
}

#[cfg(all(test, not(feature = "loom")))]
mod tests {
    use super::*;

    #[test]
    fn a_thread_is_reserved_once_and_for_work_that_it_takes() {
        let pool: HelperPool<&str> = HelperPool::new(70, 70);
        let no_threads = ThreadSet::default();
        let owners = no_threads.with(3).with(66);
        assert!(!pool.has_idle(&owners) && pool.reserve(&owners, |_| true).is_none());
        pool.offer(66, 8);
        assert!(pool.has_idle(&owners) && !pool.has_idle(&no_threads));
        assert!(pool.reserve(&owners, |below| below == 9).is_none());
        let reservation = pool.reserve(&owners, |below| below == 8).expect("thread 66");
        assert_eq!(reservation.thread(), 66);
        assert!(!pool.has_idle(&owners), "it is nobody else's");
        drop(reservation);
        assert!(pool.has_idle(&owners), "let go of");
        pool.offer(65, ANYWHERE);
        assert!(pool.has_idle(&no_threads));
        pool.reserve(&no_threads, |_| false).expect("thread 65").call("work");
        assert!(matches!(pool.wait(65, || false, None), WaitResult::Called("work")));
        assert!(matches!(pool.wait(66, || true, None), WaitResult::Over));
        assert!(!pool.has_idle(&owners));
    }

    #[test]
    fn a_helper_pool_of_one_has_nobody_to_call() {
        let pool: HelperPool<()> = HelperPool::new(1, 1);
        assert!(!pool.has_idle(&ThreadSet::default()) && pool.cutoff_flag(0).is_none());
        pool.finish();
        assert!(pool.is_over());
    }

    #[test]
    fn a_idle_wait_ends_and_a_cutoff_flag_reaches_those_in_the_set() {
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
    fn no_more_threads_are_called_than_there_are_cores() {
        let pool: HelperPool<()> = HelperPool::new(4, 2);
        let no_threads = ThreadSet::default();
        pool.offer(1, ANYWHERE);
        pool.offer(2, ANYWHERE);
        assert!(!pool.has_idle(&no_threads), "two are busy");
        pool.offer(3, ANYWHERE);
        assert!(pool.has_idle(&no_threads), "one is busy");
    }
}
