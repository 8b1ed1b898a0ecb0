//! Starts, switches and cancels the search, and handles its events.

use std::time::{Duration, Instant};

use crate::chess::position::{Color, Game, Move, Position};
use crate::engine::search::{
    self, Control, Limits, MOVE_OVERHEAD, Report, SearchResult, TimeLimit, Transposition,
};

use super::super::clock::less_overhead;
use super::super::desired_state::{NextStep, Purpose, Running, step};
use super::super::event::{Event, Expected, SearchProgress, Transposed};
use super::super::job::{RunningSearch, SearchStatus};
use super::super::strength::{Strength, pause};
use super::super::worker::BackgroundEvent;
use super::{Engine, Mode};

/// After a ponder hit, the search continues only if the engine's clock shows at least this
/// percentage of the time that was assumed when the search started.
const TRUSTED_CLOCK: u32 = 75;

impl Engine {
    pub(super) fn purpose(&self) -> Option<Purpose> {
        self.desired.purpose(self.position(), self.settings.ponder)
    }

    fn running(&self) -> Option<Running> {
        let job = self.job.as_ref()?;
        let expected = self.game.moves().last().copied().map(Purpose::Ponder);
        let is_hit = expected == Some(job.purpose) && self.clock_is_right(job);
        let is_current = job.revision == self.desired.revision;
        Some(Running { purpose: job.purpose, is_current, is_hit })
    }

    /// Compares the running search with the desired one. If they differ, switches, cancels or
    /// replaces the running search.
    pub(super) fn reconcile(&mut self) {
        self.answer_pings();
        match step(self.running(), self.purpose()) {
            NextStep::Keep => {}
            NextStep::Turn => self.turn_ponder_search(),
            NextStep::Begin(purpose) => {
                self.cancel();
                // The engine must answer an earlier ping before it moves.
                let may_begin = self.is_settled() && (self.pings.is_empty() || self.is_done());
                if let Some(purpose) = purpose.filter(|_| may_begin) {
                    self.begin(purpose);
                }
            }
        }
    }

    /// Answers the pings that are due. This must be called before a search starts.
    pub(super) fn answer_pings(&mut self) {
        let due = self.pings.take_due(self.mode() == Mode::Thinking, self.is_done());
        self.events.extend(due.into_iter().map(Event::Pong));
    }

    pub(super) fn cancel(&mut self) {
        self.learn_called_off();
        if let Some(job) = self.job.take() {
            job.control.stop();
        }
    }

    /// Returns true if the engine's clock shows roughly the time that was assumed when the ponder
    /// search started, or more. Also returns true if the GUI has not reported the time.
    fn clock_is_right(&self, job: &RunningSearch) -> bool {
        match (job.time, self.clocks.reported_own()) {
            (TimeLimit::Clock { remaining, .. }, Some(reported)) => {
                reported >= remaining * TRUSTED_CLOCK / 100
            }
            _ => true,
        }
    }

    fn turn_ponder_search(&mut self) {
        self.clocks.apply_reported(self.position().side_to_move());
        let Some(job) = &mut self.job else { return };
        job.purpose = Purpose::Think;
        job.control.ponder_hit();
        if let Some(result) = job.result.take() {
            let result = self.learn_result(result);
            self.job = None;
            self.play_found(result);
        }
    }

    fn begin(&mut self, purpose: Purpose) {
        let mut game = self.game.clone();
        match purpose {
            Purpose::Think => {
                self.clocks.apply_reported(self.position().side_to_move());
                if self.play_known() {
                    return;
                }
            }
            Purpose::Ponder(expected) => {
                if game.play(expected).is_err() || self.has_known_move(purpose, &game) {
                    return;
                }
                let position = *self.position();
                self.events.push(Event::Pondering(Expected { position, mv: expected }));
            }
            Purpose::Ordered if self.find_known() => return,
            Purpose::Ordered | Purpose::Analyse => {}
        }
        self.order(purpose, game);
    }

    fn has_known_move(&self, purpose: Purpose, game: &Game) -> bool {
        self.book_loader.has_move(game, &self.settings, self.learning.book())
            || self.found_before(purpose, game).is_some()
    }

    fn order(&mut self, purpose: Purpose, game: Game) {
        let mut limits = self.limits(purpose, &game);
        let subject = self.subject(&game, &limits);
        let refuted = self.leave_out_refuted(&game, &mut limits);
        let control = Control::new();
        let time = limits.time;
        if std::mem::take(&mut self.desired.hurry) {
            control.stop();
        }
        let number = self.worker.search(game, limits, control.clone());
        let of = self.desired.root_moves(self.position()).len();
        self.job = Some(RunningSearch {
            number,
            purpose,
            revision: self.desired.revision,
            control,
            time,
            started: Instant::now(),
            status: SearchStatus { of, ..SearchStatus::default() },
            report: None,
            subject,
            refuted,
            completed: None,
            learnt_at: Duration::ZERO,
            result: None,
        });
    }

