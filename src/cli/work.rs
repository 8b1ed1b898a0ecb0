//! Long-running work: positions to process, progress and interruption.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;

use anyhow::Context;
use indicatif::{ProgressBar, ProgressStyle};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::chess::epd;
use crate::chess::position::Position;
use crate::tools::suite;

/// Exit status of a command that Ctrl-C ended, as shells report it.
pub(super) const INTERRUPTED: u8 = 130;

/// Calls a function on its own thread for each of these signals, in place of their default action.
pub(super) fn on_signals(
    signals: &[i32],
    mut react: impl FnMut(i32) + Send + 'static,
) -> io::Result<()> {
    let mut signals = Signals::new(signals)?;
    thread::Builder::new().spawn(move || signals.forever().for_each(&mut react))?;
    Ok(())
}

/// Returns a flag that Ctrl-C raises instead of ending the process, so that results can be saved.
pub(super) fn interruption() -> anyhow::Result<Arc<AtomicBool>> {
    let flag = Arc::new(AtomicBool::new(false));
    let raised = Arc::clone(&flag);
    on_interruption(move || raised.store(true, Relaxed))?;
    Ok(flag)
}

/// Calls a function on Ctrl-C and other signals that request an end, in place of ending the
/// process.
pub(super) fn on_interruption(mut react: impl FnMut() + Send + 'static) -> anyhow::Result<()> {
    on_signals(&[SIGINT, SIGTERM, SIGHUP], move |_| react()).context("cannot watch for Ctrl-C")
}

/// Returns the number of available processor cores; one if unknown.
pub(super) fn cores() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// Creates a bar on a terminal; elsewhere nothing is shown.
pub(super) fn progress_bar(length: usize, what: &'static str) -> ProgressBar {
    let style = "{msg} {bar:40} {pos}/{len} ({eta} left)";
    let style = ProgressStyle::with_template(style).unwrap_or_else(|_| {
        ProgressStyle::default_bar() // the template above is checked by a test
    });
    ProgressBar::new(length as u64).with_message(what).with_style(style)
}

/// Reads the positions of a file, one a line; without a file returns the built-in ones.
pub(super) fn positions_of(file: Option<&Path>) -> anyhow::Result<Vec<Position>> {
    let Some(path) = file else { return Ok(suite::positions::positions()) };
    let text = std::fs::read_to_string(path)
        .with_context(|| format!("cannot read the positions {}", path.display()))?;
    let positions = epd::positions(&text)
        .map_err(|(line, error)| anyhow::anyhow!("{}: line {line}: {error}", path.display()))?;
    anyhow::ensure!(!positions.is_empty(), "{}: there is no position", path.display());
    Ok(positions)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_has_the_number_of_the_bad_line() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        std::fs::write(file.path(), "# a comment\n\nnonsense\n").expect("written");
        let error = positions_of(Some(file.path())).expect_err("no position").to_string();
        let place = format!("{}: line 3: ", file.path().display());
        assert!(error.starts_with(&place), "{error}");
    }

    #[test]
    fn progress_bar_template_is_valid() {
        let template = "{msg} {bar:40} {pos}/{len} ({eta} left)";
        assert!(ProgressStyle::with_template(template).is_ok());
        assert_eq!(progress_bar(7, "files").length(), Some(7));
    }
}
