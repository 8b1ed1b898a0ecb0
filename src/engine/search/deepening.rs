//! Iterative deepening with aspiration windows, and the rules for ending a search.
//!
//! Sources: <https://www.chessprogramming.org/Iterative_Deepening>,
//! <https://www.chessprogramming.org/Aspiration_Windows>.

use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use super::book_known::deeper;
use super::clock::Stability;
use super::constants as c;
use super::job::RootMove;
use super::node::{MoveFacts, Node, Window};
use super::observe::{NodeEnd, OptionalObserver, SearchReason, SearchStep};
use super::report::{Bound, Report, SearchEvent, SearchResult};
use super::source::MoveSource;
use super::worker::Worker;
use crate::chess::position::{Move, Position};
use crate::chess::score::{
    DRAW, Depth, INFINITY, MAX_EVAL, MAX_PLY, Score, TABLEBASE_WIN, is_decided, mate_distance,
    mate_in, mated_in,
};
use crate::engine::tablebase::TablebaseResult;

const ASPIRATION_DEPTH: Depth = 5;
/// Maximum width of an aspiration window, in centipawns. If the window would become wider, the
/// bound that failed is set to infinity.
const ASPIRATION_MAX: Score = 800;
/// Time after which the search reports which root move it is searching. Earlier, the root moves
/// change too quickly to be displayed.
const ROOT_MOVES_REPORTED_FROM: Duration = Duration::from_secs(1);
/// Time after which failed aspiration windows are reported.
const FAILS_REPORTED_FROM: Duration = Duration::from_millis(500);
/// The first iteration in which new best moves are reported. In iteration 1, the best move changes
/// too often.
const FIRST_NEWS_DEPTH: Depth = 2;
/// Number of iterations after which the search ends if there is only one legal move.
const FORCED_MOVE_DEPTH: Depth = 3;

