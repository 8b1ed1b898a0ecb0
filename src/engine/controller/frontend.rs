//! The main loop, which waits for input and for background events.

use std::io;

use crossbeam::channel::{Receiver, select};

use super::lines::Input;
use super::worker::BackgroundEvent;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flow {
    Continue,
    Quit,
}

/// A user interface, which is either a protocol or the console. Nothing else writes to standard
/// output while it runs.
pub(crate) trait Frontend {
    /// Handles a line of input or the end of the input. Fails if the output cannot be written.
    fn input(&mut self, input: Input) -> io::Result<Flow>;

    /// Handles an event from the search or another background thread.
    fn handle_background_event(&mut self, background_event: BackgroundEvent) -> io::Result<()>;

    fn background_events(&self) -> Receiver<BackgroundEvent>;
}

pub(crate) fn run(frontend: &mut dyn Frontend, inputs: &Receiver<Input>) -> io::Result<()> {
    let events = frontend.background_events();
    loop {
        select! {
            recv(inputs) -> input => {
                if frontend.input(input.unwrap_or(Input::End))? == Flow::Quit {
                    return Ok(());
                }
            }
            // The frontend holds a sender for this channel, so the channel never closes.
            recv(events) -> event => {
                event.into_iter().try_for_each(|event| frontend.handle_background_event(event))?;
            }
        }
    }
}
