//! Extends a book with moves that were not played in any game, and with the positions that they
//! lead to.

use std::io::{self, Read, Seek, Write};
use std::iter::Peekable;
use std::ops::ControlFlow;

use super::combine::{BoxedEntries, Merged, insert_pawns};
use super::regroup::grow_known;
use crate::chess::position::{KeyMap, Move, Position};
use crate::games::book::format::counts::Counts;
use crate::games::book::format::entry::BookEntry;
use crate::games::book::format::pawn_filter::PawnSet;
use crate::games::book::format::writer::write_book;
use crate::games::book::lookup::Book;

/// A move from an analysed position to a position that has not been analysed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FrontierMove {
    pub position: Position,
    pub mv: Move,
}

/// Adds the given moves and the resulting positions to `book`, without any games, and writes the
/// extended book to an empty `output`. The values of `book` are not copied.
pub(crate) fn grow<W: Read + Write + Seek>(
    book: &Book,
    frontier_moves: &[FrontierMove],
    output: W,
) -> io::Result<W> {
    let mut pawns = PawnSet::new();
    insert_pawns(book, &book.starts(), &|_| true, &mut pawns);
    let mut entries: Vec<BookEntry> = Vec::with_capacity(2 * frontier_moves.len());
    for FrontierMove { position, mv } in frontier_moves {
        let after = position.play(*mv);
        pawns.insert(after.pawn_key());
        let moves = vec![(*mv, Counts::default())];
        entries.push(BookEntry { key: position.key(), moves, ..BookEntry::default() });
        entries.push(BookEntry { key: after.key(), ..BookEntry::default() });
    }
    // Merge entries with equal keys, because a position can be the target of one move and the
    // origin of others.
    entries.sort_by_key(|entry| entry.key);
    entries.dedup_by(|next, kept| {
        let same = next.key == kept.key;
        if same {
            kept.moves.append(&mut next.moves);
        }
        same
    });
    let manifest = book.manifest().unwrap_or_default();
    if book.image.facets().is_some() {
        return grow_known(book, entries, &pawns, &manifest, output);
    }
    let sources: [BoxedEntries<'_>; 2] = [Box::new(book.entries()), Box::new(entries.into_iter())];
    let merged = Merged::of(sources.map(|source| (source, 1.0)));
    write_book(output, merged, &pawns, &manifest)
}

/// Returns true if a book move has no games, which means that an analysis added it.
fn is_grown(&(_, played): &(Move, Counts)) -> bool {
    played.is_empty()
}

/// Returns the keys of the positions reached by moves without games, which an analysis has added.
pub(crate) fn grown_positions(book: &Book) -> KeyMap<()> {
    let mut keys = KeyMap::default();
    // Few books contain moves without games. Checking for them by scanning the entries is cheaper
    // than visiting all positions.
    if !book.entries().any(|entry| entry.moves.iter().any(is_grown)) {
        return keys;
    }
    book.visit(&book.starts(), false, |position, entry| {
        let moves = entry.legal_moves(position).filter(is_grown);
        keys.extend(moves.map(|(mv, _)| (position.play(mv).key(), ())));
        ControlFlow::Continue(())
    });
    keys
}

pub(crate) fn has_grown_from(book: &Book, other: &Book) -> bool {
    let mut others = other.entries().peekable();
    let agrees = book.entries().all(|entry| match take(&mut others, entry.key) {
        Some(old) => {
            let is_old = |&(mv, _): &(Move, Counts)| old.moves.iter().any(|&(was, _)| was == mv);
            entry.reached == old.reached
                && entry.moves.iter().filter(|found| is_old(found)).eq(&old.moves)
                && entry.moves.iter().all(|found| is_old(found) || is_grown(found))
        }
        None => entry.reached.is_empty() && entry.moves.iter().all(is_grown),
    });
    agrees && others.peek().is_none()
}

fn take(entries: &mut Peekable<impl Iterator<Item = BookEntry>>, key: u64) -> Option<BookEntry> {
    entries.next_if(|entry| entry.key == key)
}
