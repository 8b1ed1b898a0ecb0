//! Helper functions shared by tuning and training.

use std::thread::{Builder, ScopedJoinHandle};

/// Splits `items` into at most `threads` parts, runs `work` on each part in its own thread, and
/// returns the results in order. If a thread cannot be started, the calling thread runs its part.
pub(super) fn in_parallel<I: Sync, O: Send>(
    items: &[I],
    threads: usize,
    work: impl Fn(&[I]) -> O + Sync,
) -> Vec<O> {
    let size = items.len().div_ceil(threads.max(1)).max(1);
    std::thread::scope(|scope| {
        let work = &work;
        let start = |part| Builder::new().spawn_scoped(scope, move || work(part)).map_err(|_| part);
        let handles: Vec<_> = items.chunks(size).map(start).collect();
        let result = |started: Result<ScopedJoinHandle<'_, O>, &[I]>| match started {
            Ok(handle) => handle.join().expect("a worker panicked"),
            Err(part) => work(part),
        };
        handles.into_iter().map(result).collect()
    })
}
