//! The book inside the search. Every node is looked up, regardless of the move order.
//!
//! A match alone proves little, because the opponent may have helped to reach the position, or the
//! position may be lost. [`BookSearch`] determines its effect. The default, `Stop`, saves time.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::hash::BuildHasherDefault;
use std::sync::{Mutex, OnceLock, PoisonError};

use super::config::{BookSearch, Config};
use super::report::Transposition;
use crate::chess::position::{KeyHasher, Move, Position};
use crate::games::book::{Book, BookValue, Counts, PendingLookup};

/// Maximum number of stored matches.
const REMEMBERED: usize = 4_096;
/// Salt for table keys. With the checksum of the book's values, it separates the entries of
/// searches that use them from all others.
const VALUES_SALT: u64 = 0x7ab1_a0b0_0a1e_5000;

/// The book as used by one search, and the matches found so far.
pub(super) struct BookProbe {
    book: Book,
    /// Checksum of the book's values, if the search uses them.
    values: Option<u64>,
    /// The shortest line to each position, by the line's first move and the position's key.
    matches: Mutex<HashMap<(Move, u64), Transposition, BuildHasherDefault<KeyHasher>>>,
    decisive: OnceLock<Transposition>,
}

impl BookProbe {
    /// Creates a probe for the book in `config`, if there is one and it is used.
    pub(super) fn new(config: &Config) -> Option<Self> {
        let book = config.book.clone().filter(|_| config.book_search != BookSearch::Off)?;
        let values = book.values_checksum().filter(|_| config.book_search.takes_values());
        Some(BookProbe { book, values, matches: Mutex::default(), decisive: OnceLock::new() })
    }

    /// Returns the salt for table keys, or 0 if the search does not use book values.
    pub(super) fn salt(&self) -> u64 {
        // Only part of the upper half of the key selects the table's row.
        self.values.map_or(0, |values| VALUES_SALT ^ values.rotate_left(32))
    }

    /// Returns the analysis of a position, if the search uses analyses.
    pub(super) fn value(&self, position: &Position) -> Option<BookValue> {
        self.values.and_then(|_| self.book.value(position))
    }

    /// Prefetches what [`BookProbe::start_lookup`] will read for this pawn key.
    #[inline]
    pub(super) fn prefetch(&self, pawn_key: u64) {
        self.book.prefetch(pawn_key);
    }

    /// Starts a lookup, which rejects most positions that are not in the book. The result must be
    /// loaded from memory, so the caller should do other work before reading it.
    #[inline]
    pub(super) fn start_lookup(&self, position: &Position) -> PendingLookup<'_> {
        self.book.start_lookup(position)
    }

    pub(super) fn reached(&self, position: &Position) -> Option<Counts> {
        self.book.reached(position)
    }

    /// Looks up a position. If the search uses book values, also finds positions without games.
    #[inline]
    pub(super) fn holds(&self, position: &Position) -> Option<Counts> {
        match self.values {
            Some(_) => self.book.holds(position),
            None => self.book.reached(position),
        }
    }

    /// Stores a line into the book, unless one that is no longer leads to the same position.
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

    /// Returns the matches whose line starts with `first`: shorter lines first, then more games.
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

    /// Returns, for each root move, the first match in the order of [`BookProbe::under`].
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

    /// Records the match that ends the search ([`BookSearch::First`]), unless there is one.
    pub(super) fn decide(&self, found: Transposition) {
        let _ = self.decisive.set(found);
    }

    pub(super) fn decisive(&self) -> Option<&Transposition> {
        self.decisive.get()
    }
}

impl Transposition {
    /// Returns the sort key for a match: shorter lines, then more games.
    pub(super) fn precedence(&self) -> (usize, Reverse<u64>, &[Move]) {
        (self.line.len(), Reverse(self.counts.games()), &self.line)
    }
}
