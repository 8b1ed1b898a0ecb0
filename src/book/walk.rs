//! The positions of a book, found by playing: only so can keys become positions again.

use std::collections::VecDeque;

use super::{Book, Counts, Entry};
use crate::position::{KeyMap, Move, Position};

/// A position of the book with the way to it.
#[derive(Debug, Clone)]
pub struct Visited {
    /// The position.
    pub position: Position,
    /// Plies from where the walk began, by the shortest way.
    pub ply: u32,
    /// What the book holds of it; without moves if the book ends here.
    pub entry: Entry,
}

impl Book {
    /// Visits every position of the book that can be reached from `start` without leaving the
    /// book, the nearest first, each once, down to `max_ply` plies. Moves that were never played
    /// where they lead back into the book count as well: so books of one side's moves are visited
    /// whole.
    pub fn walk(&self, start: &Position, max_ply: u32) -> impl Iterator<Item = Visited> + '_ {
        let mut queue = VecDeque::from([(*start, 0)]);
        let mut seen = KeyMap::default();
        seen.insert(start.key(), ());
        std::iter::from_fn(move || {
            let (position, ply) = queue.pop_front()?;
            let known = self.entry(&position);
            let entry = known.unwrap_or(Entry { key: position.key(), ..Entry::default() });
            if ply < max_ply {
                for book_move in self.moves(&position) {
                    let next = position.play(book_move.mv);
                    if seen.insert(next.key(), ()).is_none() {
                        queue.push_back((next, ply + 1));
                    }
                }
            }
            Some(Visited { position, ply, entry })
        })
    }

    /// The moves of an entry that are legal in its position: all, unless two positions share a
    /// key or the book is damaged.
    pub fn legal_moves_of<'a>(
        &self,
        entry: &'a Entry,
        position: &'a Position,
    ) -> impl Iterator<Item = (Move, Counts)> + 'a {
        entry.moves.iter().copied().filter(|&(mv, _)| position.is_legal(mv))
    }
}
