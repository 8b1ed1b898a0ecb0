//! How far the opening of the books has come.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::Serialize;

use crate::games::book::Monitor;

/// What is done with a book.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Stage {
    /// Its turn has not come.
    Waiting,
    /// Its file is read.
    Opening,
    /// Its games are counted.
    Counting,
    /// It can be asked.
    Ready,
}

/// A book, as `/status` tells of it.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct BookProgress {
    /// Its name, without its folder.
    name: String,
    stage: Stage,
    /// Bytes of games that were read, and those that there are.
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<[u64; 2]>,
    /// Games that were counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    games: Option<u64>,
    /// Positions of a book that is ready.
    #[serde(skip_serializing_if = "Option::is_none")]
    positions: Option<u64>,
}

#[derive(Debug)]
struct Row {
    name: String,
    stage: Stage,
    /// A build, and the bytes that it has to read.
    build: Option<(Monitor, u64)>,
    positions: Option<u64>,
}

/// The progress of all books.
#[derive(Debug)]
pub(crate) struct Progress {
    rows: Mutex<Vec<Row>>,
}

impl Progress {
    /// Books whose turn has not come.
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

    /// The file of a book is being read.
    pub(crate) fn opens(&self, number: usize) {
        self.change(number, |row| row.stage = Stage::Opening);
    }

    /// The games of a book are being counted.
    pub(crate) fn counts(&self, number: usize, monitor: Monitor, bytes: u64) {
        self.change(number, |row| {
            row.stage = Stage::Counting;
            row.build = Some((monitor, bytes));
        });
    }

    /// A book is ready.
    pub(crate) fn ready(&self, number: usize, positions: u64) {
        self.change(number, |row| {
            row.stage = Stage::Ready;
            row.positions = Some(positions);
        });
    }

    /// Ends the counting of games; what was counted makes a book.
    pub(crate) fn stop(&self) {
        let rows = self.rows();
        rows.iter().filter_map(|row| row.build.as_ref()).for_each(|(monitor, _)| monitor.stop());
    }

    /// How far all books are.
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
