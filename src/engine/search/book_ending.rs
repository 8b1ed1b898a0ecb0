//! Ends a search early if its best line has transposed into the book, and reports such lines.
//!
//! If an iteration finds a book position below the best move, the line to that position is
//! verified, reported and stored. The line stays valid as long as its first move remains the best
//! move and the score of that move does not fall by more than 60 centipawns (`PLAUSIBLE_MARGIN`).
//! It ends the search only after a large share of the budget has been spent and the best move has
//! been stable for several iterations. Book lines never end analysis or pondering.
//!
//! From the fourth iteration on, a line is considered plausible if it is part of the principal
//! variation, or if null-window searches prove that the values of its positions are within
//! `PLAUSIBLE_MARGIN` of the root's value. In addition, the results of the book's games must not be
//! bad for the engine's side.
//!
//! This plausibility check is Tabia's own addition. It is needed because a match at a null-window
//! node has no exact value, and because comparing only the last position with the root would accept
//! a line in which both sides make mistakes.

use super::book_ending_state::{EndingLine, PLAUSIBLE_MARGIN};
use super::book_probe::BookProbe;
use super::clock::Stability;
use super::config::BookSearch;
use super::job::RootMove;
use super::node::Window;
use super::observe::{OptionalObserver, SearchReason};
use super::report::{SearchEvent, SearchResult, Transposition};
use super::worker::Worker;
use crate::chess::position::{Color, Move, Position};
use crate::chess::score::{Depth, INFINITY, Ply, Score, is_decided};
use crate::games::book::Counts;

/// The first iteration after which book lines are verified and book matches are reported.
const FIRST_DEPTH: Depth = 4;
/// Minimum share of the time or node budget that a search must spend before a book line may end it.
///
/// This and the next three constants were measured; see docs/measurements/book-stop-rule.md.
const SHARE: f64 = 0.4;
/// Minimum share of the budget that must be spent before a book line may abort an iteration in
/// progress. Below this share, it is better to complete the iteration.
const SHARE_WITHIN: f64 = 0.6;
/// Estimated number of iterations that a search can still complete after spending [`SHARE`] of its
/// budget.
///
/// Each iteration takes about 1.5 times as long as the previous one. The number includes one
/// iteration as a reserve.
const REACH: Depth = 3;
/// Number of iterations without a new best move after which the choice of move counts as settled.
const SETTLED_ITERATIONS: u32 = 3;
/// Minimum share of all nodes that must have been spent on the best move before it counts as
/// settled.
const SETTLED_EFFORT: f64 = 0.5;
const VERIFIED_PER_ITERATION: usize = 4;
const REPORTED_PER_ITERATION: usize = 4;
/// Number of drawn games added to the results of a book position before they are judged, so that a
/// single lost game is not decisive.
const VERDICT_PRIOR_GAMES: f64 = 4.0;
/// The book's verdict on a position is bad for a side if that side's expected score, from 0 to 1,
/// is below this value.
const BAD_VERDICT: f64 = 0.4;

