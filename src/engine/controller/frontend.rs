//! The main loop, which waits for both the user and the search.

use std::io;

use crossbeam::channel::{Receiver, select};

use super::lines::Input;
use super::worker::BackgroundEvent;

/// Whether to continue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flow {
    /// Wait for more.
    Continue,
    /// Leave the loop.
    Quit,
}

/// A user interface: one of the protocols, or the console. Only it writes to standard output.
pub(crate) trait Frontend {
    /// Handles a line of input.
    ///
    /// # Errors
    /// If the output cannot be written.
    fn input(&mut self, input: Input) -> io::Result<Flow>;

    /// Handles an event of the search or of another thread.
    ///
    /// # Errors
    /// As for [`Frontend::input`].
    fn handle_background_event(&mut self, background_event: BackgroundEvent) -> io::Result<()>;

    /// Returns the channel of these events.
    fn background_events(&self) -> Receiver<BackgroundEvent>;
}

/// Runs a frontend until it, or its input, ends.
///
/// # Errors
/// If the output cannot be written.
pub(crate) fn run(frontend: &mut dyn Frontend, inputs: &Receiver<Input>) -> io::Result<()> {
    let events = frontend.background_events();
    loop {
        select! {
            recv(inputs) -> input => {
                if frontend.input(input.unwrap_or(Input::End))? == Flow::Quit {
                    return Ok(());
                }
            }
            // The frontend holds a sender of its own, so this channel is never closed.
            recv(events) -> event => {
                event.into_iter().try_for_each(|event| frontend.handle_background_event(event))?;
            }
        }
    }
}
