//! Helpers for long-running commands: reading the positions to process, showing progress, and
//! handling Ctrl-C.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

use anyhow::Context;
use indicatif::{ProgressBar, ProgressStyle};

use super::output::errln;
use crate::chess::epd;
use crate::chess::position::Position;
use crate::support::files::{Cannot, FileError, foreign_kind};
use crate::support::platform::{Event, on_events};
use crate::support::words::grouped;
use crate::tools::suite::{self, Switch};

/// The exit status that shells report for a command terminated by Ctrl-C.
pub(super) const INTERRUPTED: u8 = 130;
/// The exit status of a check that found faults. Errors have other statuses.
pub(super) const FOUND: u8 = 4;

pub(super) fn exit_status(interrupted: bool) -> ExitCode {
    if interrupted { ExitCode::from(INTERRUPTED) } else { ExitCode::SUCCESS }
}

/// Returns a flag that is set on Ctrl-C. The process continues, so that it can save its results.
pub(super) fn interruption() -> anyhow::Result<Arc<AtomicBool>> {
    let flag = Arc::new(AtomicBool::new(false));
    let raised = Arc::clone(&flag);
    on_interruption(move || raised.store(true, Relaxed))?;
    Ok(flag)
}

pub(super) fn stop_switches(count: usize) -> anyhow::Result<Vec<Switch>> {
    let switches: Vec<Switch> = (0..count).map(|_| Switch::default()).collect();
    let thrown = switches.clone();
    on_interruption(move || thrown.iter().for_each(Switch::stop))?;
    Ok(switches)
}

/// Returns a switch that is turned off on Ctrl-C.
pub(super) fn stop_switch() -> anyhow::Result<Switch> {
    let switch = Switch::default();
    let thrown = switch.clone();
    on_interruption(move || thrown.stop())?;
    Ok(switch)
}

/// Calls `react` when a signal such as Ctrl-C would otherwise end the program.
pub(super) fn on_interruption(mut react: impl FnMut() + Send + 'static) -> anyhow::Result<()> {
    let events = [Event::Interrupt, Event::Terminate, Event::Hangup];
    on_events(&events, move |_| react()).context("cannot watch for Ctrl-C")
}

const REPORT_INTERVAL: Duration = Duration::from_secs(60);

/// Shows the progress of long-running work: as a bar on a terminal, and as one line per minute on
/// standard error otherwise.
pub(super) struct Progress {
    bar: ProgressBar,
    what: &'static str,
    /// The amount of work done by earlier runs.
    before: u64,
    begun: Instant,
    last_report: Instant,
}

impl Progress {
    /// Starts showing progress. `length` is the total amount of work, or 0 if it is unknown.
    /// `before` is the amount that earlier runs have done.
    pub(super) fn new(length: u64, before: u64, what: &'static str) -> Self {
        let bar = progress_bar(length as usize, what);
        bar.set_position(before);
        let now = Instant::now();
        Progress { bar, what, before, begun: now, last_report: now }
    }

    pub(super) fn step(&mut self) {
        self.set(self.bar.position() + 1);
    }

    pub(super) fn set(&mut self, done: u64) {
        self.bar.set_position(done);
        if self.bar.is_hidden() && self.last_report.elapsed() >= REPORT_INTERVAL {
            self.last_report = Instant::now();
            errln!("{}", self.line(done, self.begun.elapsed()));
        }
    }

    fn line(&self, done: u64, elapsed: Duration) -> String {
        let (length, what) = (self.bar.length().unwrap_or(0), self.what);
        let rate = (done - self.before.min(done)) as f64 / elapsed.as_secs_f64().max(1e-9);
        let speed = match rate {
            1.0.. => format!("{rate:.0}/s"),
            _ => format!("{:.1} a minute", 60.0 * rate),
        };
        if length == 0 || rate == 0.0 {
            return format!("{} {what}, {speed}", grouped(done));
        }
        let minutes = length.saturating_sub(done) as f64 / rate / 60.0;
        let [done, length] = [done, length].map(grouped);
        format!("{done} of {length} {what}, {speed}, {minutes:.0} minutes left")
    }

    pub(super) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

pub(super) fn progress_bar(length: usize, what: &'static str) -> ProgressBar {
    let style = "{msg} {bar:40} {pos}/{len} ({eta} left)";
    let style = ProgressStyle::with_template(style).unwrap_or_else(|_| {
        ProgressStyle::default_bar() // the template above is checked by a test
    });
    ProgressBar::new(length as u64).with_message(what).with_style(style)
}

/// Reads a file of positions as text. `-` means standard input. Rejects a file whose content is
/// recognised as another kind of file.
pub(super) fn read_epd(path: &Path) -> Result<String, FileError> {
    const ACTION: &str = "read positions from";
    let mut bytes = Vec::new();
    let read = match path.as_os_str() == "-" {
        true => io::stdin().lock().read_to_end(&mut bytes),
        false => File::open(path).and_then(|mut file| file.read_to_end(&mut bytes)),
    };
    read.cannot(ACTION, path)?;
    match foreign_kind(&bytes) {
        Some((name, advice)) => {
            Err(FileError::new(ACTION, path, format!("it is {name}; {advice}")))
        }
        None => Ok(String::from_utf8_lossy(&bytes).into_owned()),
    }
}

/// Reads the positions from a file, one per line. If no file is given, returns the built-in
/// positions.
pub(super) fn positions_of(file: Option<&Path>) -> anyhow::Result<Vec<Position>> {
    let Some(path) = file else { return Ok(suite::positions::positions()) };
    let text = read_epd(path)?;
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
    fn progress_lines_count_this_run_alone() {
        let minute = Duration::from_secs(60);
        let line = |length, done| Progress::new(length, 10, "games").line(done, minute);
        assert_eq!(line(130, 70), "70 of 130 games, 1/s, 1 minutes left");
        assert_eq!(line(70, 40), "40 of 70 games, 30.0 a minute, 1 minutes left");
        assert_eq!(line(0, 2410), "2,410 games, 40/s");
        assert_eq!(line(70, 10), "10 games, 0.0 a minute");
    }

    #[test]
    fn progress_bar_template_is_valid() {
        let template = "{msg} {bar:40} {pos}/{len} ({eta} left)";
        assert!(ProgressStyle::with_template(template).is_ok());
        assert_eq!(progress_bar(7, "files").length(), Some(7));
    }
}
