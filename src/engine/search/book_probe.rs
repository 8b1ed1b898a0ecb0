//! The book inside the search: every node is compared with the book, whatever move order led
//! there, and a line that has transposed into it may end the search early.
//!
//! A match alone proves little: the opponent may have helped to get there, or the position may be
//! lost for us. [`BookSearch`] says what a match does; `Stop`, the default, only ever saves time:
//! it plays the search's own best move of a completed iteration.

use std::cmp::Reverse;
use std::sync::{Mutex, OnceLock, PoisonError};

use hashbrown::HashMap;

use super::config::{BookSearch, Config};
use super::report::Transposition;
use crate::chess::position::{Move, Position};
use crate::games::book::{Book, BookValue, Counts, PendingLookup};

/// Matches remembered at a time.
const REMEMBERED: usize = 4_096;
/// With the checksum of the book's values, keeps the table entries of searches that use these values
/// apart from all others.
const VALUES_SALT: u64 = 0x7ab1_a0b0_0a1e_5000;

/// The book as one search uses it, and the matches found in it.
pub(super) struct BookProbe {
    book: Book,
    /// What tells the book's values, if the search takes them.
    values: Option<u64>,
    /// The shortest line to each position, by first move and key.
    matches: Mutex<HashMap<(Move, u64), Transposition>>,
    /// The match that has ended the search (`First`).
    decisive: OnceLock<Transposition>,
}

impl BookProbe {
    /// The book of `config`, unless there is none or it is not to be asked.
    pub(super) fn new(config: &Config) -> Option<Self> {
        let book = config.book.clone().filter(|_| config.book_search != BookSearch::Off)?;
        let values = book.values_checksum().filter(|_| config.book_search.takes_values());
        Some(BookProbe { book, values, matches: Mutex::default(), decisive: OnceLock::new() })
    }

    /// Changes the keys of table entries, so that searches with other values of the book do not use
    /// them; 0 if this search uses none.
    pub(super) fn salt(&self) -> u64 {
        // The checksum takes the upper half, by which the table does not choose its rows alone.
        self.values.map_or(0, |values| VALUES_SALT ^ values.rotate_left(32))
    }

    /// What an analysis has found of a position, if the search takes that.
    pub(super) fn value(&self, position: &Position) -> Option<BookValue> {
        self.values.and_then(|_| self.book.value(position))
    }

    /// Asks the processor to fetch what [`BookProbe::ask`] will read of a position with these pawns.
    #[inline]
    pub(super) fn prefetch(&self, pawn_key: u64) {
        self.book.prefetch(pawn_key);
    }

    /// Asks whether the other questions are worth asking; there should be work to do before the answer is
    /// read, which waits for the memory.
    #[inline]
    pub(super) fn ask(&self, position: &Position) -> PendingLookup<'_> {
        self.book.ask(position)
    }

    pub(super) fn reached(&self, position: &Position) -> Option<Counts> {
        self.book.reached(position)
    }

    /// The same; where the search takes values, also of positions that no game has reached.
    #[inline]
    pub(super) fn holds(&self, position: &Position) -> Option<Counts> {
        match self.values {
            Some(_) => self.book.holds(position),
            None => self.book.reached(position),
        }
    }

    /// Keeps a line into the book, unless a shorter one to the same position is known.
    pub(super) fn remember(&self, position: &Position, line: &[Move], counts: Counts) {
        let Some(&first) = line.first() else { return };
        let key = position.key();
        let mut matches = self.matches.lock().unwrap_or_else(PoisonError::into_inner);
        let full = matches.len() >= REMEMBERED;
        match matches.get_mut(&(first, key)) {
            Some(known) if known.line.len() > line.len() => known.line = line.to_vec(),
            None if !full => {
                let value = self.value(position);
                matches.insert((first, key), Transposition { line: line.to_vec(), counts, value });
            }
            _ => (),
        }
    }

    /// The matches that begin with `first`, shortest line first, the more played before others.
    pub(super) fn under(&self, first: Move) -> Vec<Transposition> {
        let matches = self.matches.lock().unwrap_or_else(PoisonError::into_inner);
        let mut found: Vec<_> = matches
            .iter()
            .filter(|((mv, _), _)| *mv == first)
            .map(|(_, found)| found.clone())
            .collect();
        found.sort_by(|a, b| a.precedence().cmp(&b.precedence()));
        found
    }

    /// The first of [`BookProbe::under`] for each move that there is one for.
    pub(super) fn by_first_move(&self) -> HashMap<Move, Transposition> {
        let matches = self.matches.lock().unwrap_or_else(PoisonError::into_inner);
        let mut best: HashMap<Move, &Transposition> = HashMap::new();
        for ((first, _), found) in matches.iter() {
            let known = best.entry(*first).or_insert(found);
            if found.precedence() < known.precedence() {
                *known = found;
            }
        }
        best.into_iter().map(|(first, found)| (first, found.clone())).collect()
    }

    /// Lets a match end the search, in mode `First`. Another thread may have been faster: its match
    /// decides.
    pub(super) fn decide(&self, found: Transposition) {
        let _ = self.decisive.set(found);
    }

    /// The match that has ended the search in mode `First`.
    pub(super) fn decisive(&self) -> Option<&Transposition> {
        self.decisive.get()
    }
}

impl Transposition {
    /// What matches are sorted by: shorter lines first, then those that more games reached.
    pub(super) fn precedence(&self) -> (usize, Reverse<u64>, &[Move]) {
        (self.line.len(), Reverse(self.counts.games()), &self.line)
    }
}
