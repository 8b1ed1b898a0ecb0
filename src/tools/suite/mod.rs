//! Suites that search built-in positions, or positions from files, games or a book.
//!
//! - `solve`: EPD test suites
//! - `analysis`: all positions in a book, with backed-up values
//! - `threads`: the speedup from several threads
//! - `transpositions`, [`book_effect`]: the effect of the book on the search
//! - [`research`]: a comparison of two ways to search a late move again
//!
//! ```
//! use tabia::search::{Control, ResearchOrder};
//! use tabia::suite::positions::positions;
//! use tabia::suite::research::nodes;
//!
//! let few = &positions()[..2];
//! assert!(nodes(ResearchOrder::ALL[0], few, 3, &Control::new()).is_some_and(|nodes| nodes > 0));
//! ```

pub(crate) mod analysis;
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

/// Stops a series of searches that run one after another. Each search has its own control, and the
/// switch holds the control of the latest search.
#[derive(Debug, Clone, Default)]
pub(crate) struct Switch(Arc<Mutex<(bool, Control)>>);

impl Switch {
    /// Creates the control for the next search of the series. If the series has been stopped, the
    /// control is stopped from the outset.
    pub(crate) fn control(&self) -> Control {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let control = Control::new();
        if state.0 {
            control.stop();
        }
        state.1 = control.clone();
        control
    }

    pub(crate) fn stop(&self) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.0 = true;
        state.1.stop();
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).0
    }
}

/// Runs one thread per switch, and calls `take` with each value that the threads send, in any
/// order. If `take` fails, the receiver is dropped and the threads end.
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
        found.into_iter().try_for_each(take)
    })
}
