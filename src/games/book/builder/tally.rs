//! Tallies the games of a build.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};

use super::options::FaultListener;
use super::{Admission, BuildOptions};
use crate::chess::position::Position;
use crate::games::book::format::manifest::checksum_text;
use crate::games::book::format::manifest::{GameTotals, InputRecord, Manifest, Skipped};
use crate::games::pgn::{BrokenInput, Chunk, Fault, GameEnd, GameStatus, Language, PgnInput};
use crate::support::files::describe;
use crate::support::words::{clip, counted, visible};

/// Maximum number of chunks by which the other threads may get ahead of a slow chunk. This limits
/// the memory for their tallies.
const LEAD: u64 = 64;

/// The tally of a build's games.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BuildTally {
    /// Games that were counted.
    pub games: GameTotals,
    /// Games that were not counted.
    pub skipped: Skipped,
    /// Games that were not read to the end because of an error.
    pub broken: u64,
    /// Games whose `Result` tag contradicts the result at the end of the moves. The tag takes
    /// precedence.
    #[serde(default)]
    pub contradictions: u64,
    /// The first [`BuildTally::KEPT_FAULTS`] errors, in input order.
    pub faults: Vec<String>,
    /// A message for each input that could not be read completely, with its name, the last line
    /// read, and the reason.
    pub broken_inputs: Vec<String>,
    /// The inputs read so far, each with its size and the number of games counted.
    pub inputs: Vec<InputRecord>,
    /// Bytes of PGN text.
    pub bytes: u64,
    /// Inputs with non-English piece letters, each with its language.
    pub foreign: Vec<(String, Language)>,
    /// Games with variations whose variations were not counted.
    #[serde(default)]
    pub main_lines: u64,
    /// See [`Manifest::starts`].
    #[serde(default)]
    pub starts: BTreeSet<String>,
}

/// An error in a game.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GameFault {
    /// The name of the input.
    pub input: String,
    /// The number of the game within the input, counting from 1.
    pub game: u64,
    /// The error, with its line number.
    pub fault: Fault,
}

impl std::fmt::Display for GameFault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: game {}, {}", visible(&self.input), self.game, self.fault)
    }
}

#[derive(Debug)]
pub(super) struct ChunkTally {
    chunk: Chunk,
    bytes: u64,
    pub language: Language,
    /// The number of games found, whether counted or not.
    pub found: u64,
    games: GameTotals,
    skipped: Skipped,
    broken: u64,
    contradictions: u64,
    main_lines: u64,
    starts: BTreeSet<String>,
    faults: Vec<(u64, Fault)>,
    max_faults: usize,
}

impl ChunkTally {
    pub(super) fn new(chunk: Chunk, bytes: usize, max_faults: usize) -> Self {
        ChunkTally {
            chunk,
            bytes: bytes as u64,
            language: Language::ENGLISH,
            found: 0,
            games: GameTotals::default(),
            skipped: Skipped::default(),
            broken: 0,
            contradictions: 0,
            main_lines: 0,
            starts: BTreeSet::new(),
            faults: Vec::new(),
            max_faults,
        }
    }

    pub(super) fn note(&mut self, end: GameEnd, verdict: Admission) {
        self.found += u64::from(end.status != GameStatus::Text);
        let skipped = &mut self.skipped;
        match end.status {
            GameStatus::Variant => skipped.variants += 1,
            GameStatus::Text => skipped.untagged += 1,
            GameStatus::Declined => skipped.filtered += 1,
            GameStatus::Broken(ref fault) if fault.fen.is_none() && end.plies == 0 => {
                skipped.empty += 1;
            }
            GameStatus::Read | GameStatus::Broken(_) => match verdict {
                Admission::Empty => skipped.empty += 1,
                Admission::Undecided => skipped.undecided += 1,
                Admission::Duplicate => skipped.duplicates += 1,
                Admission::Counted => self.games.count(end.result),
            },
        }
        self.contradictions += u64::from(end.contradiction.is_some());
        let fault = match end.status {
            GameStatus::Broken(fault) => {
                self.broken += 1;
                Some(fault)
            }
            _ => end.contradiction,
        };
        if let Some(fault) = fault
            && self.faults.len() < self.max_faults
        {
            self.faults.push((self.found, *fault));
        }
    }

    /// Notes where the last game began, unless at the standard start position, and whether
    /// variations of it were not counted.
    pub(super) fn note_lines(&mut self, start: Option<&Position>, is_main_line: bool) {
        self.starts.extend(start.map(Position::fen));
        self.main_lines += u64::from(is_main_line);
    }

    pub(super) fn is_broken(&self) -> bool {
        self.broken > 0
    }
}

/// Adds up the tallies of all chunks. Tallies are added in input order, even if threads finish out
/// of order.
pub(super) struct Tallies<'a> {
    inputs: &'a [PgnInput],
    listener: Option<&'a FaultListener>,
    sum: Mutex<OrderedTally>,
    moved: Condvar,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct TallySoFar {
    pub(super) total: BuildTally,
    /// The input index of each element of `total.inputs`.
    recorded: Vec<usize>,
    /// The number of games in the current input that precede the next chunk to be added.
    games_before: u64,
}

impl TallySoFar {
    pub(super) fn note_checksums(&mut self, checksums: &[(usize, u64)]) {
        for &(input, checksum) in checksums {
            let at = self.recorded.iter().position(|&recorded| recorded == input);
            if let Some(record) = at.and_then(|at| self.total.inputs.get_mut(at)) {
                record.checksum = checksum_text(checksum);
            }
        }
    }

