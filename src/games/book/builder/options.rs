//! What a build takes in, and what it may use.

use std::fmt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

use super::Checkpoints;
use super::filter::GameFilter;
use crate::chess::notation;
use crate::chess::position::Color;
use crate::games::book::format::entry::BookEntry;
use crate::games::book::format::manifest::{MIN_GAMES, MIN_SCORE};
use crate::games::pgn::Language;

/// The depth of a book, in plies, if nobody says otherwise.
pub const DEFAULT_MAX_PLY: u32 = 40;
/// The memory for a build, in bytes, if nobody says otherwise.
pub const DEFAULT_MEMORY: usize = 1 << 30;

/// What a build takes in, and what it may use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BuildOptions {
    /// Plies of each game that count.
    pub max_ply: u32,
    /// Games and lines without a result count, too.
    pub undecided: bool,
    /// The games that count.
    pub filter: GameFilter,
    /// A game counts once, however often it comes.
    pub unique: bool,
    /// Whose letters stand for the pieces; `None`: each file shows it.
    pub language: Option<Language>,
    /// Only the moves of this side go in.
    pub side: Option<Color>,
    /// Positions that fewer games reached, and moves that were played in fewer, are left out.
    pub min_games: u64,
    /// Moves with which the side that played them scored less, in percent, are left out.
    pub min_score: u32,
    /// Keep beside the counts which games they are, see [`crate::games::book::lookup::Book::explore`]. Partial counts
    /// are distinguished by what sets games apart instead.
    pub facets: bool,
    /// Stop at the first broken game.
    pub strict: bool,
    /// Threads that read games.
    pub threads: usize,
    /// Bytes of memory that the whole program may use.
    pub memory: usize,
    /// Where sorted runs go when the memory is used up.
    pub spill_folder: PathBuf,
    /// How a long build is kept from being lost, if it is.
    pub checkpoints: Option<Checkpoints>,
}

impl Default for BuildOptions {
    fn default() -> Self {
        BuildOptions {
            max_ply: DEFAULT_MAX_PLY,
            undecided: false,
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
    /// Leaves out the moves that too few games have or that scored too little; returns whether the
    /// position itself stays.
    pub(super) fn prune(&self, entry: &mut BookEntry, side: Color) -> bool {
        if self.min_games > 1 || self.min_score > 0 {
            let min_score = f64::from(self.min_score) / 100.0;
            entry.moves.retain(|(_, played)| {
                played.games() >= self.min_games && played.score(side) >= min_score
            });
        }
        entry.reached.games() >= self.min_games
    }

    /// The conditions for games, positions and moves in words, for the manifest.
    pub(crate) fn describe(&self) -> Vec<String> {
        let mut words = self.filter.describe();
        if self.undecided {
            words.push("undecided".to_owned());
        }
        if self.unique {
            words.push("unique".to_owned());
        }
        if let Some(side) = self.side {
            words.push(format!("side {}", notation::color(side).to_lowercase()));
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

/// Lets others watch a build, and stop it.
#[derive(Debug, Clone, Default)]
pub struct Monitor {
    /// Bytes of input read so far, compressed as they are.
    pub bytes: Arc<AtomicU64>,
    /// Games read so far.
    pub games: Arc<AtomicU64>,
    /// Those that were read before, by a build that was broken off.
    pub resumed: Arc<AtomicU64>,
    /// Rows of partial counts read so far.
    pub rows: Arc<AtomicU64>,
    /// How many there are.
    pub all_rows: Arc<AtomicU64>,
    /// Parts of the book written so far, of [`Monitor::PARTS`].
    pub parts: Arc<AtomicU64>,
    /// Is told of every fault.
    pub faults: Option<FaultListener>,
    stop: Arc<AtomicBool>,
}

/// Is told of every fault of a build in words, in the order of the inputs, while they are read.
#[derive(Clone)]
pub struct FaultListener(Arc<Mutex<Hear>>);

/// What a listener does with a fault.
type Hear = dyn FnMut(&str) + Send;

impl FaultListener {
    /// A listener that does this with a fault.
    pub fn new(on_fault: impl FnMut(&str) + Send + 'static) -> Self {
        FaultListener(Arc::new(Mutex::new(on_fault)))
    }

    /// A listener that tells another one and remembers, if there is that other.
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
    /// The parts in which a book is written.
    pub const PARTS: u64 = super::records::PARTITIONS as u64;

    /// Ends the reading of games; the book is made of those that were read. Partial counts are then
    /// neither written nor made a book of.
    pub fn stop(&self) {
        self.stop.store(true, Relaxed);
    }

    /// Whether [`Monitor::stop`] was called.
    pub fn is_stopped(&self) -> bool {
        self.stop.load(Relaxed)
    }
}
