//! The book inside the search: every node is compared with the book, whatever move order led
//! there, and a line that has transposed into it may end the search early.
//!
//! A match alone proves little: the opponent may have helped to get there, or the position may be
//! lost for us. [`BookSearch`] says what a match does; `Stop`, the default, only ever saves time:
//! it plays the search's own best move of a completed iteration.

use std::str::FromStr;
use std::sync::{Mutex, PoisonError};

use hashbrown::HashMap;
use thiserror::Error;

use super::node::Window;
use super::report::Transposition;
use super::worker::{RootMove, Worker};
use crate::book::{Book, Counts};
use crate::position::{Color, Move, Position};
use crate::score::{Depth, Ply, Score, is_decided};

/// What a node that is in the book does to the search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum BookSearch {
    /// Nothing: the tree is not compared with the book.
    #[default]
    Off,
    /// It ends the search at once, whatever line it is in: for study and comparison.
    First,
    /// It is remembered with its line; the search ends with an iteration whose best move leads
    /// there by plausible play, unless the book's verdict is bad for us.
    Stop,
    /// It is a leaf, worth the results of its games shrunk towards the static evaluation; the
    /// search ends when the principal variation keeps ending in the book.
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

/// `Stop` ends no search before this iteration.
const STOP_DEPTH: Depth = 4;
/// `Stop` ends no search before this share of its time. By `tabia bench transpositions`: see
/// docs/book.md.
const STOP_SHARE: f64 = 0.4;
/// How far, in centipawns, the value of a plausible line may be from the root's.
const PLAUSIBLE_MARGIN: Score = 60;
/// Lines verified by search at the end of one iteration.
const VERIFIED_PER_ITERATION: usize = 4;
/// Matches remembered at a time.
const REMEMBERED: usize = 4_096;
/// Iterations in a row whose principal variation must end in the book (`Score`).
const SCORE_ITERATIONS: u32 = 2;
/// Games that a position's results are mixed with: at an even score to judge it, at the static
/// evaluation's to score it.
const VERDICT_PRIOR_GAMES: f64 = 4.0;
const SCORE_PRIOR_GAMES: f64 = 40.0;
/// Expected points below which the book's verdict is bad.
const BAD_VERDICT: f64 = 0.4;
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
}

