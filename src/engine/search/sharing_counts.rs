//! Per-thread statistics of shared work.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::report::Sharing;

#[derive(Debug, Default)]
pub(super) struct SharingCounts {
    pub(super) splits: AtomicU64,
    pub(super) joined: AtomicU64,
    pub(super) joins: AtomicU64,
    /// Idle time, in nanoseconds.
    pub(super) waiting: AtomicU64,
}

impl SharingCounts {
    pub(super) fn add_to(&self, sum: Sharing) -> Sharing {
        let [splits, joined, joins, waiting] =
            [&self.splits, &self.joined, &self.joins, &self.waiting]
                .map(|count| count.load(Ordering::Relaxed));
        Sharing {
            splits: sum.splits + splits,
            joined: sum.joined + joined,
            joins: sum.joins + joins,
            waiting: sum.waiting + Duration::from_nanos(waiting),
        }
    }
}

/// Adds `more` to a counter. Each counter is written by only one thread, so a separate load and
/// store suffice.
pub(super) fn count(counter: &AtomicU64, more: u64) {
    counter.store(counter.load(Ordering::Relaxed) + more, Ordering::Relaxed);
}
