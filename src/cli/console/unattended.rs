//! Runs the console without a terminal, for the fuzz target.

use std::io::{self, Write};
use std::path::PathBuf;
use std::time::Duration;

use crossbeam::channel::unbounded;

use super::Console;
use crate::engine::controller::{Engine, Flow, Frontend, Input};

/// The time limit for a line, which is ample for the fuzz target even on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(120);

/// Types one line per prompt, and waits until each line has been processed. The console saves games
/// to `kept` if they are in no other file. Panics unless each line is followed by exactly one
/// prompt.
pub(crate) fn type_in(
    engine: Engine,
    out: Box<dyn Write + Send>,
    kept: PathBuf,
    lines: impl Iterator<Item = String>,
) -> io::Result<()> {
    let (prompts, asked) = unbounded();
    let mut console = Console::new(engine, out, prompts, false);
    console.keep_file = Some(kept);
    console.print_greeting()?;
    let mut ends = Flow::Continue;
    for line in lines {
        assert_eq!(asked.try_iter().count(), 1, "prompts before {line:?}");
        ends = console.input(Input::Line(line))?;
        if ends == Flow::Quit {
            break;
        }
        while console.is_busy() {
            let background_event = console
                .background_events()
                .messages
                .recv_timeout(TIMEOUT)
                .expect("an answer in time");
            console.handle_background_event(background_event)?;
        }
    }
    if ends == Flow::Continue {
        console.input(Input::End)?;
    }
    // Stop any running search, because its threads would otherwise continue.
    console.engine.force();
    console.engine.stop_analysis();
    Ok(())
}
