//! Merges, filters and compares books.

use std::collections::BTreeSet;
use std::io::{self, Read, Seek, Write};
use std::iter::Peekable;
use std::ops::ControlFlow;

use super::regroup::{Repeated, cut_known, merge_known, repeated};
use crate::chess::notation;
use crate::chess::position::{Color, KeyMap, Move, Position};
use crate::games::book::format::counts::Counts;
use crate::games::book::format::entry::BookEntry;
use crate::games::book::format::manifest::{InputRecord, Manifest};
use crate::games::book::format::manifest::{MIN_GAMES, MIN_SCORE, SIDE};
use crate::games::book::format::pawn_filter::PawnSet;
use crate::games::book::format::writer::write_book;
use crate::games::book::lookup::Book;
use crate::support::words::counted;

/// Merges books and writes the result to an empty `output`. The counts of each book are multiplied
/// by its weight. Facets are kept if all books have facets and weight 1. If the books also have the
/// same depth and filters, a game that occurs in several of them is counted once.
///
/// # Errors
/// If the output cannot be written, or if the games of a book are damaged.
pub fn merge<W: Read + Write + Seek>(books: &[(Book, f64)], output: W) -> io::Result<W> {
    let pawns = pawns_of(books.iter().map(|(book, _)| book));
    let mut manifest = merged_manifest(books);
    if !keep_facets(books) {
        return write_book(output, Merged::new(books), &pawns, &manifest);
    }
    let plain: Vec<&Book> = books.iter().map(|(book, _)| book).collect();
    let again = if are_alike(books) { repeated(&plain, false)? } else { Repeated::none(&plain) };
    again.iter().for_each(|repeated| leave_out(&mut manifest, repeated));
    merge_known(&plain, &again, &pawns, &manifest, output)
}

fn pawns_of<'a>(books: impl Iterator<Item = &'a Book>) -> PawnSet {
    let mut pawns = PawnSet::new();
    books.for_each(|book| insert_pawns(book, &book.starts(), &|_| true, &mut pawns));
    pawns
}

fn keep_facets(books: &[(Book, f64)]) -> bool {
    books.iter().all(|(book, weight)| *weight == 1.0 && book.image.facets().is_some())
}

/// Returns true if all books were built with the same maximum depth and filters, so that a game
/// contributes the same counts to each.
fn are_alike(books: &[(Book, f64)]) -> bool {
    let how = |book: &Book| {
        let manifest = book.manifest().unwrap_or_default();
        (manifest.max_ply, manifest.filters)
    };
    books.windows(2).all(|pair| how(&pair[0].0) == how(&pair[1].0))
}

fn leave_out(manifest: &mut Manifest, repeated: &Repeated) {
    manifest.games.subtract(&repeated.totals);
    manifest.skipped.duplicates += repeated.totals.total();
    for (name, games) in &repeated.by_file {
        let mut left = *games;
        for input in manifest.inputs.iter_mut().rev().filter(|input| input.name == *name) {
            let taken = left.min(input.games);
            input.games -= taken;
            left -= taken;
        }
    }
}

/// What several books have in common.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shared {
    /// The inputs whose text is also an input of an earlier book in the list.
    pub inputs: Vec<InputRecord>,
    /// The number of games that are already in an earlier book in the list. `None` if [`merge`]
    /// would not check for duplicates. It checks only if all books have facets, weight 1, and the
    /// same depth and filters.
    pub games: Option<u64>,
}

/// Finds the inputs and counts the games that occur in more than one of the books, so that they can
/// be reported before merging.
///
/// # Errors
/// If the games of a book are damaged.
pub fn shared(books: &[(Book, f64)]) -> io::Result<Shared> {
    let (mut known, mut inputs) = (Vec::<InputRecord>::new(), Vec::new());
    for (book, _) in books {
        let own = book.manifest().unwrap_or_default().inputs;
        let is_known = |input: &&InputRecord| known.iter().any(|other| other.is_same_text(input));
        inputs.extend(own.iter().filter(is_known).cloned());
        known.extend(own);
    }
    let plain: Vec<&Book> = books.iter().map(|(book, _)| book).collect();
    let games = match keep_facets(books) && are_alike(books) {
        true => Some(repeated(&plain, false)?.iter().map(|games| games.totals.total()).sum()),
        false => None,
    };
    Ok(Shared { inputs, games })
}

