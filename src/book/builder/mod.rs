//! Games to a book.
//!
//! Every game gives a record for each position up to the maximum depth: key, move, result. The
//! records are sorted and grouped, which is three to four times as fast as counting into a hash
//! map, since nothing of it misses the cache.

mod counter;
mod records;

use std::io::{self, Cursor, Read};

use counter::GameCounter;
use records::group;

use super::filter_bits::PawnSet;
use super::writer::{BookWriter, Piece};
use super::{GameTotals, Manifest, Skipped};
use crate::pgn::{Fate, Fault, GameEnd, GameResult, Reader};

/// What a build takes in and how deep it goes.
#[derive(Debug, Clone, PartialEq)]
pub struct BuildOptions {
    /// Plies of each game that count.
    pub max_ply: u32,
    /// Games and lines without a result count, too.
    pub undecided: bool,
}

/// The depth of a book, in plies, if nobody says otherwise.
pub const DEFAULT_MAX_PLY: u32 = 40;

impl Default for BuildOptions {
    fn default() -> Self {
        BuildOptions { max_ply: DEFAULT_MAX_PLY, undecided: false }
    }
}

/// Builds a book in memory.
pub struct Builder {
    counter: GameCounter,
    pawns: PawnSet,
    tally: Tally,
}

/// What became of the games of a build.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tally {
    /// Games that counted.
    pub games: GameTotals,
    /// Games that did not.
    pub skipped: Skipped,
    /// Games that stopped at a fault.
    pub broken: u64,
    /// The faults, with the number of the game in its input, counted from 1.
    pub faults: Vec<(u64, Fault)>,
}

impl Tally {
    /// Takes down how one game, the `number`th, ended.
    fn note(&mut self, number: u64, end: GameEnd, options: &BuildOptions) {
        let skipped = &mut self.skipped;
        match end.fate {
            Fate::Variant => skipped.variants += 1,
            Fate::Untagged => skipped.untagged += 1,
            Fate::Declined => skipped.filtered += 1,
            Fate::Read | Fate::Broken(_) if end.plies == 0 => skipped.empty += 1,
            Fate::Read | Fate::Broken(_) => match end.result {
                GameResult::White => self.games.white += 1,
                GameResult::Draw => self.games.draws += 1,
                GameResult::Black => self.games.black += 1,
                GameResult::Undecided if options.undecided => self.games.undecided += 1,
                GameResult::Undecided => skipped.undecided += 1,
            },
        }
        if let Fate::Broken(fault) = end.fate {
            self.broken += 1;
            self.faults.push((number, *fault));
        }
    }
}

impl Builder {
    /// A book without games.
    pub fn new(options: BuildOptions) -> Self {
        Builder {
            counter: GameCounter::new(options),
            pawns: PawnSet::new(),
            tally: Tally::default(),
        }
    }

    /// Counts the games of a PGN text.
    ///
    /// # Errors
    /// If the input cannot be read on.
    pub fn add(&mut self, input: impl Read) -> io::Result<()> {
        let mut reader = Reader::new(input);
        let mut number = 0;
        while let Some(end) = reader.read_game(&mut self.counter.visitor(&self.pawns))? {
            number += 1;
            self.tally.note(number, end, self.counter.options());
        }
        Ok(())
    }

    /// What became of the games so far.
    pub fn tally(&self) -> &Tally {
        &self.tally
    }

    /// The bytes of the book.
    pub(super) fn into_image(self) -> io::Result<Vec<u8>> {
        let mut piece = Piece::default();
        group(&mut self.counter.into_records(), |entry| piece.push(entry));
        let mut writer = BookWriter::new(Cursor::new(Vec::new()))?;
        writer.append(&piece)?;
        let manifest = Manifest { games: self.tally.games, ..Manifest::default() };
        Ok(writer.finish(&self.pawns, &manifest)?.into_inner())
    }
}
