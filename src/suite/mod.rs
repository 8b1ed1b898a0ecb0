//! Suites: positions of files or of real games, and how the search fares on them.

pub(crate) mod analyse;
pub(crate) mod epd;
pub(crate) mod solve;
pub(crate) mod threads;
pub(crate) mod transpositions;

use std::sync::{Arc, Mutex, PoisonError};

use crate::search::Control;

/// Ends a series of searches. Each search has a control of its own, which this hands out.
#[derive(Clone, Default)]
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
