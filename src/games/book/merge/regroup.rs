//! Writes new books that contain the games of existing books with facets, or some of these games.
//! Games are renumbered, and moves that the new book does not contain are dropped from the game
//! lists.

use std::collections::HashMap;
use std::io::{self, Read, Seek, Write};
use std::iter::Peekable;

use crate::chess::position::{KeyMap, Move};
use crate::games::book::builder::partition_of;
use crate::games::book::facets::{FileRecord, GameId};
use crate::games::book::facets::{GameLog, GameTags, Games, GamesTable};
use crate::games::book::format::counts::Counts;
use crate::games::book::format::entry::BookEntry;
use crate::games::book::format::lists::SideBySide;
use crate::games::book::format::manifest::{GameTotals, Manifest};
use crate::games::book::format::pawn_filter::PawnSet;
use crate::games::book::format::writer::{Block, BookWriter};
use crate::games::book::lookup::Book;
use crate::games::pgn::GameResult;

/// An entry and the games that reached its position. Each game has the move it played in this
/// position, or `None` if the entry does not contain that move.
pub(crate) struct KnownEntry {
    pub entry: BookEntry,
    games: Vec<(Option<Move>, u32)>,
}

fn counts_of(games: &Games<'_>, game: u32) -> Counts {
    games
        .game_tags(game)
        .map_or_else(Counts::default, |game_tags| Counts::of(game_tags.result(), 1))
}

struct Selected<'a> {
    games: &'a Games<'a>,
    is_in: &'a [bool],
}

impl Selected<'_> {
    /// Returns the entry restricted to the selected games, or `None` if none of them reached the
    /// position.
    fn of(&self, mut known: KnownEntry) -> Option<KnownEntry> {
        known.games.retain(|&(_, game)| self.is_in[game as usize]);
        let one = |game: u32| counts_of(self.games, game);
        let mut reached: Vec<u32> = known.games.iter().map(|&(_, game)| game).collect();
        reached.sort_unstable();
        reached.dedup();
        known.entry.reached = reached.into_iter().map(one).sum();
        let moves = &mut known.entry.moves;
        moves.iter_mut().for_each(|(_, played)| *played = Counts::default());
        for &(mv, game) in &known.games {
            let place = mv.and_then(|mv| moves.binary_search_by_key(&mv, |&(mv, _)| mv).ok());
            place.into_iter().for_each(|place| moves[place].1 += one(game));
        }
        moves.retain(|(_, played)| !played.is_empty());
        (!known.games.is_empty()).then_some(known)
    }
}

impl KnownEntry {
    fn listed(&self) -> Vec<(usize, u32)> {
        let moves = &self.entry.moves;
        let place = |mv: Option<Move>| {
            let at = moves.binary_search_by_key(&mv?, |&(mv, _)| mv).ok()?;
            Some(at + 1)
        };
        let listed = self.games.iter().map(|&(mv, game)| (place(mv).unwrap_or(0), game));
        let mut listed: Vec<(usize, u32)> = listed.collect();
        listed.sort_unstable();
        // Without this, a game would be listed twice if it reached the position twice and both of
        // the moves played there were pruned.
        listed.dedup();
        listed
    }
}

fn games_of(book: &Book) -> Option<Games<'_>> {
    Games::parse(book.image.facets()?.games)
}

/// Iterates over the entries in a book with facets, each with its list of games, in ascending key
/// order. Stops at damaged data.
fn known_entries(book: &Book) -> impl Iterator<Item = KnownEntry> + '_ {
    let all = games_of(book).map_or(0, |games| games.len());
    let lists = book.image.facets().map_or(&[][..], |raw| raw.lists);
    let mut both = SideBySide { entries: book.image.entries(), lists, games: all };
    std::iter::from_fn(move || {
        let mut entry = BookEntry::default();
        let lists = both.next(&mut entry)?;
        let mut games = Vec::new();
        let made = |list: usize| Some(entry.moves.get(list.checked_sub(1)?)?.0);
        lists.read(&entry, all, |list, game| games.push((made(list), game)))?;
        Some(KnownEntry { entry, games })
    })
}

