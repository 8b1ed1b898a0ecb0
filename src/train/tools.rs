//! What tuning and training share.

/// Does a part of the work in each thread.
pub(super) fn in_parallel<I: Sync, O: Send>(
    items: &[I],
    threads: usize,
    work: impl Fn(&[I]) -> O + Sync,
) -> Vec<O> {
    let size = items.len().div_ceil(threads.max(1)).max(1);
    std::thread::scope(|scope| {
        let work = &work;
        let handles: Vec<_> =
            items.chunks(size).map(|part| scope.spawn(move || work(part))).collect();
        handles.into_iter().map(|handle| handle.join().expect("a worker panicked")).collect()
    })
}
