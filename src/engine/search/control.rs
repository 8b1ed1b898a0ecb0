//! The handle that controls a running search.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Instant;

/// Handle that stops a search, or switches it from pondering to thinking. It can be used from any
/// thread.
///
/// Clones control the same search. Each search has its own control, so a signal that arrives late
/// cannot affect the next search.
#[derive(Debug, Clone, Default)]
pub struct Control {
    signals: Arc<Signals>,
}

#[derive(Debug, Default)]
struct Signals {
    stop: AtomicBool,
    ponder_hit: AtomicBool,
    /// Locked by a waiting thread while it checks the signals, and briefly by `wake`, so that no
    /// signal is lost between the check and the wait.
    asleep: Mutex<()>,
    given: Condvar,
    /// A deliberate panic in a test: the number of the thread, and the node count after which it
    /// panics.
    #[cfg(test)]
    panic_at: Option<(usize, u64)>,
}

impl Control {
    /// Creates a control that has received no signals.
    pub fn new() -> Self {
        Self::default()
    }

    /// Stops the search the next time it checks for signals, within a few hundred nodes.
    pub fn stop(&self) {
        self.signals.stop.store(true, Ordering::Relaxed);
        self.wake();
    }

    /// Signals that the opponent has played the expected move, so the engine's clock is now
    /// running.
    pub fn ponder_hit(&self) {
        self.signals.ponder_hit.store(true, Ordering::Relaxed);
        self.wake();
    }

    #[cfg(test)]
    pub(super) fn panicking_at(thread: usize, nodes: u64) -> Self {
        let signals = Signals { panic_at: Some((thread, nodes)), ..Signals::default() };
        Control { signals: Arc::new(signals) }
    }

    #[cfg(test)]
    pub(super) fn panic_if_due(&self, thread: usize, nodes: u64) {
        let panics = self.signals.panic_at.is_some_and(|(id, from)| id == thread && nodes > from);
        assert!(!panics, "deliberate panic of a test");
    }

    fn wake(&self) {
        drop(self.signals.asleep.lock().unwrap_or_else(PoisonError::into_inner));
        self.signals.given.notify_all();
    }

    /// Sleeps until `is_early` returns false. `is_early` is called once at the start, and again
    /// after each signal.
    pub(super) fn wait_while(&self, is_early: impl Fn() -> bool) {
        let mut asleep = self.signals.asleep.lock().unwrap_or_else(PoisonError::into_inner);
        while is_early() {
            asleep = self.signals.given.wait(asleep).unwrap_or_else(PoisonError::into_inner);
        }
    }

    pub(super) fn wait_until(&self, deadline: Instant) {
        let mut asleep = self.signals.asleep.lock().unwrap_or_else(PoisonError::into_inner);
        while !self.is_stopped() {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            let woken = self.signals.given.wait_timeout(asleep, left);
            asleep = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Whether [`Control::stop`] has been called.
    #[inline]
    pub fn is_stopped(&self) -> bool {
        self.signals.stop.load(Ordering::Relaxed)
    }

    /// Whether [`Control::ponder_hit`] has been called.
    #[inline]
    pub fn is_ponder_hit(&self) -> bool {
        self.signals.ponder_hit.load(Ordering::Relaxed)
    }
}
