//! How an idle thread of a search waits for the others: an event count.
//!
//! A thread takes a [`Ticket`], looks for something to do, and if there is nothing waits with the
//! ticket: it comes back at once if an event has been notified since. The number of events and that of
//! those that wait stand in one word, so each thread that notifies sees those that wait already, and
//! each that begins to wait sees the event before: none sleeps through it.
//!
//! Source: D. Vyukov, <https://www.1024cores.net/home/lock-free-algorithms/eventcounts>.

use std::sync::PoisonError;
#[cfg(not(feature = "loom"))]
use std::sync::{
    Condvar, Mutex,
    atomic::{AtomicU64, Ordering},
};
use std::time::Duration;

#[cfg(feature = "loom")]
use loom::sync::{
    Condvar, Mutex,
    atomic::{AtomicU64, Ordering},
};

/// How often a thread looks again before it sleeps: some ten microseconds.
const SPINS: u32 = if cfg!(feature = "loom") { 0 } else { 2_000 };
/// A thread that waits, in the word of an [`EventCount`].
const WAITING: u64 = 1;
/// An event. What is below counts those that wait, of which there are at most 256.
const EVENT: u64 = 1 << 16;

/// What wakes idle threads.
#[derive(Debug, Default)]
pub(super) struct EventCount {
    /// Events so far, and threads that wait.
    state: AtomicU64,
    asleep: Mutex<()>,
    notified: Condvar,
}

/// How many events there had been at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Ticket(u64);

impl EventCount {
    /// To be taken before looking for what one would otherwise wait for.
    #[inline]
    pub(super) fn ticket(&self) -> Ticket {
        Ticket(self.state.load(Ordering::Acquire) / EVENT)
    }

    /// Whether anybody waits.
    #[inline]
    pub(super) fn has_waiting(&self) -> bool {
        !self.state.load(Ordering::Relaxed).is_multiple_of(EVENT)
    }

    /// Wakes all that wait.
    pub(super) fn notify(&self) {
        let before = self.state.fetch_add(EVENT, Ordering::AcqRel);
        if !before.is_multiple_of(EVENT) {
            // One that has seen no event and does not sleep yet holds the lock.
            drop(self.asleep.lock().unwrap_or_else(PoisonError::into_inner));
            self.notified.notify_all();
        }
    }

    /// Waits until an event has been notified after `ticket` was taken, but no longer than `longest`.
    pub(super) fn wait(&self, ticket: Ticket, longest: Option<Duration>) {
        self.state.fetch_add(WAITING, Ordering::AcqRel);
        if !self.is_notified_soon(ticket) {
            self.sleep(ticket, longest);
        }
        self.state.fetch_sub(WAITING, Ordering::AcqRel);
    }

    fn sleep(&self, ticket: Ticket, longest: Option<Duration>) {
        let mut asleep = self.asleep.lock().unwrap_or_else(PoisonError::into_inner);
        while self.ticket() == ticket {
            asleep = match longest {
                None => self.notified.wait(asleep).unwrap_or_else(PoisonError::into_inner),
                Some(longest) => {
                    drop(self.notified.wait_timeout(asleep, longest));
                    return;
                }
            };
        }
    }

    fn is_notified_soon(&self, ticket: Ticket) -> bool {
        (0..SPINS).any(|_| {
            std::hint::spin_loop();
            self.ticket() != ticket
        })
    }
}

#[cfg(all(test, not(feature = "loom")))]
mod tests {
    use super::*;

    #[test]
    fn nobody_waits_for_what_has_been() {
        let events = EventCount::default();
        let ticket = events.ticket();
        events.notify();
        assert_ne!(events.ticket(), ticket);
        events.wait(ticket, None);
        assert!(!events.has_waiting());
        // Nobody notifies: the nap ends.
        events.wait(events.ticket(), Some(Duration::from_millis(1)));
        assert!(!events.has_waiting());
    }
}

/// All orders in which threads can come to it: `cargo test --features loom --lib model::`. A
/// thread that slept through its event would sleep for ever.
#[cfg(all(test, feature = "loom"))]
mod model {
    use loom::sync::Arc;
    use loom::sync::atomic::AtomicUsize;
    use loom::thread;

    use super::*;

    /// As a thread waits for a split point to join, or for all to have left its own.
    fn wait_until(events: &EventCount, is_so: impl Fn() -> bool) {
        loop {
            let ticket = events.ticket();
            if is_so() {
                return;
            }
            events.wait(ticket, None);
        }
    }

    #[test]
    fn nobody_sleeps_through_an_event() {
        loom::model(|| {
            let shared = Arc::new((EventCount::default(), AtomicUsize::new(0)));
            let helper = {
                let shared = Arc::clone(&shared);
                thread::spawn(move || {
                    wait_until(&shared.0, || shared.1.load(Ordering::Relaxed) == 1)
                })
            };
            let (events, published) = &*shared;
            published.store(1, Ordering::Relaxed);
            events.notify();
            helper.join().expect("it only waits");
        });
    }

    /// The life of a split point: published, joined by another thread, left by it, and its owner
    /// goes on only then.
    #[test]
    fn an_owner_goes_on_when_its_helper_has_left() {
        loom::model(|| {
            let shared = Arc::new((EventCount::default(), Mutex::new((false, 1))));
            let helper = {
                let shared = Arc::clone(&shared);
                thread::spawn(move || {
                    let (events, split) = &*shared;
                    wait_until(events, || {
                        let mut split = split.lock().expect("no thread panics");
                        let (published, workers) = *split;
                        if published {
                            *split = (false, workers + 1);
                        }
                        published
                    });
                    split.lock().expect("no thread panics").1 -= 1;
                    events.notify();
                })
            };
            let (events, split) = &*shared;
            split.lock().expect("no thread panics").0 = true;
            events.notify();
            // The owner has done its own share, but waits for its helper to have had one.
            wait_until(events, || !split.lock().expect("no thread panics").0);
            split.lock().expect("no thread panics").1 -= 1;
            wait_until(events, || split.lock().expect("no thread panics").1 == 0);
            helper.join().expect("it waits and signs off");
        });
    }
}