fn write_known<W: Read + Write + Seek>(
    output: W,
    entries: impl Iterator<Item = KnownEntry>,
    games: &GamesTable,
    pawns: &PawnSet,
    manifest: &Manifest,
) -> io::Result<W> {
    let mut writer = BookWriter::new(output)?.with_facets(&games.bytes, &std::env::temp_dir());
    let mut entries = entries.peekable();
    while let Some(first) = entries.peek() {
        // Each partition is written as a separate block, and each block starts a new list index.
        // Building a book does the same, so the resulting bytes are identical.
        let partition = partition_of(first.entry.key);
        let mut block = Block::default();
        let is_here = |known: &KnownEntry| partition_of(known.entry.key) == partition;
        while let Some(known) = entries.next_if(is_here) {
            let listed = known.listed();
            block.push_with_games(&known.entry, listed.iter().copied(), games.games);
        }
        writer.append(&block)?;
    }
    writer.finish(pawns, manifest)
}

fn renumber(known: &mut KnownEntry, numbers: &[u32]) {
    known.games.iter_mut().for_each(|(_, game)| *game = numbers[*game as usize]);
}

/// The games of a book that also occur in an earlier book, as flags indexed by game number.
#[derive(Debug, Default)]
pub(crate) struct Repeated {
    games: Vec<bool>,
    pub totals: GameTotals,
    /// For each file, its name without the folder and the number of its games that are repeated.
    pub by_file: Vec<(String, u64)>,
}

impl Repeated {
    pub(crate) fn none(books: &[&Book]) -> Vec<Self> {
        let games = |book| games_of(book).map_or(0, |games| games.len() as usize);
        books
            .iter()
            .map(|book| Repeated { games: vec![false; games(book)], ..Self::default() })
            .collect()
    }

    /// Removes the repeated games from an entry and subtracts their results from its counts.
    /// Returns `false` if neither games nor moves remain.
    fn take_out(&self, games: &Games<'_>, known: &mut KnownEntry) -> bool {
        let is_repeated = |game: u32| self.games.get(game as usize).copied().unwrap_or(false);
        let mut gone: Vec<(Option<Move>, u32)> =
            known.games.extract_if(.., |&mut (_, game)| is_repeated(game)).collect();
        if gone.is_empty() {
            return true;
        }
        let counts = |game| counts_of(games, game);
        for &(mv, game) in &gone {
            let place = known.entry.moves.iter().position(|&(played, _)| Some(played) == mv);
            if let Some(place) = place {
                let played = &mut known.entry.moves[place].1;
                *played -= counts(game);
                // Remove only moves that have just lost their last game. Moves added by an analysis
                // never had games, and are kept.
                if played.is_empty() {
                    known.entry.moves.remove(place);
                }
            }
        }
        // `reached` counts a game only once, even if the game reached the position several times.
        gone.sort_unstable_by_key(|&(_, game)| game);
        gone.dedup_by_key(|&mut (_, game)| game);
        gone.iter().for_each(|&(_, game)| known.entry.reached -= counts(game));
        !known.entry.reached.is_empty() || !known.entry.moves.is_empty()
    }
}

