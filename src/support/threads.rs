//! Starts threads. If the operating system refuses to start all of them, fewer threads are used.

use std::io;
use std::thread::{Builder, Scope, ScopedJoinHandle, available_parallelism, scope};

use crossbeam::channel::bounded;

/// The stack size in bytes for work without deep recursion: the standard library's default.
pub(crate) const STACK: usize = 2 << 20;

/// Returns the number of processor cores that this process may use, or 1 if the number is unknown.
pub(crate) fn cores() -> usize {
    available_parallelism().map_or(1, usize::from)
}

/// Starts up to `wanted` threads in a scope, each with a stack of `stack` bytes. `job` returns the
/// job of the thread with the given number. Logs a warning if not all threads can be started, and
/// fails if none can.
pub(crate) fn start<'scope, J, T>(
    scope: &'scope Scope<'scope, '_>,
    (wanted, stack): (usize, usize),
    mut job: impl FnMut(usize) -> J,
) -> io::Result<Vec<ScopedJoinHandle<'scope, T>>>
where
    J: FnOnce() -> T + Send + 'scope,
    T: Send + 'scope,
{
    let mut threads = Vec::new();
    for number in 0..wanted.max(1) {
        match Builder::new().stack_size(stack).spawn_scoped(scope, job(number)) {
            Ok(thread) => threads.push(thread),
            Err(error) if number > 0 => {
                log::warn!("{number} of {wanted} threads were started: {}", refused(&error));
                break;
            }
            Err(error) => return Err(refused(&error)),
        }
    }
    Ok(threads)
}

/// Returns how many threads, up to `wanted`, can exist at the same time. Starts the threads to find
/// out.
pub(crate) fn available(wanted: usize) -> io::Result<usize> {
    let (open, closed) = bounded::<()>(0);
    scope(|scope| {
        let wait = |_| {
            let closed = closed.clone();
            move || {
                // Wait until the channel is closed, so that all threads exist at the same time.
                let _ = closed.recv();
            }
        };
        let started = start(scope, (wanted, STACK), wait)?.len();
        drop(open);
        Ok(started)
    })
}

pub(crate) fn refused(cause: &io::Error) -> io::Error {
    let text = format!(
        "cannot start a thread: {cause}; close other programs or raise the limit of processes \
         (ulimit -u)"
    );
    io::Error::new(cause.kind(), text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_thread_runs_once() {
        let done = scope(|scope| {
            let threads = start(scope, (5, STACK), |number| move || number).expect("threads");
            threads.into_iter().map(|thread| thread.join().expect("no panic")).collect::<Vec<_>>()
        });
        assert_eq!(done, [0, 1, 2, 3, 4]);
        assert_eq!(available(3).expect("threads"), 3);
    }

    #[test]
    fn impossible_stack_size_is_an_error() {
        let error = scope(|scope| start(scope, (2, usize::MAX / 2), |_| || ()).map(|_| ()));
        let text = error.expect_err("no such stack").to_string();
        assert!(text.contains("cannot start a thread") && text.contains("ulimit"), "{text}");
    }
}