/// Adds new games to a book that was built from games, and writes the result to an empty `output`.
///
/// `more` contains only the new games, and must be built with the same options as `book`. The
/// result is the same as building a single book from all games, except that moves added by an
/// analysis are kept and values are dropped. If both books have facets, a game that occurs in both
/// is counted once. Also returns the number of new games that were already in `book`.
///
/// # Errors
/// If the output cannot be written, or if the games of a book are damaged.
pub fn add<W: Read + Write + Seek>(book: &Book, more: &Book, output: W) -> io::Result<(W, u64)> {
    let pawns = pawns_of([book, more].into_iter());
    let mut manifest = book.manifest().map_err(io::Error::other)?;
    let mut added = more.manifest().map_err(io::Error::other)?;
    let has_facets = book.image.facets().is_some() && more.image.facets().is_some();
    let again = if has_facets { repeated(&[book, more], true)? } else { Vec::new() };
    again.iter().for_each(|repeated| leave_out(&mut added, repeated));
    manifest.made_by = added.made_by;
    manifest.games.add(&added.games);
    manifest.skipped.add(&added.skipped);
    manifest.broken += added.broken;
    manifest.inputs.append(&mut added.inputs);
    manifest.starts.append(&mut added.starts);
    manifest.inputs.sort();
    let left_out = again.iter().map(|repeated| repeated.totals.total()).sum();
    let output = if has_facets {
        merge_known(&[book, more], &again, &pawns, &manifest, output)?
    } else {
        let sources: [BoxedEntries<'_>; 2] = [Box::new(book.entries()), Box::new(more.entries())];
        write_book(output, Merged::of(sources.map(|source| (source, 1.0))), &pawns, &manifest)?
    };
    Ok((output, left_out))
}

/// Inserts into `pawns` the pawn structures of all positions in `book` for which `stays` returns
/// true. If some of these positions cannot be reached from `starts`, their structures are unknown,
/// so the book's entire pawn filter is inserted.
pub(crate) fn insert_pawns(
    book: &Book,
    starts: &[Position],
    stays: &impl Fn(&BookEntry) -> bool,
    pawns: &mut PawnSet,
) {
    let mut found = 0;
    book.visit(starts, false, |position, entry| {
        if stays(entry) {
            pawns.insert(position.pawn_key());
            found += 1;
        }
        ControlFlow::Continue(())
    });
    if found < book.entries().filter(stays).count() {
        let (filter, bits) = book.image.pawn_filter();
        pawns.insert_filter(filter, bits);
    }
}

pub(crate) type BoxedEntries<'a> = Box<dyn Iterator<Item = BookEntry> + 'a>;

type WeightedEntries<'a> = (Peekable<BoxedEntries<'a>>, f64);

pub(crate) struct Merged<'a> {
    sources: Vec<WeightedEntries<'a>>,
}

impl<'a> Merged<'a> {
    fn new(books: &'a [(Book, f64)]) -> Self {
        let sources = books.iter().map(|(book, weight)| {
            let entries: BoxedEntries<'_> = Box::new(book.entries());
            (entries, *weight)
        });
        Self::of(sources)
    }

    pub(crate) fn of(sources: impl IntoIterator<Item = (BoxedEntries<'a>, f64)>) -> Self {
        let sources = sources.into_iter().map(|(entries, weight)| (entries.peekable(), weight));
        Merged { sources: sources.collect() }
    }
}

impl Iterator for Merged<'_> {
    type Item = BookEntry;

    fn next(&mut self) -> Option<BookEntry> {
        let keys = self.sources.iter_mut().filter_map(|(entries, _)| entries.peek());
        let key = keys.map(|entry| entry.key).min()?;
        let mut merged = BookEntry { key, ..BookEntry::default() };
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
    let parts = books.iter().map(|(book, weight)| {
        let manifest = book.manifest().unwrap_or_default();
        let name = short_name(book);
        let name = if *weight == 1.0 { name } else { format!("{name} (weight {weight})") };
        (name, manifest, *weight)
    });
    let mut parts: Vec<_> = parts.collect();
    parts.sort_by(|a, b| a.0.cmp(&b.0));
    let names: Vec<&str> = parts.iter().map(|(name, ..)| name.as_str()).collect();
    let mut merged = Manifest {
        made_from: format!("{} books: {}", books.len(), names.join(", ")),
        weights: parts.iter().all(|(_, manifest, _)| manifest.weights),
        ..Manifest::of_this_program()
    };
    let same_filters = parts.iter().all(|(_, part, _)| part.filters == parts[0].1.filters);
    for (name, part, weight) in &parts {
        merged.max_ply = merged.max_ply.max(part.max_ply);
        merged.interrupted |= part.interrupted;
        merged.games.add(&part.games.scaled(*weight));
        merged.skipped.add(&part.skipped);
        merged.broken += part.broken;
        merged.inputs.extend_from_slice(&part.inputs);
        merged.starts.extend(part.starts.iter().cloned());
        if !same_filters {
            let of = |filter| format!("{name}: {filter}");
            merged.filters.extend(part.filters.iter().map(of));
        }
    }
    if let (true, Some((_, part, _))) = (same_filters, parts.first()) {
        merged.filters.clone_from(&part.filters);
    }
    merged.inputs.sort();
    merged
}

fn short_name(book: &Book) -> String {
    book.name().rsplit(std::path::is_separator).next().unwrap_or_default().to_owned()
}

/// The criteria that decide which part of a book is kept.
#[derive(Debug, Clone, PartialEq)]
pub struct Cut {
    /// Positions and moves with fewer games than this are removed.
    pub min_games: u64,
    /// Minimum score of the moves to keep, in percent, from the point of view of the side that
    /// plays the move.
    pub min_score: f64,
    /// The side whose moves are kept, or `None` to keep the moves of both sides.
    pub side: Option<Color>,
    /// If set, keeps only the positions that can be reached from `start` by moves in the book.
    pub start: Option<Position>,
    /// The number of plies played before `start`.
    pub plies_before: u32,
    /// The maximum depth in plies.
    pub max_ply: u32,
    /// Positions to remove, along with all moves leading to them.
    pub avoid: Vec<Position>,
}

impl Default for Cut {
    /// Keeps everything.
    fn default() -> Self {
        Cut {
            min_games: 0,
            min_score: 0.0,
            side: None,
            start: None,
            plies_before: 0,
            max_ply: u32::MAX,
            avoid: Vec::new(),
        }
    }
}

impl Cut {
    fn needs_positions(&self) -> bool {
        self.min_score > 0.0
            || self.side.is_some()
            || self.start.is_some()
            || self.max_ply < u32::MAX
            || !self.avoid.is_empty()
    }

