//! How an idle thread of a search waits for the others: an event count.
//!
//! A thread takes a [`Ticket`], looks for something to do, and if there is nothing waits with the
//! ticket: it comes back at once if the bell has been rung since. How often it was rung and how many
//! wait for it stand in one word, so each thread that rings sees those that wait already, and
//! each that begins to wait sees the ringing before: none sleeps through it.
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
/// A thread that waits, in the word of a [`Bell`].
const WAITING: u64 = 1;
/// A ring. What is below counts those that wait, of which there are at most 256.
const RING: u64 = 1 << 16;

/// What wakes idle threads.
#[derive(Debug, Default)]
pub(super) struct Bell {
    /// Rings so far, and threads that wait.
    state: AtomicU64,
    asleep: Mutex<()>,
    rung: Condvar,
}

/// How often a bell had been rung at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Ticket(u64);

impl Bell {
    /// To be taken before looking for what one would otherwise wait for.
    #[inline]
    pub(super) fn ticket(&self) -> Ticket {
        Ticket(self.state.load(Ordering::Acquire) / RING)
    }

    /// Whether anybody waits.
    #[inline]
    pub(super) fn has_waiting(&self) -> bool {
        !self.state.load(Ordering::Relaxed).is_multiple_of(RING)
    }

    /// Wakes all that wait.
    pub(super) fn ring(&self) {
        let before = self.state.fetch_add(RING, Ordering::AcqRel);
        if !before.is_multiple_of(RING) {
            // One that has seen no ring and does not sleep yet holds the lock.
            drop(self.asleep.lock().unwrap_or_else(PoisonError::into_inner));
            self.rung.notify_all();
        }
    }

    /// Waits until the bell has been rung after `ticket` was taken, but no longer than `longest`.
    pub(super) fn wait(&self, ticket: Ticket, longest: Option<Duration>) {
        self.state.fetch_add(WAITING, Ordering::AcqRel);
        if !self.is_rung_soon(ticket) {
            self.sleep(ticket, longest);
        }
        self.state.fetch_sub(WAITING, Ordering::AcqRel);
    }

    fn sleep(&self, ticket: Ticket, longest: Option<Duration>) {
        let mut asleep = self.asleep.lock().unwrap_or_else(PoisonError::into_inner);
        while self.ticket() == ticket {
            asleep = match longest {
                None => self.rung.wait(asleep).unwrap_or_else(PoisonError::into_inner),
                Some(longest) => {
                    drop(self.rung.wait_timeout(asleep, longest));
                    return;
                }
            };
        }
    }

    fn is_rung_soon(&self, ticket: Ticket) -> bool {
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
        let bell = Bell::default();
        let ticket = bell.ticket();
        bell.ring();
        assert_ne!(bell.ticket(), ticket);
        bell.wait(ticket, None);
        assert!(!bell.has_waiting());
        // Nobody rings: the nap ends.
        bell.wait(bell.ticket(), Some(Duration::from_millis(1)));
        assert!(!bell.has_waiting());
    }
}

/// All orders in which threads can come to the bell: `cargo test --features loom --lib model::`. A
/// thread that slept through its ring would sleep for ever.
#[cfg(all(test, feature = "loom"))]
mod model {
    use loom::sync::Arc;
    use loom::sync::atomic::AtomicUsize;
    use loom::thread;

    use super::*;

    /// As a thread waits for a split point to join, or for all to have left its own.
    fn wait_until(bell: &Bell, is_so: impl Fn() -> bool) {
        loop {
            let ticket = bell.ticket();
            if is_so() {
                return;
            }
            bell.wait(ticket, None);
        }
    }

    #[test]
    fn nobody_sleeps_through_a_ring() {
        loom::model(|| {
            let shared = Arc::new((Bell::default(), AtomicUsize::new(0)));
            let helper = {
                let shared = Arc::clone(&shared);
                thread::spawn(move || {
                    wait_until(&shared.0, || shared.1.load(Ordering::Relaxed) == 1)
                })
            };
            let (bell, published) = &*shared;
            published.store(1, Ordering::Relaxed);
            bell.ring();
            helper.join().expect("it only waits");
        });
    }

    /// The life of a split point: published, joined by another thread, left by it, and its owner
    /// goes on only then.
    #[test]
    fn an_owner_goes_on_when_its_helper_has_left() {
        loom::model(|| {
            let shared = Arc::new((Bell::default(), Mutex::new((false, 1))));
            let helper = {
                let shared = Arc::clone(&shared);
                thread::spawn(move || {
                    let (bell, split) = &*shared;
                    wait_until(bell, || {
                        let mut split = split.lock().expect("no thread panics");
                        let (published, workers) = *split;
                        if published {
                            *split = (false, workers + 1);
                        }
                        published
                    });
                    split.lock().expect("no thread panics").1 -= 1;
                    bell.ring();
                })
            };
            let (bell, split) = &*shared;
            split.lock().expect("no thread panics").0 = true;
            bell.ring();
            // The owner has done its own share, but waits for its helper to have had one.
            wait_until(bell, || !split.lock().expect("no thread panics").0);
            split.lock().expect("no thread panics").1 -= 1;
            wait_until(bell, || split.lock().expect("no thread panics").1 == 0);
            helper.join().expect("it waits and signs off");
        });
    }
}
