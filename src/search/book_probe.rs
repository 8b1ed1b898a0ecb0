//! The book inside the search: every node is compared with the book, whatever move order led
//! there, and a line that has transposed into it may end the search early.
//!
//! A match alone proves little: the opponent may have helped to get there, or the position may be
//! lost for us. [`BookSearch`] says what a match does; `Stop`, the default, only ever saves time:
//! it plays the search's own best move of a completed iteration.

use std::cmp::Reverse;
use std::str::FromStr;
use std::sync::{Mutex, OnceLock, PoisonError};

use hashbrown::HashMap;
use thiserror::Error;

use super::config::Config;
use super::report::Transposition;
use super::worker::Worker;
use crate::book::{Book, Counts};
use crate::position::{Move, Position};
use crate::score::{Ply, Score};

/// What a node that is in the book does to the search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum BookSearch {
    /// Nothing: the tree is not compared with the book.
    #[default]
    Off,
    /// It ends the search at once, whatever line it is in: for study and comparison.
    First,
    /// It is remembered with its line; the search may end early when its best move, long settled,
    /// leads there by plausible play, unless the book's verdict is bad for us.
    Stop,
    /// It is a leaf, worth the results of its games shrunk towards the static evaluation; the
    /// search may end early when the principal variation keeps ending in the book.
    Score,
}

/// A text that names no [`BookSearch`].
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("unknown book search mode `{0}` (expected off, first, stop or score)")]
pub struct ParseBookSearchError(String);

impl BookSearch {
    /// All modes.
    pub const ALL: [BookSearch; 4] =
        [BookSearch::Off, BookSearch::First, BookSearch::Stop, BookSearch::Score];

    /// The word for the mode, in options and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            BookSearch::Off => "off",
            BookSearch::First => "first",
            BookSearch::Stop => "stop",
            BookSearch::Score => "score",
        }
    }
}

impl FromStr for BookSearch {
    type Err = ParseBookSearchError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mode = BookSearch::ALL.into_iter().find(|mode| mode.name() == text);
        mode.ok_or_else(|| ParseBookSearchError(text.to_owned()))
    }
}

/// Matches remembered at a time.
const REMEMBERED: usize = 4_096;
/// Games at the static evaluation's score that a position's results are mixed with.
const SCORE_PRIOR_GAMES: f64 = 40.0;
/// Centipawns for a factor of e in the odds: the usual logistic scale.
const LOGISTIC_SCALE: f64 = 400.0 / std::f64::consts::LN_10;
/// No book score is worth more: it is no proof.
const BOOK_SCORE_MAX: f64 = 600.0;
/// Keeps entries of searches that take book scores apart from all others in the table.
pub(super) const SCORE_MODE_SALT: u64 = 0x7ab1_a0b0_0c5c_04e5;

/// The book as one search uses it, and the matches found in it.
pub(super) struct BookProbe {
    book: Book,
    mode: BookSearch,
    /// The shortest line to each position, by first move and key.
    matches: Mutex<HashMap<(Move, u64), Transposition>>,
    /// The match that has ended the search (`First`).
    decisive: OnceLock<Transposition>,
}

impl BookProbe {
    /// The book of `config`, unless there is none or it is not to be asked.
    pub(super) fn new(config: &Config) -> Option<Self> {
        let mode = config.book_search;
        let book = config.book.clone().filter(|_| mode != BookSearch::Off)?;
        Some(BookProbe { book, mode, matches: Mutex::default(), decisive: OnceLock::new() })
    }

    pub(super) fn reached(&self, position: &Position) -> Option<Counts> {
        self.book.reached(position)
    }

    pub(super) fn mode(&self) -> BookSearch {
        self.mode
    }

    fn remember(&self, key: u64, line: &[Move], counts: Counts) {
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

    /// The match that has ended the search in mode `First`.
    pub(super) fn decisive(&self) -> Option<&Transposition> {
        self.decisive.get()
    }
}

/// What matches are sorted by: shorter lines first, then those that more games reached.
fn precedence(found: &Transposition) -> (usize, Reverse<u64>, &[Move]) {
    (found.line.len(), Reverse(found.counts.games()), &found.line)
}

impl Worker<'_> {
    /// Compares an inner node with the book. A score comes back where the node needs no search.
    #[inline]
    pub(super) fn probe_book(&mut self, position: &Position, ply: Ply) -> Option<Score> {
        let probe = self.job.book.as_ref()?;
        let counts = probe.book.reached(position)?;
        self.book_match(probe, position, ply, counts)
    }

    #[cold]
    fn book_match(
        &mut self,
        probe: &BookProbe,
        position: &Position,
        ply: Ply,
        counts: Counts,
    ) -> Option<Score> {
        let line = self.line_to(ply);
        if let Some(line) = &line {
            probe.remember(position.key(), line, counts);
        }
        match probe.mode {
            BookSearch::Off | BookSearch::Stop => None,
            BookSearch::First => {
                let line = line.filter(|_| self.book_may_end() && !self.is_interrupted())?;
                // Another thread may have been faster: its match decides.
                let _ = probe.decisive.set(Transposition { line, counts });
                self.job.control.stop();
                Some(0)
            }
            BookSearch::Score => Some(self.book_score(position, ply, counts)),
        }
    }

    /// The moves from the root to `ply`; `None` if there is a null move among them.
    fn line_to(&self, ply: Ply) -> Option<Vec<Move>> {
        self.frames[..ply].iter().map(|frame| frame.mv).collect()
    }

    /// What the games say of a position, in centipawns for the side to move: the posterior mean
    /// of their results, the static evaluation's expectation being worth some games.
    fn book_score(&mut self, position: &Position, ply: Ply, counts: Counts) -> Score {
        let prior = expectation(f64::from(self.evaluate(position, ply)));
        let games = counts.games() as f64;
        let points = counts.score(position.side_to_move()) * games;
        let mean = (points + SCORE_PRIOR_GAMES * prior) / (games + SCORE_PRIOR_GAMES);
        let odds = mean / (1.0 - mean);
        (LOGISTIC_SCALE * odds.ln()).clamp(-BOOK_SCORE_MAX, BOOK_SCORE_MAX).round() as Score
    }
}

/// Expected points of an evaluation in centipawns.
fn expectation(centipawns: f64) -> f64 {
    1.0 / (1.0 + (-centipawns / LOGISTIC_SCALE).exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expectations_are_logistic() {
        assert!((expectation(0.0) - 0.5).abs() < 1e-9);
        assert!((expectation(400.0) - 10.0 / 11.0).abs() < 1e-9);
    }

    #[test]
    fn modes_are_read_from_their_names() {
        assert_eq!("score".parse(), Ok(BookSearch::Score));
        assert!("always".parse::<BookSearch>().is_err());
    }
}