    pub(super) fn note_broken(&mut self, broken: &[BrokenInput], inputs: &[PgnInput]) {
        let describe = |broken: &BrokenInput| {
            let name = inputs[broken.input].name();
            let reason = describe(&broken.error);
            format!("cannot read {name} beyond line {}: {reason}", broken.line)
        };
        self.total.broken_inputs.extend(broken.iter().map(describe));
    }
}

#[derive(Default)]
struct OrderedTally {
    read: TallySoFar,
    due: u64,
    early: BTreeMap<u64, ChunkTally>,
    /// Set after a thread has failed, so that no other thread waits for its chunk.
    abandoned: bool,
}

impl<'a> Tallies<'a> {
    pub(super) fn new(
        inputs: &'a [PgnInput],
        listener: Option<&'a FaultListener>,
        read: TallySoFar,
    ) -> Self {
        let sum = Mutex::new(OrderedTally { read, ..OrderedTally::default() });
        Tallies { inputs, listener, sum, moved: Condvar::new() }
    }

    pub(super) fn max_faults(&self) -> usize {
        if self.listener.is_some() { usize::MAX } else { BuildTally::KEPT_FAULTS }
    }

    fn lock(&self) -> MutexGuard<'_, OrderedTally> {
        self.sum.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn turn(&self, number: u64) -> ChunkTurn<'_, 'a> {
        let too_early = |sum: &mut OrderedTally| !sum.abandoned && number >= sum.due + LEAD;
        let waited = self.moved.wait_while(self.lock(), too_early);
        drop(waited.unwrap_or_else(PoisonError::into_inner));
        ChunkTurn { tallies: self, number, is_over: false }
    }

    /// Stores the tally of a chunk. Then adds tallies to the total in the order of the input, up to
    /// the first one that is missing.
    fn add(&self, number: u64, tally: ChunkTally) {
        let mut sum = self.lock();
        let sum = &mut *sum;
        sum.early.insert(number, tally);
        while let Some(tally) = sum.early.remove(&sum.due) {
            sum.due += 1;
            self.absorb(sum, tally);
        }
        self.moved.notify_all();
    }

    fn absorb(&self, sum: &mut OrderedTally, tally: ChunkTally) {
        let TallySoFar { total, recorded, games_before } = &mut sum.read;
        let input = &self.inputs[tally.chunk.input];
        if tally.chunk.number == 0 {
            *games_before = 0;
            recorded.push(tally.chunk.input);
            total.inputs.push(InputRecord { name: input.short_name(), ..InputRecord::default() });
        }
        if let Some(record) = total.inputs.last_mut() {
            record.bytes += tally.bytes;
            record.games += tally.games.total();
        }
        total.bytes += tally.bytes;
        total.games.add(&tally.games);
        total.skipped.add(&tally.skipped);
        total.broken += tally.broken;
        total.contradictions += tally.contradictions;
        total.main_lines += tally.main_lines;
        total.starts.extend(tally.starts);
        let foreign = (tally.language != Language::ENGLISH).then(|| (input.name(), tally.language));
        if foreign.is_some() && total.foreign.last() != foreign.as_ref() {
            total.foreign.extend(foreign);
        }
        for (game, fault) in tally.faults {
            let fault = GameFault { input: input.name(), game: *games_before + game, fault };
            let fault = fault.to_string();
            self.listener.iter().for_each(|listener| listener.on_fault(&fault));
            if total.faults.len() < BuildTally::KEPT_FAULTS {
                total.faults.push(fault);
            }
        }
        *games_before += tally.found;
    }

    pub(super) fn finish(self) -> TallySoFar {
        self.sum.into_inner().unwrap_or_else(PoisonError::into_inner).read
    }
}

pub(super) struct ChunkTurn<'t, 'a> {
    tallies: &'t Tallies<'a>,
    number: u64,
    is_over: bool,
}

impl ChunkTurn<'_, '_> {
    pub(super) fn submit(mut self, tally: ChunkTally) {
        self.is_over = true;
        self.tallies.add(self.number, tally);
    }
}

/// If the thread failed before it submitted the tally of its chunk, marks the tallies as abandoned,
/// so that other threads do not wait for this chunk.
impl Drop for ChunkTurn<'_, '_> {
    fn drop(&mut self) {
        if !self.is_over {
            self.tallies.lock().abandoned = true;
            self.tallies.moved.notify_all();
        }
    }
}

impl BuildTally {
    /// The number of errors kept in [`BuildTally::faults`]. A [`FaultListener`] receives all
    /// errors.
    pub const KEPT_FAULTS: usize = 10;

    /// Logs a warning if the variations of games were not counted although there are games without
    /// a result. Such an input may contain a repertoire, of which most moves are then missing.
    pub(super) fn warn_about_variations(&self) {
        if self.main_lines == 0 || self.games.undecided + self.skipped.undecided == 0 {
            return;
        }
        let names: Vec<_> = self.inputs.iter().map(|input| visible(&input.name)).collect();
        log::warn!(
            "{}: the variations of {} are not counted; `tabia repertoire build` makes a book that \
             contains every variation",
            clip(&names.join(", ")),
            counted(self.main_lines, "game"),
        );
    }

    pub(super) fn manifest(&self, options: &BuildOptions, interrupted: bool) -> Manifest {
        let mut inputs = self.inputs.clone();
        inputs.sort();
        Manifest {
            made_from: "games".to_owned(),
            max_ply: options.max_ply,
            games: self.games,
            skipped: self.skipped,
            broken: self.broken,
            filters: options.describe(),
            inputs,
            interrupted,
            starts: self.starts.clone(),
            ..Manifest::of_this_program()
        }
    }
}