/// For each of `books`, which must have facets, finds the games that also occur in an earlier book.
/// With `within`, also finds duplicates within the last book. Different games may share an id, so
/// either their PGN text or their players and results must match too.
pub(crate) fn repeated(books: &[&Book], within: bool) -> io::Result<Vec<Repeated>> {
    let mut known: HashMap<GameId, (usize, u32)> = HashMap::new();
    let all: Vec<Games<'_>> = books
        .iter()
        .map(|book| games_of(book).ok_or_else(|| damaged(book)))
        .collect::<io::Result<_>>()?;
    let is_same = |(book, game): (usize, u32), (other, twin): (usize, u32)| {
        let facts = |book: usize, game| {
            let (games, row) = (&all[book], all[book].row(game)?);
            Some((
                row.check,
                games.name(row.white),
                games.name(row.black),
                games.game_tags(game)?.result(),
            ))
        };
        let (one, two) = (facts(book, game), facts(other, twin));
        one.zip(two).is_some_and(|(one, two)| {
            one.0 == two.0 || (one.1, one.2, one.3) == (two.1, two.2, two.3)
        })
    };
    let mut found = Vec::new();
    for (number, (book, games)) in books.iter().zip(&all).enumerate() {
        let files = games.files().ok_or_else(|| damaged(book))?;
        let mut by_file = vec![0; files.len()];
        let mut here = Repeated { games: vec![false; games.len() as usize], ..Repeated::default() };
        for game in 0..games.len() {
            let Some(row) = games.row(game) else { continue };
            let own = (number, game);
            let first = *known.entry(row.id).or_insert(own);
            let is_elsewhere = first.0 < number || within && number + 1 == books.len();
            if first == own || !is_elsewhere || !is_same(first, own) {
                continue;
            }
            here.games[game as usize] = true;
            here.totals
                .count(games.game_tags(game).map_or(GameResult::Undecided, GameTags::result));
            if let Some(count) = by_file.get_mut(row.file as usize) {
                *count += 1;
            }
        }
        let name = |file: &FileRecord| {
            file.path.rsplit(std::path::is_separator).next().unwrap_or_default().to_owned()
        };
        here.by_file =
            files.iter().map(name).zip(by_file).filter(|&(_, games)| games > 0).collect();
        found.push(here);
    }
    Ok(found)
}

struct Joined<'a, I: Iterator<Item = KnownEntry>> {
    /// For each book: its entries, and the numbers of its games in the merged book.
    sources: Vec<(Peekable<I>, &'a [u32])>,
}

impl<I: Iterator<Item = KnownEntry>> Iterator for Joined<'_, I> {
    type Item = KnownEntry;

    fn next(&mut self) -> Option<KnownEntry> {
        let keys = self.sources.iter_mut().filter_map(|(entries, _)| entries.peek());
        let key = keys.map(|known| known.entry.key).min()?;
        let entry = BookEntry { key, ..BookEntry::default() };
        let mut joined = KnownEntry { entry, games: Vec::new() };
        for (entries, numbers) in &mut self.sources {
            if let Some(mut known) = entries.next_if(|known| known.entry.key == key) {
                renumber(&mut known, numbers);
                joined.entry.reached += known.entry.reached;
                joined.entry.moves.extend(known.entry.moves);
                joined.games.extend(known.games);
            }
        }
        joined.entry.join_moves();
        Some(joined)
    }
}

/// Merges books, leaving out the `repeated` games (see [`repeated()`]). All books must have facets.
pub(crate) fn merge_known<W: Read + Write + Seek>(
    books: &[&Book],
    repeated: &[Repeated],
    pawns: &PawnSet,
    manifest: &Manifest,
    output: W,
) -> io::Result<W> {
    let (mut logs, mut files) = (Vec::new(), Vec::new());
    for book in books {
        let (games, more) = games_and_files(book)?;
        logs.push(GameLog::of_games(&games, files.len() as u32));
        files.extend(more);
    }
    let stays = |book: usize, game: u32| !repeated[book].games[game as usize];
    let games = GamesTable::new(logs, &files, stays)?;
    let sources = books.iter().zip(repeated).zip(&games.numbers);
    let sources = sources.map(|((book, repeated), numbers)| {
        let own = games_of(book);
        let left = known_entries(book).filter_map(move |mut known| {
            let stays = own.is_none_or(|own| repeated.take_out(&own, &mut known));
            stays.then_some(known)
        });
        (left.peekable(), &numbers[..])
    });
    let joined = Joined { sources: sources.collect() };
    write_known(output, joined, &games, pawns, manifest)
}

