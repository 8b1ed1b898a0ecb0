//! Reads lines from the terminal.

use std::collections::VecDeque;
use std::io;
use std::time::Duration;

use crossbeam::channel::{Receiver, RecvTimeoutError, Sender};
use rustyline::DefaultEditor;
use rustyline::error::ReadlineError;

use crate::engine::controller::Input;
use crate::support::platform::{self, Event, on_events};

/// The interval at which the terminal is polled while no prompt is shown.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// Reads one line per prompt, with editing and history. While the engine is thinking, urgent
/// commands take effect immediately, and other lines are queued for later prompts.
pub(in crate::cli) fn read_lines(
    prompts: Receiver<String>,
    lines: Sender<Input>,
) -> anyhow::Result<()> {
    // Closing the terminal ends the input.
    let end = lines.clone();
    on_events(&[Event::Hangup], move |_| drop(end.send(Input::End)))?;
    let mut editor = DefaultEditor::new()?;
    std::thread::spawn(move || {
        let mut waiting = VecDeque::new();
        loop {
            let input = match prompts.recv_timeout(POLL_INTERVAL) {
                Ok(prompt) => match waiting.pop_front() {
                    Some(line) => Input::Line(line),
                    None => ask(&mut editor, &prompt),
                },
                Err(RecvTimeoutError::Timeout) => match read_typed_ahead(&mut waiting) {
                    Some(input) => {
                        // If a prompt has arrived in the meantime, discard it, because this line is
                        // the response to it.
                        let _ = prompts.try_recv();
                        input
                    }
                    None => continue,
                },
                Err(RecvTimeoutError::Disconnected) => return,
            };
            let ends = input == Input::End;
            if lines.send(input).is_err() || ends {
                return;
            }
        }
    });
    Ok(())
}

fn ask(editor: &mut DefaultEditor, prompt: &str) -> Input {
    match editor.readline(prompt) {
        Ok(line) => {
            let _ = editor.add_history_entry(line.as_str());
            Input::Line(line)
        }
        Err(ReadlineError::Interrupted) => Input::Line(String::new()),
        Err(_) => Input::End,
    }
}

/// Commands that take effect immediately while the engine is thinking.
const AT_ONCE: [&str; 6] = ["?", "undo", "u", "remove", "r", "resign"];

/// Reads a line that was typed without a prompt, if there is one. Urgent lines are returned at once
/// unless other lines are waiting. All other lines are added to `waiting`.
fn read_typed_ahead(waiting: &mut VecDeque<String>) -> Option<Input> {
    let stdin = io::stdin();
    if !platform::input_has_line(&stdin) {
        return None;
    }
    let mut line = String::new();
    match stdin.read_line(&mut line) {
        Ok(0) => Some(Input::End),
        Ok(_) if waiting.is_empty() && ["quit", "q"].contains(&line.trim()) => Some(Input::End),
        Ok(_) if waiting.is_empty() && is_urgent(&line) => {
            Some(Input::Line(line.trim().to_owned()))
        }
        Ok(_) => {
            waiting.push_back(line.trim_end().to_owned());
            None
        }
        Err(error) if error.kind() == io::ErrorKind::InvalidData => None,
        Err(_) => Some(Input::End),
    }
}

fn is_urgent(line: &str) -> bool {
    line.split_whitespace().next().is_some_and(|word| AT_ONCE.contains(&word))
}
