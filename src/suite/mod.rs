//! Suites: positions of files or of real games, and how the search fares on them.

pub(crate) mod analyse;
pub(crate) mod epd;
pub(crate) mod solve;
pub(crate) mod threads;
pub(crate) mod transpositions;

use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, scope};

use crossbeam::channel::{Sender, bounded};

use crate::search::{Control, STACK_SIZE};

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
/// Those of `take`.
pub(crate) fn share_out<T: Send, E>(
    switches: &[Switch],
    work: impl Fn(&Switch, &Sender<T>) + Sync,
    take: &mut impl FnMut(T) -> Result<(), E>,
) -> Result<(), E> {
    let (sender, found) = bounded(switches.len());
    let work = &work;
    scope(|scope| {
        for (number, switch) in switches.iter().enumerate() {
            let sender = sender.clone();
            let run = move || work(switch, &sender);
            match Builder::new().stack_size(STACK_SIZE).spawn_scoped(scope, run) {
                Ok(_) => {}
                Err(error) if number > 0 => {
                    log::warn!("{number} threads search, no more can be started: {error}");
                    break;
                }
                Err(error) => panic!("no thread can be started: {error}"),
            }
        }
        drop(sender);
        // After an error nobody listens, and the threads end.
        found.into_iter().try_for_each(take)
    })
}