impl BookProbe {
    pub(super) fn new(book: Book, mode: BookSearch) -> Self {
        BookProbe { book, mode, matches: Mutex::new(HashMap::new()) }
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
    fn under(&self, first: Move) -> Vec<Transposition> {
        let matches = self.matches.lock().unwrap_or_else(PoisonError::into_inner);
        let mut found: Vec<_> = matches
            .iter()
            .filter(|((mv, _), _)| *mv == first)
            .map(|(_, found)| found.clone())
            .collect();
        found.sort_by(|a, b| {
            let order = |found: &Transposition| (found.line.len(), -(found.counts.games() as i64));
            order(a).cmp(&order(b)).then_with(|| a.line.cmp(&b.line))
        });
        found
    }

    /// Any match: the one that ended the search in mode `First`.
    fn any(&self) -> Option<Transposition> {
        let matches = self.matches.lock().unwrap_or_else(PoisonError::into_inner);
        matches.values().next().cloned()
    }
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
        match probe.mode {
            BookSearch::Off => None,
            BookSearch::First => {
                let line = self.line_to(ply)?;
                if !self.is_interrupted() {
                    probe.remember(position.key(), &line, counts);
                    self.job.control.stop();
                }
                Some(0)
            }
            BookSearch::Stop => {
                if let Some(line) = self.line_to(ply) {
                    probe.remember(position.key(), &line, counts);
                }
                None
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

    /// The match that mode `First` has stopped at.
    pub(super) fn first_match(&self) -> Option<Transposition> {
        self.job.book.as_ref().filter(|probe| probe.mode == BookSearch::First)?.any()
    }

    /// After a completed iteration: the line by which the search may end in the book now.
    /// `in_book` counts the iterations in a row whose principal variation ended there.
    pub(super) fn book_ending(&mut self, depth: Depth, in_book: &mut u32) -> Option<Transposition> {
        let probe = self.job.book.as_ref()?;
        let best = self.job.root_moves()[0].clone();
        let entered = self.pv_enters_book(&best.pv);
        let ending = match probe.mode {
            BookSearch::Stop if depth >= STOP_DEPTH && self.spent() >= STOP_SHARE => {
                self.plausible_match(probe, depth, &best)
            }
            BookSearch::Score => {
                *in_book = if entered.is_some() { *in_book + 1 } else { 0 };
                entered.filter(|_| *in_book >= SCORE_ITERATIONS)
            }
            _ => None,
        };
        let us = self.job.root.side_to_move();
        ending.filter(|found| verdict(found.counts, us) >= BAD_VERDICT)
    }

    /// The share of the budget that is spent; all of it where there is none to save.
    fn spent(&self) -> f64 {
        let job = self.job;
        let by_nodes = job.limits.soft_nodes.map(|limit| job.nodes() as f64 / limit as f64);
        by_nodes.or_else(|| job.clock.spent(&job.control)).unwrap_or(1.0)
    }

    /// The first position of a principal variation that is in the book, if any.
    pub(super) fn pv_enters_book(&self, pv: &[Move]) -> Option<Transposition> {
        let probe = self.job.book.as_ref()?;
        let mut position = self.job.root;
        pv.iter().enumerate().find_map(|(index, &mv)| {
            position = position.play(mv);
            let counts = probe.book.reached(&position)?;
            Some(Transposition { line: pv[..=index].to_vec(), counts })
        })
    }

    /// The shortest line under the best move into the book in which neither side gives anything
    /// away: one that the principal variation takes, or one whose positions prove to be worth
    /// what the root is.
    fn plausible_match(
        &mut self,
        probe: &BookProbe,
        depth: Depth,
        best: &RootMove,
    ) -> Option<Transposition> {
        let us = self.job.root.side_to_move();
        let candidates = probe.under(best.mv).into_iter();
        let mut verified = 0;
        for found in candidates.filter(|found| verdict(found.counts, us) >= BAD_VERDICT) {
            if best.pv.starts_with(&found.line) {
                return Some(found);
            }
            if verified < VERIFIED_PER_ITERATION && !is_decided(best.score) {
                verified += 1;
                if self.is_plausible(&found.line, depth, best.score) {
                    return Some(found);
                }
            }
            if self.job.control.is_stopped() {
                return None;
            }
        }
        None
    }

    /// Whether the positions of `line` after each of the opponent's moves, and the last, are
    /// worth what the root is, give or take the margin, at the depth they would be searched to.
    fn is_plausible(&mut self, line: &[Move], depth: Depth, root_score: Score) -> bool {
        let (probe_depth, root) = (depth, self.job.root);
        let mut position = root;
        let mut plausible = true;
        let mut entered = 0;
        for (index, &mv) in line.iter().enumerate() {
            let next = position.play(mv);
            self.enter(&position, mv, index, &next);
            entered += 1;
            position = next;
            let ply = index + 1;
            let ours = ply % 2 == 0;
            if ours || ply == line.len() {
                let expected = if ours { root_score } else { -root_score };
                let depth = (probe_depth - ply as Depth).max(1);
                plausible = self.is_worth(&position, ply, depth, expected);
            }
            if !plausible {
                break;
            }
        }
        for _ in 0..entered {
            self.leave();
        }
        plausible && !self.is_interrupted()
    }

    /// Whether `position` is worth `expected`, give or take the margin: two null windows.
    fn is_worth(&mut self, position: &Position, ply: Ply, depth: Depth, expected: Score) -> bool {
        let low = expected - PLAUSIBLE_MARGIN;
        let high = expected + PLAUSIBLE_MARGIN;
        self.pvs(position, ply, depth, Window::null(low - 1), false) >= low
            && self.pvs(position, ply, depth, Window::null(high), true) <= high
    }
}

/// Expected points of an evaluation in centipawns.
fn expectation(centipawns: f64) -> f64 {
    1.0 / (1.0 + (-centipawns / LOGISTIC_SCALE).exp())
}

/// Expected points for `side` in a position with these results, an even score being worth some
/// games, so that one lost game condemns nothing.
fn verdict(counts: Counts, side: Color) -> f64 {
    let games = counts.games() as f64;
    (counts.score(side) * games + VERDICT_PRIOR_GAMES / 2.0) / (games + VERDICT_PRIOR_GAMES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_lost_game_is_no_verdict_but_ten_are() {
        assert!(verdict(Counts::new(0, 0, 1), Color::White) >= BAD_VERDICT);
        assert!(verdict(Counts::new(0, 0, 10), Color::White) < BAD_VERDICT);
        assert!(verdict(Counts::new(0, 0, 10), Color::Black) > 0.8);
        assert!((verdict(Counts::default(), Color::White) - 0.5).abs() < 1e-9);
    }

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
