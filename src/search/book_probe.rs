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
use crate::book::{Book, Counts};
use crate::position::{Move, Position};

/// Matches remembered at a time.
const REMEMBERED: usize = 4_096;
/// Keeps entries of searches that take book scores apart from all others in the table.
pub(super) const SCORE_MODE_SALT: u64 = 0x7ab1_a0b0_0c5c_04e5;

/// The book as one search uses it, and the matches found in it.
pub(super) struct BookProbe {
    book: Book,
    /// The shortest line to each position, by first move and key.
    matches: Mutex<HashMap<(Move, u64), Transposition>>,
    /// The match that has ended the search (`First`).
    decisive: OnceLock<Transposition>,
}

impl BookProbe {
    /// The book of `config`, unless there is none or it is not to be asked.
    pub(super) fn new(config: &Config) -> Option<Self> {
        let book = config.book.clone().filter(|_| config.book_search != BookSearch::Off)?;
        Some(BookProbe { book, matches: Mutex::default(), decisive: OnceLock::new() })
    }

    pub(super) fn reached(&self, position: &Position) -> Option<Counts> {
        self.book.reached(position)
    }

    /// Keeps a line into the book, unless a shorter one to the same position is known.
    pub(super) fn remember(&self, key: u64, line: &[Move], counts: Counts) {
        let Some(&first) = line.first() else { return };
        let mut matches = self.matches.lock().unwrap_or_else(PoisonError::into_inner);
        let full = matches.len() >= REMEMBERED;
        match matches.get_mut(&(first, key)) {
            Some(known) if known.line.len() > line.len() => known.line = line.to_vec(),
            None if !full => {
                matches.insert((first, key), Transposition { line: line.to_vec(), counts });
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
        found.sort_by(|a, b| precedence(a).cmp(&precedence(b)));
        found
    }

    /// The first of [`BookProbe::under`] for each move that there is one for.
    pub(super) fn by_first_move(&self) -> HashMap<Move, Transposition> {
        let matches = self.matches.lock().unwrap_or_else(PoisonError::into_inner);
        let mut best: HashMap<Move, &Transposition> = HashMap::new();
        for ((first, _), found) in matches.iter() {
            let known = best.entry(*first).or_insert(found);
            if precedence(found) < precedence(known) {
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

/// What matches are sorted by: shorter lines first, then those that more games reached.
fn precedence(found: &Transposition) -> (usize, Reverse<u64>, &[Move]) {
    (found.line.len(), Reverse(found.counts.games()), &found.line)
}
