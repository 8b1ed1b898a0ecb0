//! When a search may end because its line has transposed into the book, and what it tells of it.
//!
//! A match under the best move is verified as soon as an iteration has met it, told, and kept in
//! mind for as long as that move stays the best and its score does not fall. It ends the search
//! only once a good part of whatever bounds it is spent and the choice has settled: what is saved
//! is time that would hardly have changed the move.

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

/// Lines are verified, and matches told, from this iteration on: before it they fly by.
const FIRST_DEPTH: Depth = 4;
/// No search is ended before this share of what bounds it. This and the next three by `tabia bench
/// transpositions`: see docs/measurements/book-stop-rule.md.
const SHARE: f64 = 0.4;
/// An iteration under way is not broken off before this share: what it costs to complete is less
/// than what it may find.
const SHARE_WITHIN: f64 = 0.6;
/// Iterations that a search may still complete after [`SHARE`] of its time, and one in reserve: each
/// takes about half as long again as the one before.
const REACH: Depth = 3;
/// The choice of the move has settled once the best move has stayed the same for so many
/// iterations, and has taken this share of all nodes: then it has no rivals.
const SETTLED_ITERATIONS: u32 = 3;
const SETTLED_EFFORT: f64 = 0.5;
/// Lines verified by search at the end of one iteration.
const VERIFIED_PER_ITERATION: usize = 4;
/// Matches told after one iteration of an analysis.
const REPORTED_PER_ITERATION: usize = 4;
/// Games at an even score that a position's results are mixed with to judge it.
const VERDICT_PRIOR_GAMES: f64 = 4.0;
/// Expected points below which the book's verdict is bad.
const BAD_VERDICT: f64 = 0.4;

impl<S: OptionalObserver> Worker<'_, S> {
    /// Whether a match may end this search at all: not an analysis, and none on the opponent's time.
    pub(super) fn book_may_end(&self) -> bool {
        let job = self.job;
        !job.limits.is_analysis() && !job.clock.is_pondering(&job.control)
    }

    /// After a completed iteration: looks for a line by which the search may end in the book, and
    /// tells what has been met.
    pub(super) fn compare_with_book(&mut self, depth: Depth, stability: Stability) {
        let Some(probe) = self.job.book.as_ref() else { return };
        let best = self.job.root_moves()[0].clone();
        match self.job.config.book_search {
            BookSearch::Stop | BookSearch::Value | BookSearch::Steer
                if self.ending_line(&best).is_none() =>
            {
                let ending_line = self.plausible_match(probe, depth, &best);
                self.book_ending.ending_lines.retain(|other| other.first() != Some(best.mv));
                self.book_ending.ending_lines.extend(ending_line);
            }
            _ => (),
        }
        let ending_line = self.ending_line(&best).cloned();
        if depth >= FIRST_DEPTH {
            self.report_book_matches(probe, ending_line.as_ref());
        }
        self.book_ending.ready = ending_line.filter(|_| is_settled(stability));
    }

    /// The line that the search may end by with `best` as the best move.
    fn ending_line(&self, best: &RootMove) -> Option<&EndingLine> {
        self.book_ending.ending_lines.iter().find(|ending_line| ending_line.holds(best))
    }

    /// Reports what has been met and not been told yet: the line that the search may end by, or,
    /// where nothing ends, the shortest one under each move, the best moves first.
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

    /// Whether the search may end with the iteration just completed because its best move leads
    /// into the book.
    pub(super) fn ends_in_book(&mut self) -> bool {
        self.ends_in_book_from(SHARE)
    }

    /// The same in the midst of an iteration.
    pub(super) fn stops_in_book(&mut self) -> bool {
        self.ends_in_book_from(SHARE_WITHIN)
    }

    /// Whether an analysis knows the root to a depth that the time left will not reach.
    pub(super) fn is_out_of_reach(&self, depth: Depth) -> bool {
        depth + REACH < self.book_ending.settled && self.book_may_end() && self.spent() >= SHARE
    }

    fn ends_in_book_from(&mut self, share: f64) -> bool {
        let Some(ready) = &self.book_ending.ready else { return false };
        // The cheap question first: this is asked again and again.
        if self.spent() < share || !self.book_may_end() {
            return false;
        }
        let root_moves = self.job.root_moves();
        let mut scored = root_moves.iter().filter(|root_move| root_move.score > -INFINITY);
        self.book_ending.ended = scored.all(|root_move| ready.holds(root_move));
        self.book_ending.ended
    }

    /// The line into the book by which the search has ended, if it has: in mode `First` the match
    /// decides the move, whatever it is worth.
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

    /// The match that has ended the search in mode `First`.
    pub(super) fn decisive_match(&self) -> Option<&Transposition> {
        self.job.book.as_ref()?.decisive()
    }

    /// The greatest share that is spent of anything that bounds the search; a fixed depth is
    /// searched to its end.
    pub(super) fn spent(&self) -> f64 {
        let job = self.job;
        let share = |limit: u64| job.nodes() as f64 / limit.max(1) as f64;
        let nodes = [job.limits.nodes, job.limits.soft_nodes].into_iter().flatten().map(share);
        nodes.chain(job.clock.spent(&job.control)).fold(0.0, f64::max)
    }

    /// The first position of a principal variation that is in the book, if any.
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

    /// The shortest line under the best move into the book in which neither side gives anything
    /// away: one that the principal variation takes, or one whose positions prove to be worth
    /// what the root is. The book's verdict must not be bad for us.
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
        self.set_reason(SearchReason::BookLine);
        if self.pvs(position, ply, depth, Window::null(high), true) > high {
            return false;
        }
        self.set_reason(SearchReason::BookLine);
        self.pvs(position, ply, depth, Window::null(low - 1), false) >= low
    }
}

/// Whether more time would hardly change the choice of the move.
fn is_settled(stability: Stability) -> bool {
    stability.unchanged >= SETTLED_ITERATIONS && stability.effort >= SETTLED_EFFORT
}

/// Whether a position has gone badly for `side`.
pub(super) fn is_bad_for(side: Color, counts: Counts) -> bool {
    verdict(counts, side) < BAD_VERDICT
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
}
