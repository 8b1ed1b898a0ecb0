//! The threads of a search that have nothing to do, and how work comes to them.
//!
//! A thread that is out of work *offers* itself, by a bit that all others can read, and waits. Whoever
//! has work to share takes the bit away: from then on the thread is *reserved*, nobody else can have it,
//! and it is *called* with a task or let go at once. So nothing is shared out but to somebody who is there to
//! take it, exactly as many threads are woken as get a task, and while nobody is idle all that a busy
//! thread does is to read one word.
//!
//! Who waits for others to finish below a node of his own may be called for work below that node alone:
//! the rest would keep him from going on. That is the helpful master of R. Feldmann, "Game Tree Search
//! on Massively Parallel Systems" (1993); see <https://www.chessprogramming.org/Young_Brothers_Wait_Concept>.

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
    /// Adds `thread`; tells whether it is new.
    pub(super) fn insert(&self, thread: usize) -> bool {
        let before = self.0[thread / PER_WORD].fetch_or(bit(thread), Ordering::AcqRel);
        // Whoever recalls these threads has marked their node before he reads the set; a thread
        // looks at the mark after it has joined. Of these two fences one is the first, and who comes
        // second sees what the other has written.
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
struct Idle {
    /// Those that work anywhere.
    free: AtomicU64,
    /// Those that work below a node of their own only.
    bound: AtomicU64,
}

/// A thread's place.
struct Seat<T> {
    /// What the thread wants to work below while it is idle; [`ANYWHERE`] if it does not mind.
    below: AtomicUsize,
    called: AtomicBool,
    task: AtomicCell<Option<T>>,
    recalled: Recall,
    /// The thread's own: nobody else locks it.
    parker: Mutex<Parker>,
    unparker: Unparker,
}

/// What tells a thread that it may be wanted no more where it is.
#[derive(Debug, Default)]
pub(super) struct Recall(AtomicBool);

impl Recall {
    /// Whether there is something to look for.
    #[inline]
    pub(super) fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Has the thread look.
    pub(super) fn set(&self) {
        self.0.store(true, Ordering::Release);
    }

    /// Has the thread look no more, unless it is told again: to be called before it looks, so that it sees
    /// all that was marked before this was set.
    pub(super) fn clear(&self) {
        self.0.swap(false, Ordering::AcqRel);
    }
}

/// For a thread that works wherever it is wanted.
pub(super) const ANYWHERE: usize = 0;

/// The threads of a search as they wait for tasks `T`.
pub(super) struct Crew<T> {
    /// None in a crew of one.
    idle: Box<[CachePadded<Idle>]>,
    seats: Box<[CachePadded<Seat<T>>]>,
    /// Threads that are always idle, because there are no cores for them.
    spare: usize,
    over: AtomicBool,
}

/// How a thread's rest ended.
#[derive(Debug)]
pub(super) enum Rest<T> {
    /// It got something to do.
    Called(T),
    /// What it waited for has come; it is not offered any more.
    Over,
    /// It has slept as long as it may, and is still offered.
    Nap,
}

impl<T: Send> Crew<T> {
    /// A crew of so many threads, all of them busy at first; no more than `cores` of them will be later.
    pub(super) fn new(threads: usize, cores: usize) -> Self {
        let seat = || {
            let parker = Parker::new();
            CachePadded::new(Seat {
                below: AtomicUsize::new(ANYWHERE),
                called: AtomicBool::new(false),
                task: AtomicCell::new(None),
                recalled: Recall::default(),
                unparker: parker.unparker().clone(),
                parker: Mutex::new(parker),
            })
        };
        let seats = if threads > 1 { threads } else { 0 };
        Crew {
            idle: (0..seats.div_ceil(PER_WORD)).map(|_| CachePadded::default()).collect(),
            seats: (0..seats).map(|_| seat()).collect(),
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
        let count = |idle: &CachePadded<Idle>| {
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
        let fits = |thread: usize| is_above(self.seats[thread].below.load(Ordering::Relaxed));
        for (word, (idle, owners)) in self.idle.iter().zip(owners.0).enumerate() {
            for bit in bits_of(idle.bound.load(Ordering::Acquire) & owners) {
                let thread = word * PER_WORD + bit.trailing_zeros() as usize;
                if fits(thread) && take(&idle.bound, bit) {
                    let reservation = Reservation { crew: self, thread };
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
            Some(Reservation { crew: self, thread })
        })
    }

    /// Offers the thread `me` for work below `below`, or [`ANYWHERE`]. It waits next.
    pub(super) fn offer(&self, me: usize, below: usize) {
        self.seats[me].below.store(below, Ordering::Relaxed);
        self.offered(me).fetch_or(bit(me), Ordering::Release);
    }

    /// The word that has the bit of a thread while it is offered.
    fn offered(&self, thread: usize) -> &AtomicU64 {
        let idle = &self.idle[thread / PER_WORD];
        match self.seats[thread].below.load(Ordering::Relaxed) {
            ANYWHERE => &idle.free,
            _ => &idle.bound,
        }
    }

    /// Waits, once offered, until the thread is called or `is_over`, of which it is told by
    /// [`Crew::wake`]; but sleeps no longer than `longest`.
    pub(super) fn wait(
        &self,
        me: usize,
        is_over: impl Fn() -> bool,
        longest: Option<Duration>,
    ) -> Rest<T> {
        let seat = &self.seats[me];
        let mut spins = 0;
        loop {
            if seat.called.load(Ordering::Acquire) {
                seat.called.store(false, Ordering::Relaxed);
                if let Some(task) = seat.task.take() {
                    return Rest::Called(task);
                }
            }
            if is_over() {
                if take(self.offered(me), bit(me)) {
                    return Rest::Over;
                }
                // Reserved: whoever did that calls or lets go at once.
                yield_now();
            } else if spins < SPINS {
                spins += 1;
                std::hint::spin_loop();
            } else {
                let parker = seat.parker.lock().unwrap_or_else(PoisonError::into_inner);
                match longest {
                    None => parker.park(),
                    Some(longest) => {
                        parker.park_timeout(longest);
                        return Rest::Nap;
                    }
                }
            }
        }
    }

    /// Has a thread look again at what it waits for.
    pub(super) fn wake(&self, thread: usize) {
        self.seats[thread].unparker.unpark();
    }

    /// Where a thread sees that it may be wanted no more where it is; `None` in a crew of one.
    pub(super) fn recalled(&self, thread: usize) -> Option<&Recall> {
        self.seats.get(thread).map(|seat| &seat.recalled)
    }

    /// Has threads look whether they are still wanted where they are.
    pub(super) fn recall(&self, threads: &SharedThreadSet) {
        for thread in threads.get().threads() {
            self.seats[thread].recalled.set();
        }
    }

    /// Tells all threads that there will be no more to do.
    pub(super) fn finish(&self) {
        self.over.store(true, Ordering::Release);
        for seat in &self.seats {
            seat.recalled.set();
            seat.unparker.unpark();
        }
    }

    /// Whether that was told.
    pub(super) fn is_over(&self) -> bool {
        self.over.load(Ordering::Acquire)
    }
}

/// Takes a bit out of a word; tells whether it was there.
fn take(word: &AtomicU64, bit: u64) -> bool {
    word.fetch_and(!bit, Ordering::AcqRel) & bit != 0
}

/// An idle thread that nobody else can have. It is let go unless it is called.
pub(super) struct Reservation<'a, T: Send> {
    crew: &'a Crew<T>,
    thread: usize,
}

impl<T: Send> Reservation<'_, T> {
    /// Gives the thread something to do.
    pub(super) fn call(self, task: T) {
        let seat = &self.crew.seats[self.thread];
        seat.task.store(Some(task));
        seat.called.store(true, Ordering::Release);
        seat.unparker.unpark();
        std::mem::forget(self);
    }

    /// The thread's number.
    pub(super) fn thread(&self) -> usize {
        self.thread
    }
}

impl<T: Send> Drop for Reservation<'_, T> {
    fn drop(&mut self) {
        self.crew.offered(self.thread).fetch_or(bit(self.thread), Ordering::Release);
    }
}

#[cfg(all(test, not(feature = "loom")))]
mod tests {
    use super::*;

    #[test]
    fn a_thread_is_reserved_once_and_for_work_that_it_takes() {
        let crew: Crew<&str> = Crew::new(70, 70);
        let nobody = ThreadSet::default();
        let owners = nobody.with(3).with(66);
        assert!(!crew.has_idle(&owners) && crew.reserve(&owners, |_| true).is_none());
        crew.offer(66, 8);
        assert!(crew.has_idle(&owners) && !crew.has_idle(&nobody));
        assert!(crew.reserve(&owners, |below| below == 9).is_none());
        let reservation = crew.reserve(&owners, |below| below == 8).expect("thread 66");
        assert_eq!(reservation.thread(), 66);
        assert!(!crew.has_idle(&owners), "it is nobody else's");
        drop(reservation);
        assert!(crew.has_idle(&owners), "let go of");
        crew.offer(65, ANYWHERE);
        assert!(crew.has_idle(&nobody));
        crew.reserve(&nobody, |_| false).expect("thread 65").call("work");
        assert!(matches!(crew.wait(65, || false, None), Rest::Called("work")));
        assert!(matches!(crew.wait(66, || true, None), Rest::Over));
        assert!(!crew.has_idle(&owners));
    }

    #[test]
    fn a_crew_of_one_has_nobody_to_call() {
        let crew: Crew<()> = Crew::new(1, 1);
        assert!(!crew.has_idle(&ThreadSet::default()) && crew.recalled(0).is_none());
        crew.finish();
        assert!(crew.is_over());
    }

    #[test]
    fn a_nap_ends_and_a_recall_reaches_those_in_the_set() {
        let crew: Crew<()> = Crew::new(3, 3);
        crew.offer(0, ANYWHERE);
        assert!(matches!(crew.wait(0, || false, Some(Duration::from_millis(1))), Rest::Nap));
        let set = SharedThreadSet::default();
        assert!(set.insert(2) && !set.insert(2));
        crew.recall(&set);
        let recalled = [0, 1, 2].map(|thread| crew.recalled(thread).is_some_and(Recall::is_set));
        assert_eq!(recalled, [false, false, true]);
    }

    #[test]
    fn no_more_threads_are_called_than_there_are_cores() {
        let crew: Crew<()> = Crew::new(4, 2);
        let nobody = ThreadSet::default();
        crew.offer(1, ANYWHERE);
        crew.offer(2, ANYWHERE);
        assert!(!crew.has_idle(&nobody), "two are busy");
        crew.offer(3, ANYWHERE);
        assert!(crew.has_idle(&nobody), "one is busy");
    }
}
