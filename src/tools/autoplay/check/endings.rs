//! Tests of how an engine exits. They are the same for both protocols.

use std::time::Instant;

use super::Finding;
use super::conversation::{Conversation, Handshake};
use crate::support::platform::{HAS_SIGNALS, Signal, has_crashed};
use crate::tools::autoplay::process::Received;

/// The reason for skipping the tests that send signals.
pub(super) const NO_SIGNALS: &str = "signals, which Windows does not have";

pub(super) fn termination_signal<H: Handshake>(
    conversation: &mut Conversation<H>,
) -> Result<(), Finding> {
    if !HAS_SIGNALS {
        return conversation.skip(NO_SIGNALS);
    }
    conversation.send(H::NEW_GAME);
    conversation.process.signal(Signal::Terminate);
    ends(conversation, "SIGTERM was sent: ", "SIGTERM must end the engine")
}

pub(super) fn end_of_input<H: Handshake>(
    conversation: &mut Conversation<H>,
) -> Result<(), Finding> {
    conversation.send(H::NEW_GAME);
    conversation.process.close_input();
    let rule = "the end of input must end the engine, since the GUI has exited";
    ends(conversation, "the input was closed: ", rule)
}

pub(super) fn end_while_thinking<H: Handshake>(
    conversation: &mut Conversation<H>,
) -> Result<(), Finding> {
    conversation.send_all(H::LONG_SEARCH);
    conversation.process.close_input();
    let rule = "the end of input must end the engine during a search too";
    ends(conversation, "the input was closed: ", rule)
}

pub(super) fn quit<H: Handshake>(conversation: &mut Conversation<H>) -> Result<(), Finding> {
    conversation.send_all(&[H::NEW_GAME, "quit"]);
    ends(conversation, "", "quit must end the engine at once")
}

pub(super) fn quit_while_thinking<H: Handshake>(
    conversation: &mut Conversation<H>,
) -> Result<(), Finding> {
    conversation.send_all(H::LONG_SEARCH);
    conversation.send("quit");
    ends(conversation, "", "quit must end the engine during a search too")
}

/// Checks that the engine exits in time and does not crash.
fn ends<H: Handshake>(
    conversation: &mut Conversation<H>,
    what: &str,
    rule: &'static str,
) -> Result<(), Finding> {
    let start = Instant::now();
    let deadline = start + conversation.patience;
    // Read all output. Otherwise, the engine might block on its output and never read its input.
    while let Received::Line(_) = conversation.process.receive(deadline) {}
    let Some(status) = conversation.process.wait(deadline) else {
        let seconds = conversation.patience.as_secs_f64();
        let came = format!("{what}still running after {seconds} s");
        return Err(conversation.finding(came, rule));
    };
    conversation.notes.push(format!("exit after {} ms", start.elapsed().as_millis()));
    if !has_crashed(status) {
        return Ok(());
    }
    let came = format!("{what}the engine {}", conversation.process.exit_reason());
    Err(conversation.finding(came, rule))
}
