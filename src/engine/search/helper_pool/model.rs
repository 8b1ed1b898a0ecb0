//! Tests that explore every interleaving of the threads of a helper pool. To run them, use `cargo
//! test --features loom --lib model::`.
//!
//! The types in this module replace those of crossbeam, because Loom can explore only
//! synchronisation that goes through its own types.

use std::time::Duration;

use loom::sync::{Arc, Condvar, Mutex};

pub(super) struct AtomicCell<T>(Mutex<T>);

impl<T: Default> AtomicCell<T> {
    pub(super) fn new(value: T) -> Self {
        AtomicCell(Mutex::new(value))
    }

    pub(super) fn store(&self, value: T) {
        *self.0.lock().expect("nobody panics") = value;
    }

    pub(super) fn take(&self) -> T {
        std::mem::take(&mut *self.0.lock().expect("nobody panics"))
    }
}

/// Replaces `crossbeam::sync::Parker`. `unpark` leaves a token. If there is a token, `park` takes
/// it and returns immediately.
#[derive(Clone)]
pub(super) struct Parker(Arc<(Mutex<bool>, Condvar)>);

pub(super) type Unparker = Parker;

impl Parker {
    pub(super) fn new() -> Self {
        Parker(Arc::new((Mutex::new(false), Condvar::new())))
    }

    pub(super) fn unparker(&self) -> &Unparker {
        self
    }

    pub(super) fn park(&self) {
        let mut token = self.0.0.lock().expect("nobody panics");
        while !std::mem::take(&mut *token) {
            token = self.0.1.wait(token).expect("nobody panics");
        }
    }

    /// Times out immediately, because the model has no clock.
    pub(super) fn park_timeout(&self, _longest: Duration) {
        *self.0.0.lock().expect("nobody panics") = false;
    }

    pub(super) fn unpark(&self) {
        *self.0.0.lock().expect("nobody panics") = true;
        self.0.1.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use loom::sync::Arc;
    use loom::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
    use loom::thread;

    use super::super::{ANYWHERE, HelperPool, SharedThreadSet, ThreadSet, WaitResult};

    fn serve(
        pool: &HelperPool<usize>,
        me: usize,
        below: usize,
        is_over: impl Fn() -> bool,
    ) -> usize {
        let mut done = 0;
        loop {
            pool.offer(me, below);
            match pool.wait(me, &is_over, None) {
                WaitResult::Called(task) => done += task,
                WaitResult::Over => return done,
                WaitResult::TimedOut => unreachable!("it waits without a timeout"),
            }
        }
    }

    fn share(pool: &HelperPool<usize>, owners: &ThreadSet, below: usize, calls: bool) -> usize {
        match pool.reserve(owners, |above| above == below) {
            Some(reservation) if calls => {
                reservation.call(1);
                1
            }
            _ => 0,
        }
    }

    #[test]
    fn idle_thread_runs_its_task_and_ends() {
        for calls in [true, false] {
            loom::model(move || {
                let pool = Arc::new(HelperPool::new(2, 2));
                let helper = {
                    let pool = Arc::clone(&pool);
                    thread::spawn(move || serve(&pool, 1, ANYWHERE, || pool.is_over()))
                };
                let shared = share(&pool, &ThreadSet::default(), 7, calls);
                pool.finish();
                assert_eq!(helper.join().expect("no panic"), shared);
            });
        }
    }

    /// Models the end of a split point: its only helper leaves, possibly after giving a task to the
    /// owner.
    #[test]
    fn owner_continues_after_its_helper_leaves() {
        for calls in [true, false] {
            loom::model(move || {
                let pool = Arc::new(HelperPool::new(2, 2));
                let workers = Arc::new(AtomicUsize::new(1));
                let helper = {
                    let (pool, workers) = (Arc::clone(&pool), Arc::clone(&workers));
                    thread::spawn(move || {
                        let owners = ThreadSet::default().with(0);
                        let shared = share(&pool, &owners, 7, calls);
                        if workers.fetch_sub(1, Ordering::AcqRel) == 1 {
                            pool.wake(0);
                        }
                        shared
                    })
                };
                let done = serve(&pool, 0, 7, || workers.load(Ordering::Acquire) == 0);
                assert_eq!(done, helper.join().expect("no panic"));
            });
        }
    }

    #[test]
    fn idle_thread_is_reserved_by_only_one_caller() {
        loom::model(|| {
            let pool = Arc::new(HelperPool::new(3, 3));
            pool.offer(2, ANYWHERE);
            let other = {
                let pool = Arc::clone(&pool);
                thread::spawn(move || share(&pool, &ThreadSet::default(), 7, true))
            };
            let shared = share(&pool, &ThreadSet::default(), 7, true);
            let shared = shared + other.join().expect("no panic");
            assert_eq!(shared, 1);
            assert!(matches!(pool.wait(2, || false, None), WaitResult::Called(1)));
        });
    }

    #[test]
    fn joining_thread_notices_a_concurrent_cutoff() {
        loom::model(|| {
            let pool: Arc<HelperPool<usize>> = Arc::new(HelperPool::new(2, 2));
            let node = Arc::new((SharedThreadSet::default(), AtomicBool::new(false)));
            let other = {
                let (pool, node) = (Arc::clone(&pool), Arc::clone(&node));
                thread::spawn(move || {
                    node.1.store(true, Ordering::Relaxed);
                    pool.check_cutoffs(&node.0);
                })
            };
            node.0.insert(1);
            let seen = node.1.load(Ordering::Relaxed);
            other.join().expect("no panic");
            let cutoff_flag = pool.cutoff_flag(1).expect("a seat").is_set();
            assert!(seen || cutoff_flag);
        });
    }
}