impl<S: OptionalObserver> Worker<'_, S> {
    pub(super) fn book_may_end(&self) -> bool {
        let job = self.job;
        !job.limits.is_analysis() && !job.clock.is_pondering(&job.control)
    }

    /// Looks for a book line that may end the search, and reports new book matches. Called after
    /// each iteration.
    pub(super) fn compare_with_book(&mut self, depth: Depth, stability: Stability) {
        let Some(probe) = self.job.book.as_ref() else { return };
        let best = self.job.root_moves()[0].clone();
        if self.job.config.book_search != BookSearch::First && self.ending_line(&best).is_none() {
            let ending_line = self.plausible_match(probe, depth, &best);
            self.book_ending.ending_lines.retain(|other| other.first() != Some(best.mv));
            self.book_ending.ending_lines.extend(ending_line);
        }
        let ending_line = self.ending_line(&best).cloned();
        if depth >= FIRST_DEPTH {
            self.report_book_matches(probe, ending_line.as_ref());
        }
        self.book_ending.ready = ending_line.filter(|_| is_settled(stability));
    }

    /// Returns the stored book line that may end the search if `best` is the best move.
    fn ending_line(&self, best: &RootMove) -> Option<&EndingLine> {
        self.book_ending.ending_lines.iter().find(|ending_line| ending_line.holds(best))
    }

    /// Reports new book matches, starting with the line that may end the search. In analysis and
    /// while pondering, also reports the shortest book line for each of the other root moves, in
    /// the order of the root moves.
    fn report_book_matches(&mut self, probe: &BookProbe, ending_line: Option<&EndingLine>) {
        let mut new_matches: Vec<Transposition> =
            ending_line.map(|ending_line| ending_line.found.clone()).into_iter().collect();
        if !self.book_may_end() {
            let mut met = probe.by_first_move();
            new_matches.iter().for_each(|found| drop(met.remove(&found.line[0])));
            let root_moves = self.job.root_moves();
            new_matches.extend(root_moves.iter().filter_map(|root_move| met.remove(&root_move.mv)));
        }
        new_matches.retain(|found| !self.book_ending.reported.contains(&found.line[0]));
        for found in new_matches.into_iter().take(REPORTED_PER_ITERATION) {
            self.book_ending.reported.insert(found.line[0]);
            self.send_event(SearchEvent::Transposition(found));
        }
    }

    /// Whether the search may end between two iterations because its best move leads into the book.
    pub(super) fn ends_in_book(&mut self) -> bool {
        self.ends_in_book_from(SHARE)
    }

    /// Whether the search may abort the current iteration because its best move leads into the
    /// book.
    pub(super) fn stops_in_book(&mut self) -> bool {
        self.ends_in_book_from(SHARE_WITHIN)
    }

    /// Whether the book's analysis of the root is deeper than any iteration that the search can
    /// still complete, so that continuing is pointless.
    pub(super) fn is_out_of_reach(&self, depth: Depth) -> bool {
        depth + REACH < self.book_ending.settled && self.book_may_end() && self.spent() >= SHARE
    }

    fn ends_in_book_from(&mut self, share: f64) -> bool {
        let Some(ready) = &self.book_ending.ready else { return false };
        // This function is called often, so the cheap tests of the budget and the mode come first.
        if self.spent() < share || !self.book_may_end() {
            return false;
        }
        let root_moves = self.job.root_moves();
        let mut scored = root_moves.iter().filter(|root_move| root_move.score > -INFINITY);
        self.book_ending.ended = scored.all(|root_move| ready.holds(root_move));
        self.book_ending.ended
    }

    /// Adds the book line that ended the search, if any, to `result`. In mode
    /// [`BookSearch::First`], the line also determines the move to play, regardless of its value.
    pub(super) fn apply_book_line(&mut self, result: &mut SearchResult) {
        if let Some(found) = self.decisive_match() {
            result.best = found.line.first().copied();
            result.ponder = found.line.get(1).copied();
            result.book = Some(found.clone());
        } else if self.book_ending.ended {
            let ready = self.book_ending.ready.take().filter(|ready| ready.first() == result.best);
            result.book = ready.map(|ready| ready.found).or(result.book.take());
        }
    }

    pub(super) fn decisive_match(&self) -> Option<&Transposition> {
        self.job.book.as_ref()?.decisive()
    }

    /// Returns the share of the search budget that has been spent. If there are several limits,
    /// returns the largest of their shares. The depth limit is ignored.
    pub(super) fn spent(&self) -> f64 {
        let job = self.job;
        let share = |limit: u64| job.nodes() as f64 / limit.max(1) as f64;
        let nodes = [job.limits.nodes, job.limits.soft_nodes].into_iter().flatten().map(share);
        nodes.chain(job.clock.spent(&job.control)).fold(0.0, f64::max)
    }

    /// Returns the moves of `pv` up to its first book position, with the book's data for that
    /// position; `None` if `pv` contains no book position.
    pub(super) fn pv_enters_book(&self, pv: &[Move]) -> Option<Transposition> {
        let probe = self.job.book.as_ref()?;
        let mut position = self.job.root;
        pv.iter().enumerate().find_map(|(index, &mv)| {
            position = position.play(mv);
            let counts = probe.reached(&position)?;
            Some(Transposition {
                line: pv[..=index].to_vec(),
                counts,
                value: probe.value(&position),
            })
        })
    }

    /// Returns the shortest plausible line that starts with the best move and leads into the book.
    fn plausible_match(
        &mut self,
        probe: &BookProbe,
        depth: Depth,
        best: &RootMove,
    ) -> Option<EndingLine> {
        if depth < FIRST_DEPTH || self.job.limits.is_analysis() {
            return None;
        }
        let us = self.job.root.side_to_move();
        let candidates = probe.under(best.mv).into_iter();
        let mut verified = 0;
        for found in candidates.filter(|found| !is_bad_for(us, found.counts)) {
            if best.pv.starts_with(&found.line) {
                return Some(EndingLine { found, score: best.score });
            }
            if verified < VERIFIED_PER_ITERATION && !is_decided(best.score) {
                verified += 1;
                if self.is_plausible(&found.line, depth, best.score) {
                    return Some(EndingLine { found, score: best.score });
                }
            }
            if self.job.control.is_stopped() {
                return None;
            }
        }
        None
    }

    /// Whether the values of the positions along `line` are within [`PLAUSIBLE_MARGIN`] of the
    /// root's value.
    ///
    /// Checks only the last position and the positions after the opponent's moves. Each is searched
    /// to `depth` minus its ply.
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

    /// Whether null-window searches show that the value of `position` is within
    /// [`PLAUSIBLE_MARGIN`] of `expected`.
    fn is_worth(&mut self, position: &Position, ply: Ply, depth: Depth, expected: Score) -> bool {
        let low = expected - PLAUSIBLE_MARGIN;
        let high = expected + PLAUSIBLE_MARGIN;
        self.set_reason(SearchReason::BookLine);
        if self.pvs(position, ply, depth, Window::null(high), true) > high {
            return false;
        }
        self.set_reason(SearchReason::BookLine);
        self.pvs(position, ply, depth, Window::null(low - 1), false) >= low
    }
}

fn is_settled(stability: Stability) -> bool {
    stability.unchanged >= SETTLED_ITERATIONS && stability.effort >= SETTLED_EFFORT
}

/// Whether the results of the book's games from a position are bad for `side`.
pub(super) fn is_bad_for(side: Color, counts: Counts) -> bool {
    verdict(counts, side) < BAD_VERDICT
}

/// Returns the expected score for `side`, from 0 to 1, according to the results in the book. Drawn
/// games are added to the results, so that a single lost game is not decisive.
fn verdict(counts: Counts, side: Color) -> f64 {
    let games = counts.games() as f64;
    (counts.score(side) * games + VERDICT_PRIOR_GAMES / 2.0) / (games + VERDICT_PRIOR_GAMES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdict_needs_more_than_one_lost_game() {
        assert!(verdict(Counts::new(0, 0, 1), Color::White) >= BAD_VERDICT);
        assert!(verdict(Counts::new(0, 0, 10), Color::White) < BAD_VERDICT);
        assert!(verdict(Counts::new(0, 0, 10), Color::Black) > 0.8);
        assert!((verdict(Counts::default(), Color::White) - 0.5).abs() < 1e-9);
    }
}