    pub(super) fn limits(&self, purpose: Purpose, game: &Game) -> Limits {
        if let Some(limits) = &self.desired.ordered {
            let limits = Limits { time: self.less_overhead(limits.time), ..limits.clone() };
            let is_free = limits.is_analysis() || limits.mate.is_some();
            return if is_free { limits } else { self.weakened(limits, game) };
        }
        if purpose == Purpose::Analyse {
            let root_moves = match self.desired.excluded.is_empty() {
                true => Vec::new(),
                false => self.desired.root_moves(self.position()),
            };
            let multi_pv = self.settings.lines.unsigned_abs() as usize;
            return Limits { root_moves, multi_pv, ..Limits::default() };
        }
        let side: Color = game.position().side_to_move();
        let (time, nodes) = self.clocks.limit(side, game.moves().len());
        let time = self.less_overhead(time);
        let ponder = matches!(purpose, Purpose::Ponder(_));
        let limits =
            Limits { depth: self.desired.depth_limit, nodes, time, ponder, ..Limits::default() };
        self.weakened(limits, game)
    }

    /// Subtracts the part of the move overhead setting that the search does not already reserve.
    fn less_overhead(&self, time: TimeLimit) -> TimeLimit {
        let desired = Duration::from_millis(self.settings.overhead.unsigned_abs());
        less_overhead(time, desired.saturating_sub(MOVE_OVERHEAD))
    }

    fn weakened(&self, limits: Limits, game: &Game) -> Limits {
        let Some(rating) = self.rating() else { return limits };
        let seed = match self.settings.seed {
            0 => self.seed,
            set => set.unsigned_abs(),
        };
        let weakened = Strength::of(rating).limit_search(limits, seed);
        match self.settings.pauses {
            true => Limits { min_time: pause(game, weakened.time, seed), ..weakened },
            false => weakened,
        }
    }

    pub(crate) fn receive(&mut self, background_event: BackgroundEvent) {
        self.worker.note(&background_event);
        match background_event {
            BackgroundEvent::Settled => self.reconcile(),
            BackgroundEvent::OwnerProgress => {}
            BackgroundEvent::Fault(fault) => {
                log::error!("{fault}");
                self.events.push(Event::Fault(fault));
            }
            BackgroundEvent::Opened { number, book } => self.set_book(number, book),
            BackgroundEvent::OpponentBookLoaded { number, opponent_book } => {
                self.set_opponent_book(number, opponent_book);
            }
            BackgroundEvent::Kept => {
                self.learning.kept();
                self.reconcile();
            }
            BackgroundEvent::Learned { number, learned } => self.set_learned(number, learned),
            BackgroundEvent::Progress { job, event } => {
                if let Some(current) = self.job.as_mut().filter(|current| current.number == job) {
                    current.note(&event);
                    self.learn_interim(&event);
                    match event {
                        search::SearchEvent::Iteration(report)
                        | search::SearchEvent::NewBest(report) => {
                            self.report(report);
                        }
                        search::SearchEvent::Transposition(found) => self.transposed(found),
                        search::SearchEvent::RootMove { .. } => (),
                    }
                }
            }
            BackgroundEvent::Finished { job, result } => {
                if self.job.as_ref().is_some_and(|current| current.number == job) {
                    self.search_ended(result);
                }
            }
        }
    }

    fn search_ended(&mut self, result: SearchResult) {
        let Some(job) = &mut self.job else { return };
        match job.purpose {
            Purpose::Think => {
                let result = self.learn_result(result);
                self.job = None;
                self.play_found(result);
            }
            Purpose::Ordered => self.ordered_search_ended(result),
            Purpose::Ponder(_) => job.result = Some(result),
            Purpose::Analyse => {
                let result = self.learn_result(result);
                self.job.iter_mut().for_each(|job| job.result = Some(result.clone()));
            }
        }
    }

    fn transposed(&mut self, found: Transposition) {
        let Some(job) = &self.job else { return };
        let report = job.report.clone();
        let position = match job.purpose {
            Purpose::Ponder(expected) => self.position().play(expected),
            _ => *self.position(),
        };
        let end = found.line.iter().fold(position, |position, &mv| position.play(mv));
        self.note_counts_of(&end);
        let more = if self.is_analysis_running() {
            self.book_loader.describe(&end)
        } else {
            String::new()
        };
        self.events.push(Event::Transposed(Transposed { position, found, report, more }));
    }

    fn is_analysis_running(&self) -> bool {
        let ordered = self.desired.ordered.as_ref();
        self.mode() == Mode::Analysing || ordered.is_some_and(Limits::is_analysis)
    }

    fn report(&mut self, report: Report) {
        let Some(job) = &self.job else { return };
        let expected = match job.purpose {
            Purpose::Ponder(mv) => Some(mv),
            _ => None,
        };
        let position: Position = *self.position();
        self.events.push(Event::Report(SearchProgress { position, expected, report }));
    }

    pub(crate) fn status(&self) -> Option<SearchStatus> {
        let job = self.job.as_ref()?;
        Some(SearchStatus { elapsed: job.started.elapsed(), ..job.status })
    }

    /// Returns a move to suggest: the best move so far or, while the opponent is to move, the
    /// expected move. If there is none, returns the book's best move.
    pub(crate) fn hint(&self) -> Option<Move> {
        let found = || self.job.as_ref()?.report.as_ref()?.pv.first().copied();
        match self.job.as_ref().map(|job| job.purpose) {
            Some(Purpose::Ponder(expected)) => Some(expected),
            Some(Purpose::Think | Purpose::Analyse | Purpose::Ordered) => found(),
            None => self.desired.expected,
        }
        .or_else(|| self.book_loader.best_move(&self.game))
    }
}
