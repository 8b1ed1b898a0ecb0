//! Statistics of shared work, kept by each thread.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::report::Sharing;

/// One thread's contribution to [`Sharing`].
#[derive(Debug, Default)]
pub(super) struct SharingCounts {
    pub(super) splits: AtomicU64,
    pub(super) joined: AtomicU64,
    pub(super) joins: AtomicU64,
    /// Idle time, in nanoseconds.
    pub(super) waiting: AtomicU64,
}

impl SharingCounts {
    /// Returns `sum` with this thread's counts added.
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

/// Adds to a counter that only one thread writes. A separate load and store are therefore
/// sufficient.
pub(super) fn count(counter: &AtomicU64, more: u64) {
    counter.store(counter.load(Ordering::Relaxed) + more, Ordering::Relaxed);
}
