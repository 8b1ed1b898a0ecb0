//! What the threads of a search count of their work together.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::report::Sharing;

/// What one thread counts of [`Sharing`].
#[derive(Debug, Default)]
pub(super) struct SharingCounts {
    pub(super) splits: AtomicU64,
    pub(super) joined: AtomicU64,
    pub(super) joins: AtomicU64,
    /// Nanoseconds.
    pub(super) waiting: AtomicU64,
}

impl SharingCounts {
    /// Adds what this thread has counted to `sum`.
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

/// Counts what only one thread counts, which needs no more than a load and a store.
pub(super) fn count(counter: &AtomicU64, more: u64) {
    counter.store(counter.load(Ordering::Relaxed) + more, Ordering::Relaxed);
}
