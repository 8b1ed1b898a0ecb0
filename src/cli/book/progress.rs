//! Displays the progress of a book build: a progress bar on a terminal, and separate lines
//! otherwise.

use std::io::{self, IsTerminal};
use std::sync::atomic::Ordering::Relaxed;
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use super::grouped;
use crate::cli::output::errln;
use crate::games::book::Monitor;
use crate::games::pgn::PgnInput;
use crate::support::words::counted;

const REFRESH: Duration = Duration::from_millis(100);
/// The interval between lines when the output is not a terminal.
const LINE_EVERY: Duration = Duration::from_secs(5);

/// Displays the progress of a book build until this value is dropped.
pub(super) struct BuildProgress {
    stop: Option<crossbeam::channel::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl BuildProgress {
    pub(super) fn start(inputs: &[PgnInput], monitor: &Monitor) -> Self {
        Self::of(Material::Games { bytes: inputs.iter().map(PgnInput::size).sum() }, monitor)
    }

    #[cfg_attr(
        not(feature = "parquet"),
        allow(dead_code, reason = "only a program with Parquet packs counts")
    )]
    pub(super) fn of_rows(monitor: &Monitor) -> Self {
        Self::of(Material::Rows, monitor)
    }

    fn of(material: Material, monitor: &Monitor) -> Self {
        let monitor = monitor.clone();
        let (stop, stopped) = crossbeam::channel::bounded::<()>(0);
        let show = move || match io::stderr().is_terminal() {
            true => draw_bar(material, &monitor, &stopped),
            false => print_lines(material, &monitor, &stopped),
        };
        let thread = Builder::new().spawn(show);
        let thread = thread.inspect_err(|error| log::warn!("no progress is shown: {error}")).ok();
        BuildProgress { stop: Some(stop), thread }
    }
}

impl Drop for BuildProgress {
    fn drop(&mut self) {
        // Closing the channel wakes the display thread.
        self.stop = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

type Stopped = crossbeam::channel::Receiver<()>;

fn is_over(stopped: &Stopped, wait: Duration) -> bool {
    !matches!(stopped.recv_timeout(wait), Err(crossbeam::channel::RecvTimeoutError::Timeout))
}

fn print_resumed(monitor: &Monitor, reported: &mut bool) {
    let games = monitor.resumed.load(Relaxed);
    if games > 0 && !*reported {
        *reported = true;
        errln!("going on after {} that were read before", counted(games, "game"));
    }
}

#[derive(Debug, Clone, Copy)]
enum Material {
    /// PGN games. `bytes` is their total size, if known.
    Games {
        bytes: Option<u64>,
    },
    Rows,
}

impl Material {
    fn total(self, monitor: &Monitor) -> Option<u64> {
        let total = match self {
            Material::Games { bytes } => bytes,
            Material::Rows => Some(monitor.all_rows.load(Relaxed)),
        };
        total.filter(|&total| total > 0)
    }

    fn done(self, monitor: &Monitor) -> u64 {
        match self {
            Material::Games { .. } => monitor.bytes.load(Relaxed),
            Material::Rows => monitor.rows.load(Relaxed),
        }
    }

    fn template(self) -> &'static str {
        match self {
            Material::Games { bytes: Some(_) } => {
                "{bar:30} {bytes}/{total_bytes} {binary_bytes_per_sec} eta {eta} {msg}"
            }
            Material::Games { bytes: None } => "{spinner} {bytes} {binary_bytes_per_sec} {msg}",
            Material::Rows => "{bar:30} {human_pos}/{human_len} rows eta {eta} {msg}",
        }
    }

    fn status(self, monitor: &Monitor, start: Instant) -> String {
        let parts = monitor.parts.load(Relaxed);
        if parts > 0 {
            return format!("writing the book, {}%", 100 * parts / Monitor::PARTS);
        }
        let per_second =
            |number: u64| grouped((number as f64 / start.elapsed().as_secs_f64().max(1e-3)) as u64);
        match self {
            Material::Games { .. } => {
                let games = monitor.games.load(Relaxed);
                let new = games - monitor.resumed.load(Relaxed).min(games);
                format!("{}, {} games/s", counted(games, "game"), per_second(new))
            }
            Material::Rows => {
                let rows = monitor.rows.load(Relaxed);
                format!("{}, {} rows/s", counted(rows, "row"), per_second(rows))
            }
        }
    }
}

fn draw_bar(material: Material, monitor: &Monitor, stopped: &Stopped) {
    let mut reported = false;
    let total = material.total(monitor);
    let bar = total.map_or_else(ProgressBar::new_spinner, ProgressBar::new);
    if let Ok(style) = ProgressStyle::with_template(material.template()) {
        bar.set_style(style);
    }
    let start = Instant::now();
    while !is_over(stopped, REFRESH) {
        bar.suspend(|| print_resumed(monitor, &mut reported));
        if let Some(total) = material.total(monitor) {
            bar.set_length(total);
        }
        bar.set_position(material.done(monitor));
        bar.set_message(material.status(monitor, start));
    }
    bar.finish_and_clear();
}

fn print_lines(material: Material, monitor: &Monitor, stopped: &Stopped) {
    let start = Instant::now();
    let mut reported = false;
    while !is_over(stopped, LINE_EVERY) {
        print_resumed(monitor, &mut reported);
        let share = material.total(monitor).map(|total| {
            let done = material.done(monitor) as f64 / total as f64;
            let left = start.elapsed().as_secs_f64() * (1.0 - done) / done.max(1e-6);
            format!("{:.0}%, {left:.0} s left, ", 100.0 * done)
        });
        errln!("{}{}", share.unwrap_or_default(), material.status(monitor, start));
    }
}