    fn describe(&self) -> Vec<String> {
        let start = self.start.map(|start| format!("what comes after {}", start.fen()));
        [
            (self.min_games > 1).then(|| format!("{MIN_GAMES} {}", self.min_games)),
            (self.min_score > 0.0).then(|| format!("{MIN_SCORE} {}", self.min_score)),
            self.side.map(|side| format!("{SIDE} {}", notation::color(side).to_lowercase())),
            start,
            (self.max_ply < u32::MAX).then(|| format!("within {} plies", self.max_ply)),
            (!self.avoid.is_empty())
                .then(|| format!("without {}", counted(self.avoid.len() as u64, "position"))),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    fn apply(&self, entry: &mut BookEntry, side: Option<Color>, ply: u32) {
        entry.moves.retain(|(_, played)| {
            played.games() >= self.min_games
                && ply < self.max_ply
                && side.is_none_or(|side| played.score(side) * 100.0 >= self.min_score)
                && (self.side.is_none() || self.side == side)
        });
    }
}

/// Writes the part of a book selected by `cut`, including any facets, to an empty `output`.
///
/// # Errors
/// If the output cannot be written.
pub fn cut<W: Read + Write + Seek>(book: &Book, cut: &Cut, output: W) -> io::Result<W> {
    let mut manifest = book.manifest().unwrap_or_default();
    manifest.made_from = format!("a cut of {}", short_name(book));
    manifest.filters.extend(cut.describe());
    let depth = cut.max_ply.saturating_add(cut.plies_before);
    if cut.max_ply < u32::MAX && (manifest.max_ply == 0 || depth < manifest.max_ply) {
        manifest.max_ply = depth;
    }
    // For each position that can be reached within the book: the side to move and the distance from
    // the nearest of `starts` in plies.
    let starts = cut.start.map_or_else(|| book.starts(), |start| vec![start]);
    if let Some(start) = cut.start.filter(|start| start.key() != Position::start().key()) {
        manifest.starts = BTreeSet::from([start.fen()]);
    }
    let mut known: KeyMap<(Color, u32)> = KeyMap::default();
    let avoid: KeyMap<()> = cut.avoid.iter().map(|position| (position.key(), ())).collect();
    let mut avoided: KeyMap<Vec<Move>> = KeyMap::default();
    if cut.needs_positions() {
        let walk = book.walk_all(&starts, cut.max_ply);
        for at in walk {
            known.insert(at.entry.key, (at.position.side_to_move(), at.ply));
            if avoid.is_empty() {
                continue;
            }
            let leads = |mv: &Move| avoid.contains_key(&at.position.play(*mv).key());
            let moves: Vec<Move> =
                at.entry.moves.iter().map(|(mv, _)| *mv).filter(|mv| leads(mv)).collect();
            if !moves.is_empty() {
                avoided.insert(at.entry.key, moves);
            }
        }
    }
    let stays = |entry: &BookEntry| {
        entry.reached.games() >= cut.min_games
            && !avoid.contains_key(&entry.key)
            && (!cut.needs_positions() || known.contains_key(&entry.key))
    };
    let mut pawns = PawnSet::new();
    insert_pawns(book, &starts, &stays, &mut pawns);
    let trim = |mut entry: BookEntry| {
        if !stays(&entry) {
            return None;
        }
        let place = known.get(&entry.key);
        let ply = place.map_or(0, |&(_, ply)| ply);
        cut.apply(&mut entry, place.map(|&(side, _)| side), ply);
        if let Some(moves) = avoided.get(&entry.key) {
            entry.moves.retain(|(mv, _)| !moves.contains(mv));
        }
        Some(entry)
    };
    match book.image.facets() {
        Some(_) => cut_known(book, trim, &pawns, &manifest, output),
        None => write_book(output, book.entries().filter_map(trim), &pawns, &manifest),
    }
}

/// A position whose counts or moves differ between two books.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// The position's key.
    pub key: u64,
    /// The results of the position in the first book, or `None` if that book does not contain it.
    pub left: Option<Counts>,
    /// The results of the position in the second book, or `None` if that book does not contain it.
    pub right: Option<Counts>,
}

/// Iterates over the positions whose counts or moves differ between two books, in ascending order
/// of their keys.
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