impl<S: OptionalObserver> Worker<'_, S> {
    pub(super) fn think(&mut self) -> SearchResult {
        let mut result = self.probe_book_at_root().unwrap_or_else(|| self.first_guess());
        let last = self.job.limits.last_iteration();
        let mut unchanged = 0;
        if result.best.is_some() {
            self.find_near_matches();
            for depth in 1..=last {
                let best_before = result.best;
                let score_before = result.score;
                self.iterate(depth, &mut result);
                if self.job.control.is_stopped() {
                    self.report_reordered_lines(depth);
                    break;
                }
                unchanged = if result.best == best_before { unchanged + 1 } else { 0 };
                let fall = if depth > 1 { score_before - result.score } else { 0 };
                let stability = Stability { unchanged, fall, effort: self.effort() };
                self.compare_with_book(depth, stability);
                self.search_book_return(depth);
                let is_decided = self.is_decided(depth, &result, stability);
                if is_decided || self.is_out_of_reach(depth) || self.ends_in_book() {
                    break;
                }
            }
        } else {
            self.report_end_of_game(result.score);
        }
        self.apply_book_line(&mut result);
        self.take_book_return(&mut result);
        self.expect_reply(&mut result);
        self.call_known_draw(&mut result);
        self.report_final(&result);
        // The helpers have no more work from here on, even if the result is held back until the
        // ponder hit or the minimum time.
        self.job.pool.finish();
        self.wait_for_permission();
        self.show_done();
        result.nodes = self.job.nodes();
        result.elapsed = self.job.clock.elapsed();
        let pause = self.job.limits.min_time.min(result.elapsed);
        result.planned = self.job.clock.planned().max(pause);
        result
    }

    /// Returns a provisional result, in case the search stops before it completes a move: the first
    /// root move with the static evaluation (0 in check). If the game is over, returns the score of
    /// a mate or a draw.
    fn first_guess(&mut self) -> SearchResult {
        let best = self.job.root_moves().first().map(|root_move| root_move.mv);
        let score = match (best, self.job.root.in_check()) {
            (Some(_), false) => self.evaluate(&self.job.root, 0),
            (None, true) => mated_in(0),
            (Some(_), true) | (None, false) => DRAW,
        };
        SearchResult { best, score, ..SearchResult::default() }
    }

    fn report_end_of_game(&mut self, score: Score) {
        if self.job.is_reported {
            self.send_event(SearchEvent::Iteration(Report {
                depth: 0,
                selective_depth: 0,
                score,
                bound: Bound::Exact,
                elapsed: self.job.clock.elapsed(),
                nodes: 0,
                pv: Vec::new(),
                multi_pv: 1,
                hash_full: 0,
                tablebase_hits: 0,
                book: None,
            }));
        }
    }

    fn iterate(&mut self, depth: Depth, result: &mut SearchResult) {
        self.show(|_| SearchStep::Iteration(depth));
        self.reset_scores();
        self.move_book_move_first(depth);
        self.search_lines(depth);
        self.take_best(depth, result);
    }

    fn reset_scores(&self) {
        for root_move in self.job.root_moves().iter_mut() {
            if root_move.score > -INFINITY {
                root_move.previous = root_move.score;
            }
            root_move.score = -INFINITY;
        }
    }

    fn search_lines(&mut self, depth: Depth) {
        let lines = self.job.lines();
        for index in 0..lines {
            self.selective_depth = 0;
            self.show(|_| SearchStep::Line(index + 1));
            self.job.line.store(index, Relaxed);
            let bound = self.aspirate(depth, index);
            self.job.root_moves()[index..].sort_by_key(|root_move| -root_move.score);
            if self.is_interrupted() {
                return;
            }
            self.report(depth, index, bound);
        }
        self.job.root_moves()[..lines].sort_by_key(|root_move| -root_move.score);
        self.report_reordered_lines(depth);
    }

    /// Repeats the report of each multi-PV rank whose last report showed a different move.
    /// Otherwise, the last reports for two ranks could show the same move.
    ///
    /// The order of the lines changes if a later line is better, or if the iteration stops between
    /// lines.
    fn report_reordered_lines(&mut self, depth: Depth) {
        let lines = self.job.lines();
        if lines == 1 || !self.job.is_reported {
            return;
        }
        for index in 0..lines {
            let mut found = self.job.root_moves()[index].clone();
            let mut reached = depth;
            if found.score == -INFINITY {
                (found.score, reached) = (found.previous, depth - 1);
            }
            let is_reported = self.reported.get(index) == Some(&Some(found.mv));
            if !is_reported && found.score > -INFINITY {
                let bound = found.bound;
                let report = self.report_of(found, reached, index, bound);
                self.send_event(SearchEvent::NewBest(report));
            }
        }
    }

    /// Searches the root with an aspiration window around the last score, widened after each
    /// failure.
    ///
    /// Returns the bound type of the final score: exact, unless a search for mates finds none.
    fn aspirate(&mut self, depth: Depth, index: usize) -> Bound {
        if let Some(least) = self.job.limits.min_mate() {
            // Alpha is one lower than necessary. Otherwise, the window would be null near the score
            // of the longest permitted mate, and a null-window search returns no line.
            let score = self.search_root(depth, Window::new(least - 2, INFINITY), index);
            return if score >= least { Bound::Exact } else { Bound::Upper };
        }
        let expected = self.job.root_moves()[index].previous;
        let mut width = c::aspiration_width();
        let mut window = Window::FULL;
        if depth >= ASPIRATION_DEPTH && expected > -INFINITY && !is_decided(expected) {
            window = around(expected, width);
        }
        loop {
            let score = self.search_root(depth, window, index);
            if self.is_interrupted() {
                return Bound::Exact;
            }
            self.job.root_moves()[index..].sort_by_key(|root_move| -root_move.score);
            let bound = if score <= window.alpha && window.alpha > -INFINITY {
                window.beta = (window.alpha + window.beta) / 2;
                window.alpha = widened(score - width, -1, width);
                Bound::Upper
            } else if score >= window.beta && window.beta < INFINITY {
                window.beta = widened(score + width, 1, width);
                Bound::Lower
            } else {
                return Bound::Exact;
            };
            width *= 2;
            if self.job.clock.elapsed() >= FAILS_REPORTED_FROM {
                self.report(depth, index, bound);
            }
        }
    }

    fn search_root(&mut self, depth: Depth, window: Window, index: usize) -> Score {
        let moves: Vec<Move> =
            self.job.root_moves()[index..].iter().map(|root_move| root_move.mv).collect();
        let root = self.job.root;
        let table = self.table_entry(&root, 0);
        let table = self.book_ending.known.map_or(table, |known| Some(deeper(known, table)));
        self.set_reason(SearchReason::Root);
        self.show_entry(&root, 0, depth, window, false);
        self.evaluator.prepare(&root, 0);
        let mut node = Node { pv: true, ..self.assess(&root, 0, depth, window, false, table) };
        self.note_threats(&mut node);
        let mut moves = moves.into_iter();
        let progress = self.search_moves(&node, &mut MoveSource::List(&mut moves), 0);
        let score = match self.is_interrupted() {
            true => self.ended(NodeEnd::Interrupted, 0),
            false => self.finish_node(&node, &progress),
        };
        self.show_leave(score)
    }

    /// Adjusts the `score` of a root move to its result in the endgame tables. `next` is the
    /// position after the move.
    ///
    /// If `next` is already drawn by the rules or by repetition, the score is unchanged, because
    /// the tables ignore earlier positions in the game. For a tablebase draw, only proven wins and
    /// losses are adjusted; other scores still rank the drawing moves.
    pub(super) fn by_endgames(&self, mv: Move, next: &Position, score: Score) -> Score {
        let root_moves = self.job.root_moves();
        let found = root_moves.iter().find(|root_move| root_move.mv == mv);
        let Some(known) = found.and_then(|found| found.endgame) else { return score };
        drop(root_moves);
        if self.is_draw(next) {
            return score;
        }
        let win = TABLEBASE_WIN - (known.distance() as Score).min(MAX_PLY as Score);
        match known.outcome {
            TablebaseResult::Win => score.max(win),
            TablebaseResult::Draw => score.clamp(-MAX_EVAL, MAX_EVAL),
            TablebaseResult::Loss => score.min(-win),
        }
    }

    /// Records the result of a root move. Keeps its score only if it is the first move or raises
    /// alpha. A new best move is reported immediately.
    pub(super) fn note_root_move(&mut self, node: &Node, mv: Move, score: Score, facts: MoveFacts) {
        let nodes = self.take_nodes();
        let mut root_moves = self.job.root_moves();
        let Some(place) = root_moves.iter().position(|root_move| root_move.mv == mv) else {
            return;
        };
        let root_move = &mut root_moves[place];
        root_move.nodes += nodes;
        if facts.number > 1 && score <= facts.alpha {
            root_move.score = -INFINITY;
            return;
        }
        root_move.score = score;
        root_move.bound = match score {
            _ if score >= node.window.beta => Bound::Lower,
            _ if score <= node.window.alpha => Bound::Upper,
            _ => Bound::Exact,
        };
        root_move.pv.clear();
        root_move.pv.push(mv);
        root_move.pv.extend_from_slice(self.pv_table[1].moves());
        let index = self.job.line.load(Relaxed);
        let rivals = &root_moves[index..];
        let is_best = rivals.iter().all(|rival| rival.mv == mv || rival.score < score);
        let is_new_line = facts.number > 1 && is_best && node.depth >= FIRST_NEWS_DEPTH;
        if is_new_line && self.job.is_reported {
            let found = root_moves[place].clone();
            drop(root_moves);
            let bound = found.bound;
            let report = self.report_of(found, node.depth, index, bound);
            self.send_event(SearchEvent::NewBest(report));
        }
    }

    /// Adds the nodes that this thread searched as a helper to the node count of the root move that
    /// it helped to search.
    pub(super) fn note_help(&mut self) {
        let nodes = self.take_nodes();
        let Some(mv) = self.stack[0].mv else { return };
        let mut root_moves = self.job.root_moves();
        let helped = root_moves.iter_mut().find(|root_move| root_move.mv == mv);
        helped.into_iter().for_each(|root_move| root_move.nodes += nodes);
    }

    pub(super) fn report_root_move(&mut self, mv: Move, number: usize, depth: Depth) {
        let elapsed = self.job.clock.elapsed();
        if self.id == 0 && self.job.is_reported && elapsed >= ROOT_MOVES_REPORTED_FROM {
            let of = self.job.root_moves().len();
            let nodes = self.job.nodes();
            self.send_event(SearchEvent::RootMove { mv, number, of, depth, nodes, elapsed });
        }
    }

    fn take_best(&self, depth: Depth, result: &mut SearchResult) {
        let root_moves = self.job.root_moves();
        let best = &root_moves[0];
        if depth <= self.book_ending.settled {
            return;
        }
        if best.score > -INFINITY {
            if best.bound == Bound::Exact {
                result.score = best.score;
            }
            result.best = Some(best.mv);
            result.ponder = best.pv.get(1).copied();
            result.book = None;
        }
        if !self.job.control.is_stopped() {
            result.depth = depth;
        }
    }

    /// Reports line `index` after an iteration or a failed aspiration window.
    fn report(&mut self, depth: Depth, index: usize, bound: Bound) {
        if self.job.is_reported {
            let root_move = self.job.root_moves()[index].clone();
            let report = self.report_of(root_move, depth, index, bound);
            self.send_event(SearchEvent::Iteration(report));
        }
    }

    fn report_of(&self, found: RootMove, depth: Depth, index: usize, bound: Bound) -> Report {
        let (score, bound) = match found.is_known_draw() {
            true => (DRAW, Bound::Exact),
            false => (found.score, bound),
        };
        Report {
            depth,
            selective_depth: self.selective_depth,
            score,
            bound,
            elapsed: self.job.clock.elapsed(),
            nodes: self.job.nodes(),
            book: self.pv_enters_book(&found.pv),
            pv: found.pv,
            multi_pv: index + 1,
            hash_full: self.job.table.full(),
            tablebase_hits: self.job.tablebase_hits.load(Relaxed),
        }
    }

    /// If the principal variation consists only of the best move, as after a fail high, takes the
    /// expected reply from the transposition table.
    fn expect_reply(&self, result: &mut SearchResult) {
        let Some(best) = result.best.filter(|_| result.ponder.is_none()) else { return };
        let next = self.job.root.play(best);
        let entry = self.job.table.probe(self.table_key(&next), &next, 1);
        result.ponder = entry.and_then(|entry| entry.mv);
    }

    /// If the best move leads to a draw according to the tablebases, sets the score of `result` to
    /// a draw.
    fn call_known_draw(&self, result: &mut SearchResult) {
        let root_moves = self.job.root_moves();
        let best = root_moves.iter().find(|root_move| Some(root_move.mv) == result.best);
        if best.is_some_and(RootMove::is_known_draw) {
            result.score = DRAW;
        }
    }

    fn report_final(&mut self, result: &SearchResult) {
        if !self.job.is_reported {
            return;
        }
        if let Some(found) = &result.book {
            self.send_event(SearchEvent::Transposition(found.clone()));
        }
        let Some(best) = result.best else { return };
        self.flush_events();
        if result.book.is_none() && self.reported.first() == Some(&Some(best)) {
            return;
        }
        let root_moves = self.job.root_moves();
        let Some(found) = root_moves.iter().find(|root_move| root_move.mv == best) else { return };
        let mut found = found.clone();
        drop(root_moves);
        let is_unfinished = found.bound != Bound::Exact && found.score > -INFINITY;
        if !is_unfinished || result.book.is_some() {
            found.score = result.score;
        }
        if let Some(book) = self.decisive_match() {
            found.pv.clone_from(&book.line);
        }
        let bound = found.bound;
        let report = self.report_of(found, result.depth, 0, bound);
        self.send_event(SearchEvent::NewBest(report));
    }

    fn effort(&self) -> f64 {
        let root_moves = self.job.root_moves();
        let all: u64 = root_moves.iter().map(|root_move| root_move.nodes).sum();
        root_moves[0].nodes as f64 / all.max(1) as f64
    }

    /// Whether the search should end because a mate was found, a limit was reached, or another
    /// iteration would not be worth its time.
    fn is_decided(&self, depth: Depth, result: &SearchResult, stability: Stability) -> bool {
        let job = self.job;
        // Quiescence may find a mate beyond the nominal depth, but stores no line to it. A mate
        // therefore counts only once the depth covers all of it.
        let found = job
            .limits
            .min_mate()
            .is_some_and(|least| result.score >= least && depth >= mate_in(0) - result.score);
        if found || job.limits.soft_nodes.is_some_and(|limit| job.nodes() >= limit) {
            return true;
        }
        if !job.clock.is_flexible() {
            return false;
        }
        let forced = job.root_moves().len() == 1 && depth >= FORCED_MOVE_DEPTH;
        let mated = mate_distance(result.score).is_some_and(|moves| 2 * moves.abs() <= depth);
        let settled = forced || mated;
        (settled && !job.clock.is_pondering(&job.control))
            || job.clock.is_enough(&job.control, stability)
    }

    /// Waits until pondering has ended (by a ponder hit or a stop) and the minimum time has passed.
    fn wait_for_permission(&self) {
        let job = self.job;
        job.control
            .wait_while(|| job.clock.is_pondering(&job.control) && !job.control.is_stopped());
        let early = job.limits.min_time.saturating_sub(job.clock.elapsed());
        job.control.wait_until(Instant::now() + early);
    }
}

fn around(score: Score, width: Score) -> Window {
    Window::new((score - width).max(-INFINITY), (score + width).min(INFINITY))
}

/// Returns `bound`, or infinity with the sign of `side` if the window has become too wide.
fn widened(bound: Score, side: Score, width: Score) -> Score {
    if width > ASPIRATION_MAX { side * INFINITY } else { bound.clamp(-INFINITY, INFINITY) }
}
