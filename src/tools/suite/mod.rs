//! Suites: searches over positions from files, from games, from a book, or built in.
//!
//! - `solve`: EPD test suites
//! - `analyse`: all positions of a book; `book::analysis` backs the scores up
//! - `threads`: speed-up by threads
//! - `transpositions`, [`book_effect`]: effect of the book in the search
//! - [`research`]: two orders of searching a late move again
//!
//! [`research`] and [`book_effect`] use the engine's own search; [`research`] also plays matches
//! with `autoplay`.

pub(crate) mod analyse;
pub mod book_effect;
pub mod positions;
pub mod research;
pub(crate) mod solve;
pub(crate) mod threads;
pub(crate) mod transpositions;

use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::scope;

use crossbeam::channel::{Sender, bounded};

use crate::engine::search::{Control, STACK_SIZE};
use crate::support::threads::start;

/// Ends a series of searches. Each search has a control of its own, which this hands out.
#[derive(Debug, Clone, Default)]
pub(crate) struct Switch(Arc<Mutex<(bool, Control)>>);

impl Switch {
    /// The control of the next search; it is stopped already if the series is to end.
    pub(crate) fn control(&self) -> Control {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let control = Control::new();
        if state.0 {
            control.stop();
        }
        state.1 = control.clone();
        control
    }

    /// Stops the running search and all that follow.
    pub(crate) fn stop(&self) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.0 = true;
        state.1.stop();
    }

    /// Whether the series has been ended.
    pub(crate) fn is_stopped(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).0
    }
}

/// Works on a thread for each switch, and takes what the threads send, in any order, until they are
/// done or `take` fails; then nobody listens to them any more.
///
/// # Errors
/// Those of `take`, and if no thread can be started.
pub(crate) fn run_parallel<T: Send, E: From<io::Error>>(
    switches: &[Switch],
    work: impl Fn(&Switch, &Sender<T>) + Sync,
    take: &mut impl FnMut(T) -> Result<(), E>,
) -> Result<(), E> {
    let (sender, found) = bounded(switches.len());
    let work = &work;
    scope(|scope| {
        let run = |number: usize| {
            let (sender, switch) = (sender.clone(), &switches[number]);
            move || work(switch, &sender)
        };
        start(scope, (switches.len(), STACK_SIZE), run)?;
        drop(sender);
        // After an error nobody listens, and the threads end.
        found.into_iter().try_for_each(take)
    })
}
