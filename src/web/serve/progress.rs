//! The progress of opening the books.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::Serialize;

use crate::games::book::Monitor;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Stage {
    Waiting,
    Opening,
    Counting,
    Ready,
}

#[derive(Debug, Clone, Serialize)]
pub(crate) struct BookProgress {
    /// The file name of the book, without its folder.
    name: String,
    stage: Stage,
    /// The number of bytes of the game files read so far, and the total number of bytes to read.
    /// Absent for a book that does not need to be built.
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<[u64; 2]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    games: Option<u64>,
    /// The number of positions in the book, known once the book is open.
    #[serde(skip_serializing_if = "Option::is_none")]
    positions: Option<u64>,
}

#[derive(Debug)]
struct Row {
    name: String,
    stage: Stage,
    /// If the book is built from games, the monitor of the build and the total number of bytes to
    /// read.
    build: Option<(Monitor, u64)>,
    positions: Option<u64>,
}

#[derive(Debug)]
pub(crate) struct Progress {
    rows: Mutex<Vec<Row>>,
}

impl Progress {
    pub(crate) fn new(names: impl IntoIterator<Item = String>) -> Self {
        let row = |name| Row { name, stage: Stage::Waiting, build: None, positions: None };
        Progress { rows: Mutex::new(names.into_iter().map(row).collect()) }
    }

    fn rows(&self) -> MutexGuard<'_, Vec<Row>> {
        self.rows.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, number: usize, change: impl FnOnce(&mut Row)) {
        if let Some(row) = self.rows().get_mut(number) {
            change(row);
        }
    }

    pub(crate) fn opens(&self, number: usize) {
        self.change(number, |row| row.stage = Stage::Opening);
    }

    pub(crate) fn counts(&self, number: usize, monitor: Monitor, bytes: u64) {
        self.change(number, |row| {
            row.stage = Stage::Counting;
            row.build = Some((monitor, bytes));
        });
    }

    pub(crate) fn ready(&self, number: usize, positions: u64) {
        self.change(number, |row| {
            row.stage = Stage::Ready;
            row.positions = Some(positions);
        });
    }

    /// Stops reading games for books being built. These books then contain only the games read so
    /// far.
    pub(crate) fn stop(&self) {
        let rows = self.rows();
        rows.iter().filter_map(|row| row.build.as_ref()).for_each(|(monitor, _)| monitor.stop());
    }

    pub(crate) fn report(&self) -> Vec<BookProgress> {
        let report = |row: &Row| {
            let build = row.build.as_ref();
            BookProgress {
                name: row.name.clone(),
                stage: row.stage,
                bytes: build.map(|(monitor, all)| [monitor.bytes.load(Relaxed).min(*all), *all]),
                games: build.map(|(monitor, _)| monitor.games.load(Relaxed)),
                positions: row.positions,
            }
        };
        self.rows().iter().map(report).collect()
    }
}
