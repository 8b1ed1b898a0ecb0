//! The loop that waits for the user and the search at once.

use std::io;

use crossbeam::channel::{Receiver, select};

use super::lines::Input;
use super::worker::News;

/// Whether to go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flow {
    /// Wait for more.
    Continue,
    /// Leave.
    Quit,
}

/// One way to speak with the outside world: a protocol, or the console. It is the only writer of
/// the standard output.
pub(crate) trait Face {
    /// Acts on what came in.
    ///
    /// # Errors
    /// If the output cannot be written: nobody listens any more.
    fn input(&mut self, input: Input) -> io::Result<Flow>;

    /// Acts on what the search tells.
    ///
    /// # Errors
    /// As [`Face::input`].
    fn news(&mut self, news: News) -> io::Result<()>;

    /// Where the search tells it.
    fn source(&self) -> Receiver<News>;
}

/// Drives a face until it, or its input, ends.
///
/// # Errors
/// If the output cannot be written.
pub(crate) fn run(face: &mut dyn Face, inputs: &Receiver<Input>) -> io::Result<()> {
    let news = face.source();
    loop {
        select! {
            recv(inputs) -> input => {
                if face.input(input.unwrap_or(Input::End))? == Flow::Quit {
                    return Ok(());
                }
            }
            // The face holds a sender of its own, so that this channel is never closed.
            recv(news) -> message => message.into_iter().try_for_each(|news| face.news(news))?,
        }
    }
}