/// Adds the entries `more`, which have no games and are sorted by key, to a book with facets.
pub(crate) fn grow_known<W: Read + Write + Seek>(
    book: &Book,
    more: Vec<BookEntry>,
    pawns: &PawnSet,
    manifest: &Manifest,
    output: W,
) -> io::Result<W> {
    let (games, files) = games_and_files(book)?;
    let log = GameLog::of_games(&games, 0);
    let games = GamesTable::new(vec![log], &files, |_, _| true)?;
    let numbers = &games.numbers[0][..];
    let own: Box<dyn Iterator<Item = KnownEntry>> = Box::new(known_entries(book));
    let more = more.into_iter().map(|entry| KnownEntry { entry, games: Vec::new() });
    let more: Box<dyn Iterator<Item = KnownEntry>> = Box::new(more);
    let sources = [own, more].into_iter().map(|entries| (entries.peekable(), numbers));
    write_known(output, Joined { sources: sources.collect() }, &games, pawns, manifest)
}

/// Applies `cut` to each entry of a book with facets, and removes the games that no longer occur in
/// any entry. Entries for which `cut` returns `None` are removed.
pub(crate) fn cut_known<W: Read + Write + Seek>(
    book: &Book,
    cut: impl Fn(BookEntry) -> Option<BookEntry>,
    pawns: &PawnSet,
    manifest: &Manifest,
    output: W,
) -> io::Result<W> {
    let (games, files) = games_and_files(book)?;
    let left = || {
        known_entries(book).filter_map(|KnownEntry { entry, games }| {
            Some(KnownEntry { entry: cut(entry)?, games })
        })
    };
    let mut is_left = vec![false; games.len() as usize];
    left()
        .for_each(|known| known.games.iter().for_each(|&(_, game)| is_left[game as usize] = true));
    let log = GameLog::of_games(&games, 0);
    let games = GamesTable::new(vec![log], &files, |_, game| is_left[game as usize])?;
    let entries = left().map(|mut known| {
        renumber(&mut known, &games.numbers[0]);
        known
    });
    write_known(output, entries, &games, pawns, manifest)
}

/// Writes a book that contains the selected games of a book with facets. `choose` returns one flag
/// per game, which is true if the game is selected. `pawns_of` receives a predicate for entries,
/// and returns the pawn structures of those that satisfy it.
pub(crate) fn select_known<W: Read + Write + Seek>(
    book: &Book,
    choose: impl FnOnce(&Games<'_>) -> Vec<bool>,
    pawns_of: impl FnOnce(&dyn Fn(&BookEntry) -> bool) -> PawnSet,
    mut manifest: Manifest,
    output: W,
) -> io::Result<W> {
    let (games, files) = games_and_files(book)?;
    let is_in = choose(&games);
    let before = manifest.games.total();
    manifest.games = GameTotals::default();
    let chosen = (0..games.len()).zip(&is_in).filter(|&(_, &is_in)| is_in);
    for game_tags in chosen.filter_map(|(game, _)| games.game_tags(game)) {
        manifest.games.count(game_tags.result());
    }
    manifest.skipped.filtered += before.saturating_sub(manifest.games.total());
    let selected = Selected { games: &games, is_in: &is_in };
    let entries = || known_entries(book).filter_map(|known| selected.of(known));
    let keys: KeyMap<()> = entries().map(|known| (known.entry.key, ())).collect();
    let pawns = pawns_of(&|entry| keys.contains_key(&entry.key));
    let log = GameLog::of_games(&games, 0);
    let table = GamesTable::new(vec![log], &files, |_, game| is_in[game as usize])?;
    let entries = entries().map(|mut known| {
        renumber(&mut known, &table.numbers[0]);
        known
    });
    write_known(output, entries, &table, &pawns, &manifest)
}

fn games_and_files(book: &Book) -> io::Result<(Games<'_>, Vec<FileRecord>)> {
    let games = games_of(book).ok_or_else(|| damaged(book))?;
    let files = games.files().ok_or_else(|| damaged(book))?;
    Ok((games, files))
}

fn damaged(book: &Book) -> io::Error {
    io::Error::other(format!("the games of {} are damaged", book.name()))
}
