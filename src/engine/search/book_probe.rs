//! Looks up search nodes in the book. Positions are compared, not moves, so transpositions are
//! found.
//!
//! A match alone proves little: the opponent may have played badly, or the position may be lost.
//! [`BookSearch`] determines what the search does at a match.

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
/// Salt for table keys in searches that use book values. Combined with the checksum of the values,
/// the salt separates the table entries of these searches from all others.
const VALUES_SALT: u64 = 0x7ab1_a0b0_0a1e_5000;

pub(super) struct BookProbe {
    book: Book,
    values: Option<u64>,
    /// The shortest known line to each position, keyed by the line's first move and the position's
    /// key.
    matches: Mutex<HashMap<(Move, u64), Transposition, BuildHasherDefault<KeyHasher>>>,
    decisive: OnceLock<Transposition>,
}

impl BookProbe {
    pub(super) fn new(config: &Config) -> Option<Self> {
        let book = config.book.clone().filter(|_| config.book_search != BookSearch::Off)?;
        let values = book.values_checksum().filter(|_| config.book_search.takes_values());
        Some(BookProbe { book, values, matches: Mutex::default(), decisive: OnceLock::new() })
    }

    /// Returns the salt to combine with table keys, or 0 if the search does not use book values.
    pub(super) fn salt(&self) -> u64 {
        // The upper bits of a key select the row in the table, so the checksum is rotated into the
        // upper half to affect them.
        self.values.map_or(0, |values| VALUES_SALT ^ values.rotate_left(32))
    }

    pub(super) fn value(&self, position: &Position) -> Option<BookValue> {
        self.values.and_then(|_| self.book.value(position))
    }

    /// Prefetches the data that [`BookProbe::start_lookup`] reads for positions with this pawn key.
    #[inline]
    pub(super) fn prefetch(&self, pawn_key: u64) {
        self.book.prefetch(pawn_key);
    }

    /// Starts a lookup: rejects most positions that are not in the book, and prefetches the data
    /// needed for the others. The caller should do other work before it reads the result, so that
    /// the data can arrive.
    #[inline]
    pub(super) fn start_lookup(&self, position: &Position) -> PendingLookup<'_> {
        self.book.start_lookup(position)
    }

    pub(super) fn reached(&self, position: &Position) -> Option<Counts> {
        self.book.reached(position)
    }

    /// Looks up a position. If the search uses book values, also finds positions that have an
    /// analysis but no games.
    #[inline]
    pub(super) fn holds(&self, position: &Position) -> Option<Counts> {
        match self.values {
            Some(_) => self.book.holds(position),
            None => self.book.reached(position),
        }
    }

    /// Stores a line that leads into the book. If a line with the same first move to the same
    /// position is already stored, keeps the shorter of the two.
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

    /// Returns the book matches whose line starts with the move `first`. Shorter lines come first;
    /// lines of equal length are ordered by number of games, largest first.
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

    /// Returns, for each root move, the book match that [`BookProbe::under`] lists first.
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

    /// Records the book match that ends the search ([`BookSearch::First`]). If several threads find
    /// one, only the first is kept.
    pub(super) fn decide(&self, found: Transposition) {
        let _ = self.decisive.set(found);
    }

    pub(super) fn decisive(&self) -> Option<&Transposition> {
        self.decisive.get()
    }
}

impl Transposition {
    pub(super) fn precedence(&self) -> (usize, Reverse<u64>, &[Move]) {
        (self.line.len(), Reverse(self.counts.games()), &self.line)
    }
}
