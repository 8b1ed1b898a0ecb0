//! Steering back into the book ([`BookSearch::Steer`]): among the moves that score about as well as
//! the best one, the search plays a move whose principal variation leads into the book.

use super::book_ending::is_bad_for;
use super::book_ending_state::BookReturn;
use super::config::BookSearch;
use super::node::Window;
use super::observe::{OptionalObserver, SearchReason};
use super::report::{SearchResult, Transposition};
use super::worker::Worker;
use crate::chess::position::Move;
use crate::chess::score::{Depth, Score, is_decided};

/// Fraction of the time or node budget to spend before the first attempt to steer. The result of an
/// earlier attempt would soon be made obsolete by later iterations. Chosen by hand.
const STEER_FROM: f64 = 0.3;
/// Maximum number of root moves to try after each iteration. Chosen by hand.
const TRIED_PER_ITERATION: usize = 4;

impl<S: OptionalObserver> Worker<'_, S> {
    /// Looks for a root move whose best line leads into the book, unless the best move's line
    /// already does.
    pub(super) fn search_book_return(&mut self, depth: Depth) {
        let job = self.job;
        if job.config.book_search != BookSearch::Steer || !self.book_may_end() {
            return;
        }
        let is_last = depth >= job.limits.last_iteration();
        if depth <= self.book_ending.settled || (self.spent() < STEER_FROM && !is_last) {
            return;
        }
        let found = self.find_book_return(depth);
        // A stopped attempt has not tried all moves, so it does not replace an earlier result.
        if found.is_some() || !job.control.is_stopped() {
            self.book_ending.book_return = found;
        }
    }

    fn find_book_return(&mut self, depth: Depth) -> Option<BookReturn> {
        let job = self.job;
        let probe = job.book.as_ref()?;
        let best = job.root_moves()[0].clone();
        let leads_there =
            self.book_ending.ready.is_some() || self.pv_enters_book(&best.pv).is_some();
        if leads_there || is_decided(best.score) {
            return None;
        }
        let us = job.root.side_to_move();
        let mut lines: Vec<Transposition> = probe.by_first_move().into_values().collect();
        lines.retain(|found| found.line[0] != best.mv && !is_bad_for(us, found.counts));
        lines.sort_by(|a, b| a.precedence().cmp(&b.precedence()));
        let wanted: Vec<Move> = job.root_moves().iter().map(|root_move| root_move.mv).collect();
        let moves = lines.iter().map(|found| found.line[0]).filter(|mv| wanted.contains(mv));
        let least = best.score - job.config.steer_margin;
        let mut book_return: Option<BookReturn> = None;
        for mv in moves.take(TRIED_PER_ITERATION) {
            let (score, pv) = self.try_root_move(mv, depth, Window::new(least - 1, best.score + 1));
            if job.control.is_stopped() {
                break;
            }
            let is_better = book_return.as_ref().is_none_or(|other| score > other.score);
            let found = self.pv_enters_book(&pv).filter(|_| score >= least && is_better);
            if let Some(found) = found {
                book_return = Some(BookReturn { instead_of: best.mv, pv, score, found });
            }
        }
        book_return
    }

    fn try_root_move(&mut self, mv: Move, depth: Depth, window: Window) -> (Score, Vec<Move>) {
        let root = self.job.root;
        let next = root.play(mv);
        self.enter(&root, mv, 0, &next);
        self.set_reason(SearchReason::BookLine);
        let score = -self.pvs(&next, 1, depth - 1, window.flip(), false);
        self.leave();
        let line = std::iter::once(mv).chain(self.pv_table[1].moves().iter().copied());
        (score, line.collect())
    }

    pub(super) fn take_book_return(&mut self, result: &mut SearchResult) {
        let margin = self.job.config.steer_margin;
        let holds = |book_return: &BookReturn| {
            Some(book_return.instead_of) == result.best
                && book_return.score >= result.score - margin
        };
        let Some(book_return) = self.book_ending.book_return.take().filter(holds) else { return };
        let mut root_moves = self.job.root_moves();
        let root_move = root_moves.iter_mut().find(|root_move| root_move.mv == book_return.pv[0]);
        if let Some(root_move) = root_move {
            root_move.pv.clone_from(&book_return.pv);
        }
        result.best = book_return.pv.first().copied();
        result.ponder = book_return.pv.get(1).copied();
        result.score = book_return.score;
        result.book = Some(book_return.found);
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Config, Control, Limits, Searcher};
    use super::*;
    use crate::chess::position::Game;
    use crate::games::book::{BuildOptions, build_in_memory};
    use crate::games::pgn::PgnInput;

    /// Searches a position in which a3 transposes into the book. All games in the book have the
    /// given result.
    fn search(result: &str, steer_margin: Score) -> SearchResult {
        let text = format!("[Result \"{result}\"]\n\n1. a3 h6 2. h3 {result}\n\n").repeat(20);
        let games = PgnInput::Text("games".to_owned(), text.into_bytes().into());
        let book = build_in_memory(&[games], &BuildOptions::default(), "x").expect("a book").0;
        let mut game = Game::default();
        for mv in ["h2h3", "h7h6"] {
            game.play(mv.parse().expect(mv)).expect(mv);
        }
        let book_search = BookSearch::Steer;
        let config = Config {
            memory_mb: 4,
            book: Some(book),
            book_search,
            steer_margin,
            ..Config::default()
        };
        Searcher::new(config).search_without_events(&game, &Limits::depth(7), &Control::new())
    }

    #[test]
    fn move_back_into_the_book_is_played_if_it_costs_little() {
        let a3: Option<Move> = "a2a3".parse().ok();
        let steered = search("1/2-1/2", 500);
        assert_eq!((steered.best, steered.book.map(|found| found.line.len())), (a3, Some(1)));
        assert_ne!(search("1/2-1/2", 0).best, a3, "it is not worth as much as the best");
        assert_ne!(search("0-1", 500).best, a3, "the book's verdict is bad");
    }
}
