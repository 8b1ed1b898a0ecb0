//! What became of the games of a build.

use super::{BuildOptions, Verdict};
use crate::book::{GameTotals, InputRecord, Manifest, Skipped};
use crate::pgn::{BrokenInput, Chunk, Fate, Fault, GameEnd, GameResult, Input, in_words};

/// Faults beyond this number are counted, but not listed.
const MAX_FAULTS: usize = 10_000;

/// What became of the games of a build.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tally {
    /// Games that counted.
    pub games: GameTotals,
    /// Games that did not.
    pub skipped: Skipped,
    /// Games that stopped at a fault.
    pub broken: u64,
    /// The faults in the order of the inputs, the first ten thousand of them.
    pub faults: Vec<GameFault>,
    /// Inputs that could not be read to their end: name, line and reason.
    pub broken_inputs: Vec<String>,
    /// The inputs with the games that counted.
    pub inputs: Vec<InputRecord>,
    /// Bytes of PGN text.
    pub bytes: u64,
}

/// A fault of a game.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GameFault {
    /// The input.
    pub input: String,
    /// The number of the game in it, from 1.
    pub game: u64,
    /// What is wrong, and on which line.
    pub fault: Fault,
}

impl std::fmt::Display for GameFault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: game {}, {}", self.input, self.game, self.fault)
    }
}

/// What became of the games of one chunk.
#[derive(Debug)]
pub(super) struct ChunkTally {
    chunk: Chunk,
    bytes: u64,
    /// Games of any kind.
    pub found: u64,
    games: GameTotals,
    skipped: Skipped,
    broken: u64,
    faults: Vec<(u64, Fault)>,
}

impl ChunkTally {
    pub fn new(chunk: Chunk, bytes: usize) -> Self {
        ChunkTally {
            chunk,
            bytes: bytes as u64,
            found: 0,
            games: GameTotals::default(),
            skipped: Skipped::default(),
            broken: 0,
            faults: Vec::new(),
        }
    }

    /// Takes down how a game ended.
    pub fn note(&mut self, end: GameEnd, verdict: Verdict) {
        self.found += 1;
        let skipped = &mut self.skipped;
        match end.fate {
            Fate::Variant => skipped.variants += 1,
            Fate::Untagged => skipped.untagged += 1,
            Fate::Declined => skipped.filtered += 1,
            Fate::Broken(ref fault) if fault.fen.is_none() && end.plies == 0 => skipped.empty += 1,
            Fate::Read | Fate::Broken(_) => match verdict {
                Verdict::Empty => skipped.empty += 1,
                Verdict::Undecided => skipped.undecided += 1,
                Verdict::Duplicate => skipped.duplicates += 1,
                Verdict::Counted => match end.result {
                    GameResult::White => self.games.white += 1,
                    GameResult::Draw => self.games.draws += 1,
                    GameResult::Black => self.games.black += 1,
                    GameResult::Undecided => self.games.undecided += 1,
                },
            },
        }
        if let Fate::Broken(fault) = end.fate {
            self.broken += 1;
            self.faults.push((self.found, *fault));
        }
    }

    pub fn is_broken(&self) -> bool {
        self.broken > 0
    }
}

/// Adds the chunks up.
pub(super) fn add_up(
    inputs: &[Input],
    mut chunks: Vec<ChunkTally>,
    broken_inputs: &[BrokenInput],
) -> Tally {
    chunks.sort_by_key(|tally| (tally.chunk.input, tally.chunk.number));
    let mut total = Tally::default();
    let mut games_before = 0;
    for tally in chunks {
        if tally.chunk.number == 0 {
            games_before = 0;
            let name = inputs[tally.chunk.input].short_name();
            total.inputs.push(InputRecord { name, ..InputRecord::default() });
        }
        if let Some(record) = total.inputs.last_mut() {
            record.bytes += tally.bytes;
            record.games += tally.games.total();
        }
        total.bytes += tally.bytes;
        total.games.add(&tally.games);
        total.skipped.add(&tally.skipped);
        total.broken += tally.broken;
        let room = MAX_FAULTS - total.faults.len();
        total.faults.extend(tally.faults.into_iter().take(room).map(|(game, fault)| GameFault {
            input: inputs[tally.chunk.input].name(),
            game: games_before + game,
            fault,
        }));
        games_before += tally.found;
    }
    total.broken_inputs = broken_inputs
        .iter()
        .map(|broken| {
            let name = inputs[broken.input].name();
            format!(
                "{name}: cannot be read beyond line {}: {}",
                broken.line,
                in_words(&broken.error)
            )
        })
        .collect();
    total
}

impl Tally {
    /// The manifest of the book that the games make.
    pub(super) fn manifest(&self, options: &BuildOptions, interrupted: bool) -> Manifest {
        let mut inputs = self.inputs.clone();
        inputs.sort();
        Manifest {
            made_from: "games".to_owned(),
            max_ply: options.max_ply,
            games: self.games,
            skipped: self.skipped,
            broken: self.broken,
            filters: options.in_words(),
            inputs,
            interrupted,
            ..Manifest::of_this_program()
        }
    }
}
