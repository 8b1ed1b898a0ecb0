//! Books made of books: merged, cut down, compared.

use std::io::{self, Read, Seek, Write};
use std::iter::Peekable;

use super::pawn_filter::PawnSet;
use super::writer::write_book;
use super::{Book, Counts, Entry, GameTotals, InputRecord, Manifest};
use crate::position::{Color, KeyMap, Position};

/// Merges books into an empty `output`. The counts of each are multiplied by its weight first.
///
/// # Errors
/// Those of the output.
pub fn merge<W: Read + Write + Seek>(books: &[(Book, f64)], output: W) -> io::Result<W> {
    let mut pawns = PawnSet::new();
    for (book, _) in books {
        let (filter, bits) = book.image.pawn_filter();
        pawns.insert_filter(filter, bits);
    }
    write_book(output, Merged::new(books), &pawns, &merged_manifest(books))
}

/// The entries of one book, with its weight.
type Source<'a> = (Peekable<Box<dyn Iterator<Item = Entry> + 'a>>, f64);

/// The entries of several books in one stream, sorted by key.
struct Merged<'a> {
    sources: Vec<Source<'a>>,
}

impl<'a> Merged<'a> {
    fn new(books: &'a [(Book, f64)]) -> Self {
        let sources = books.iter().map(|(book, weight)| {
            let entries: Box<dyn Iterator<Item = Entry>> = Box::new(book.entries());
            (entries.peekable(), *weight)
        });
        Merged { sources: sources.collect() }
    }
}

impl Iterator for Merged<'_> {
    type Item = Entry;

    fn next(&mut self) -> Option<Entry> {
        let keys = self.sources.iter_mut().filter_map(|(entries, _)| entries.peek());
        let key = keys.map(|entry| entry.key).min()?;
        let mut merged = Entry { key, ..Entry::default() };
        for (entries, weight) in &mut self.sources {
            if let Some(entry) = entries.next_if(|entry| entry.key == key) {
                merged.reached += entry.reached.scaled(*weight);
                let moves = entry.moves.into_iter();
                merged.moves.extend(moves.map(|(mv, played)| (mv, played.scaled(*weight))));
            }
        }
        merged.join_moves();
        Some(merged)
    }
}

fn merged_manifest(books: &[(Book, f64)]) -> Manifest {
    let mut games = GameTotals::default();
    let (mut max_ply, mut interrupted) = (0, false);
    let mut inputs = Vec::new();
    for (book, weight) in books {
        let manifest = book.manifest().unwrap_or_default();
        max_ply = max_ply.max(manifest.max_ply);
        interrupted |= manifest.interrupted;
        games.add(&manifest.games);
        let name = book.name().rsplit('/').next().unwrap_or_default();
        inputs.push(InputRecord {
            name: format!("{name} (weight {weight})"),
            bytes: book.bytes().len() as u64,
            games: manifest.games.total(),
        });
    }
    inputs.sort();
    let made_from = format!("{} books", books.len());
    Manifest { made_from, max_ply, games, inputs, interrupted, ..Manifest::of_this_program() }
}

/// What stays of a book.
#[derive(Debug, Clone, PartialEq)]
pub struct Cut {
    /// Positions and moves with fewer games go.
    pub min_games: u64,
    /// Moves with which their side scored less, in percent, go.
    pub min_score: f64,
    /// Only the moves of this side stay.
    pub side: Option<Color>,
    /// Only what the moves of the book lead to from here stays…
    pub start: Option<Position>,
    /// …within so many plies.
    pub max_ply: u32,
}

impl Cut {
    /// Whether the position itself, not its key alone, must be known.
    fn needs_positions(&self) -> bool {
        self.min_score > 0.0
            || self.side.is_some()
            || self.start.is_some()
            || self.max_ply < u32::MAX
    }

    /// Cuts an entry down; tells whether it stays.
    fn apply(&self, entry: &mut Entry, side: Option<Color>, ply: u32) -> bool {
        entry.moves.retain(|(_, played)| {
            played.games() >= self.min_games
                && ply < self.max_ply
                && side.is_none_or(|side| played.score(side) * 100.0 >= self.min_score)
                && (self.side.is_none() || self.side == side)
        });
        entry.reached.games() >= self.min_games
    }
}

/// Writes what stays of a book to an empty `output`.
///
/// # Errors
/// Those of the output.
pub fn cut<W: Read + Write + Seek>(book: &Book, cut: &Cut, output: W) -> io::Result<W> {
    let mut pawns = PawnSet::new();
    let (filter, bits) = book.image.pawn_filter();
    pawns.insert_filter(filter, bits);
    let made_from = format!("a cut of {}", book.name().rsplit('/').next().unwrap_or_default());
    let manifest = Manifest { made_from, ..book.manifest().unwrap_or_default() };
    // Who is to move where, and how deep, as far as the book's own moves tell.
    let mut known: KeyMap<(Color, u32)> = KeyMap::default();
    if cut.needs_positions() {
        let start = cut.start.unwrap_or_else(Position::start);
        let walk = book.walk(&start, cut.max_ply);
        known.extend(walk.map(|at| (at.entry.key, (at.position.side_to_move(), at.ply))));
    }
    let entries = book.entries().filter_map(|mut entry| {
        let place = known.get(&entry.key);
        if place.is_none() && cut.needs_positions() {
            return None;
        }
        let ply = place.map_or(0, |&(_, ply)| ply);
        cut.apply(&mut entry, place.map(|&(side, _)| side), ply).then_some(entry)
    });
    write_book(output, entries, &pawns, &manifest)
}

/// How two books differ in one position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// The position's key.
    pub key: u64,
    /// The games of the first book, if it has the position.
    pub left: Option<Counts>,
    /// The games of the second book, if it has the position.
    pub right: Option<Counts>,
}

/// The positions in which two books differ, in counts or moves, by ascending key.
pub fn differences(left: &Book, right: &Book) -> impl Iterator<Item = Difference> {
    let (mut left, mut right) = (left.entries().peekable(), right.entries().peekable());
    std::iter::from_fn(move || {
        loop {
            let keys = [left.peek().map(|entry| entry.key), right.peek().map(|entry| entry.key)];
            let key = keys.into_iter().flatten().min()?;
            let (a, b) = (left.next_if(|e| e.key == key), right.next_if(|e| e.key == key));
            if a != b {
                let [left, right] = [a, b].map(|entry| entry.map(|entry| entry.reached));
                return Some(Difference { key, left, right });
            }
        }
    })
}
