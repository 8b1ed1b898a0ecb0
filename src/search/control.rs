//! The handle by which others steer a running search.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Stops a search or turns pondering into thinking, from any thread. Clones steer the same
/// search; every search gets a control of its own, so that a late signal cannot hit the next one.
#[derive(Debug, Clone, Default)]
pub struct Control {
    signals: Arc<Signals>,
}

#[derive(Debug, Default)]
struct Signals {
    stop: AtomicBool,
    ponder_hit: AtomicBool,
}

impl Control {
    /// A control that has given no signal yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Ends the search as soon as it looks, within some hundred nodes.
    pub fn stop(&self) {
        self.signals.stop.store(true, Ordering::Relaxed);
    }

    /// Tells that the opponent has played the expected move: the clock starts now.
    pub fn ponder_hit(&self) {
        self.signals.ponder_hit.store(true, Ordering::Relaxed);
    }

    /// Whether the search has been told to stop.
    #[inline]
    pub fn is_stopped(&self) -> bool {
        self.signals.stop.load(Ordering::Relaxed)
    }

    /// Whether the opponent has played the expected move.
    #[inline]
    pub fn is_ponder_hit(&self) -> bool {
        self.signals.ponder_hit.load(Ordering::Relaxed)
    }
}
