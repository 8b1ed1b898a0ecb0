//! Options for building a book, and a monitor that reports progress.

use std::fmt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

use super::Checkpoints;
use super::filter::GameFilter;
use crate::chess::notation;
use crate::chess::position::Color;
use crate::games::book::format::entry::BookEntry;
use crate::games::book::format::manifest::{MIN_GAMES, MIN_SCORE, SIDE};
use crate::games::pgn::Language;

/// The default number of plies counted per game.
pub const DEFAULT_MAX_PLY: u32 = 40;
/// The default memory limit of a build, in bytes.
pub const DEFAULT_MEMORY: usize = 1 << 30;

/// Options for building a book.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BuildOptions {
    /// Maximum number of plies counted per game.
    pub max_ply: u32,
    /// Whether games and lines without a result are also counted.
    pub undecided: bool,
    /// Whether the moves in variations are also counted. A game then counts once for each distinct
    /// position in its tree, and once for each distinct move in that position. A null move and the
    /// moves after it are not counted.
    pub variations: bool,
    /// The filter for games.
    pub filter: GameFilter,
    /// Whether duplicate games are counted only once.
    pub unique: bool,
    /// The language of the piece letters; `None` to detect it from the text.
    pub language: Option<Language>,
    /// The side whose moves are included; `None` for both.
    pub side: Option<Color>,
    /// Minimum number of games that a position or move needs to be included.
    pub min_games: u64,
    /// The minimum score of a move, in percent, from the point of view of the side that played it.
    pub min_score: u32,
    /// Whether to store the games behind each count (see
    /// [`crate::games::book::lookup::Book::explore`]). Partial counts do not store games; they are
    /// split by facets instead.
    pub facets: bool,
    /// Whether to stop at the first broken game.
    pub strict: bool,
    /// The number of threads that read games.
    pub threads: usize,
    /// The memory limit for the whole program, in bytes.
    pub memory: usize,
    /// The folder to which sorted runs are written when records exceed the memory limit.
    pub spill_folder: PathBuf,
    /// Checkpoint settings; `None` to write no checkpoints.
    pub checkpoints: Option<Checkpoints>,
}

impl Default for BuildOptions {
    fn default() -> Self {
        BuildOptions {
            max_ply: DEFAULT_MAX_PLY,
            undecided: false,
            variations: false,
            filter: GameFilter::default(),
            unique: false,
            language: None,
            side: None,
            min_games: 1,
            min_score: 0,
            facets: false,
            strict: false,
            threads: 1,
            memory: DEFAULT_MEMORY,
            spill_folder: std::env::temp_dir(),
            checkpoints: None,
        }
    }
}

impl BuildOptions {
    /// Removes the entry's moves that have too few games or too low a score. Returns true if the
    /// position itself should be kept in the book.
    pub(super) fn prune(&self, entry: &mut BookEntry, side: Color) -> bool {
        if self.min_games > 1 || self.min_score > 0 {
            let min_score = f64::from(self.min_score) / 100.0;
            entry.moves.retain(|(_, played)| {
                played.games() >= self.min_games && played.score(side) >= min_score
            });
        }
        entry.reached.games() >= self.min_games
    }

    pub(crate) fn describe(&self) -> Vec<String> {
        let mut words = self.filter.describe();
        if self.undecided {
            words.push("undecided".to_owned());
        }
        if self.variations {
            words.push("variations".to_owned());
        }
        if self.unique {
            words.push("unique".to_owned());
        }
        if let Some(side) = self.side {
            words.push(format!("{SIDE} {}", notation::color(side).to_lowercase()));
        }
        if self.min_games > 1 {
            words.push(format!("{MIN_GAMES} {}", self.min_games));
        }
        if self.min_score > 0 {
            words.push(format!("{MIN_SCORE} {}", self.min_score));
        }
        words
    }
}

/// Shows the progress of a build, and allows another thread to stop it.
#[derive(Debug, Clone, Default)]
pub struct Monitor {
    /// Bytes of input read so far, counted before decompression.
    pub bytes: Arc<AtomicU64>,
    /// Games read so far.
    pub games: Arc<AtomicU64>,
    /// Games read by an earlier, interrupted build.
    pub resumed: Arc<AtomicU64>,
    /// Rows of partial counts read so far.
    pub rows: Arc<AtomicU64>,
    /// The total number of rows of partial counts.
    pub all_rows: Arc<AtomicU64>,
    /// How much of the book has been written so far, as a number of parts out of
    /// [`Monitor::PARTS`].
    pub parts: Arc<AtomicU64>,
    /// If set, receives all errors found in the input.
    pub faults: Option<FaultListener>,
    stop: Arc<AtomicBool>,
}

type OnFault = dyn FnMut(&str) + Send;

/// Receives a description of every error in the input, in input order, while inputs are read.
#[derive(Clone)]
pub struct FaultListener(Arc<Mutex<OnFault>>);

impl FaultListener {
    /// Creates a listener that calls `on_fault` for each error.
    pub fn new(on_fault: impl FnMut(&str) + Send + 'static) -> Self {
        FaultListener(Arc::new(Mutex::new(on_fault)))
    }

    /// Returns a listener that forwards errors to `other`, along with a list in which it also
    /// stores them. Returns `None` if `other` is `None`.
    pub(super) fn recording(other: Option<&Self>) -> Option<(Self, Arc<Mutex<Vec<String>>>)> {
        let (other, received) = (other?.clone(), Arc::new(Mutex::new(Vec::new())));
        let memory = Arc::clone(&received);
        let listener = FaultListener::new(move |fault| {
            other.on_fault(fault);
            memory.lock().unwrap_or_else(PoisonError::into_inner).push(fault.to_owned());
        });
        Some((listener, received))
    }

    pub(super) fn on_fault(&self, fault: &str) {
        let mut on_fault = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        on_fault(fault);
    }
}

impl fmt::Debug for FaultListener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FaultListener")
    }
}

impl Monitor {
    /// The value of [`Monitor::parts`] once the whole book has been written.
    pub const PARTS: u64 = super::records::PARTITIONS as u64;

    /// Stops reading input. A book being built then contains only the games read so far; partial
    /// counts are discarded.
    pub fn stop(&self) {
        self.stop.store(true, Relaxed);
    }

    /// Whether [`Monitor::stop`] was called.
    pub fn is_stopped(&self) -> bool {
        self.stop.load(Relaxed)
    }
}
