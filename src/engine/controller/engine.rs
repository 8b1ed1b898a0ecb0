//! The engine as one state machine: what is wanted, and one function that makes it so.
//!
//! Every request changes what is wanted (the game, the side to play, analysis, pondering) and
//! ends with [`Engine::reconcile`], which compares it with the search that runs, if any, and
//! starts, keeps, turns or cancels it. No request needs to know in what mode it comes.

use std::time::{Duration, Instant};

use crossbeam::channel::{Receiver, Sender};

use crate::chess::position::{Color, Game, IllegalMove, Move, Position};
use crate::chess::score::{Depth, Score};
use crate::games::book::Book;
use crate::games::pgn::GameResult;

use super::book_loader::BookLoader;
use super::clock::{Clocks, Level};
use super::desired_state::{DesiredState, Purpose};
use super::event::Event;
use super::job::RunningSearch;
use super::learning::Learning;
use super::pings::Pings;
use super::settings::{OpenLog, SettingError, Settings};
use super::strength::new_seed;
use super::worker::{BackgroundEvent, MakeBackend, SearchThread};

/// What the engine is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// It plays neither side.
    Force,
    /// It waits for the opponent's move.
    Waiting,
    /// It looks for its own move.
    Thinking,
    /// It thinks on the opponent's time.
    Pondering,
    /// It analyses.
    Analysing,
}

/// The clocks as reported by the GUI since the last move.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ReportedClocks {
    pub(super) own: Option<Duration>,
    pub(super) opponent: Option<Duration>,
}

/// A chess engine: a game, settings, clocks, a book and a search thread.
///
/// The owner waits for [`Engine::background_event`], hands them to [`Engine::receive`], and takes what there
/// is to tell with [`Engine::take_events`], after that and after every request.
pub(crate) struct Engine {
    pub(super) game: Game,
    pub(super) desired: DesiredState,
    pub(super) clocks: Clocks,
    pub(super) reported_clocks: ReportedClocks,
    /// When the side to move got the turn.
    pub(super) turn_began: Instant,
    pub(super) depth_limit: Option<Depth>,
    pub(super) settings: Settings,
    pub(super) book_loader: BookLoader,
    pub(super) learning: Learning,
    pub(super) worker: SearchThread,
    pub(super) job: Option<RunningSearch>,
    /// The scores of the engine's own moves in this game that were searched.
    pub(super) scores: Vec<Score>,
    pub(super) draw_offered: bool,
    /// Seed of the errors of a limited strength; another in each game.
    pub(super) seed: u64,
    /// The search that is still to begin is to end at once.
    pub(super) hurry: bool,
    pub(super) pings: Pings,
    pub(super) open_log: OpenLog,
    pub(super) events: Vec<Event>,
}

impl Engine {
    /// An engine at the start of a game that plays Black. Nothing is opened from its setting: the
    /// book is given, network and endgame tables by [`Settings::open_usable`].
    ///
    /// # Errors
    /// If no thread can be started.
    pub(crate) fn new(
        make: MakeBackend,
        mut settings: Settings,
        book: Book,
    ) -> Result<Self, SettingError> {
        settings.search.book = Some(book.clone());
        let worker = SearchThread::start(make, settings.search.clone());
        let mut engine = Engine {
            game: Game::default(),
            desired: DesiredState { side: Some(Color::Black), ..DesiredState::default() },
            clocks: Clocks::default(),
            reported_clocks: ReportedClocks::default(),
            turn_began: Instant::now(),
            depth_limit: None,
            book_loader: BookLoader::new(book),
            learning: Learning::default(),
            worker: worker.map_err(|error| SettingError::Start(error.to_string()))?,
            job: None,
            scores: Vec::new(),
            draw_offered: false,
            seed: new_seed(),
            hurry: false,
            pings: Pings::default(),
            open_log: Box::new(|_| Ok(())),
            events: Vec::new(),
            settings,
        };
        engine.start_learning();
        Ok(engine)
    }

    /// Where events of the search come in.
    pub(crate) fn background_events(&self) -> &Receiver<BackgroundEvent> {
        self.worker.background_events()
    }

    /// Where its owner can add to the news.
    pub(crate) fn event_sender(&self) -> Sender<BackgroundEvent> {
        self.worker.event_sender()
    }

    /// What there is to tell since this was last asked.
    pub(crate) fn take_events(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.events)
    }

    /// The game so far.
    pub(crate) fn game(&self) -> &Game {
        &self.game
    }

    /// The current position.
    pub(crate) fn position(&self) -> &Position {
        self.game.position()
    }

    /// Whether the last position that was set up was illegal; all moves are until the next one.
    pub(crate) fn is_broken(&self) -> bool {
        self.desired.broken
    }

    /// What the user has set.
    pub(crate) fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The clocks.
    pub(crate) fn clocks(&self) -> &Clocks {
        &self.clocks
    }

    /// The side that the engine plays.
    pub(crate) fn side(&self) -> Option<Color> {
        self.desired.side
    }

    /// What the engine is doing.
    pub(crate) fn mode(&self) -> Mode {
        match self.purpose() {
            Some(Purpose::Analyse) => Mode::Analysing,
            Some(Purpose::Think | Purpose::Ordered) => Mode::Thinking,
            Some(Purpose::Ponder(_)) => Mode::Pondering,
            None if self.desired.analysing => Mode::Analysing,
            None if self.desired.side.is_none() => Mode::Force,
            None => Mode::Waiting,
        }
    }

    /// Whether all orders are done but the search that may run.
    pub(crate) fn is_settled(&self) -> bool {
        self.worker.is_settled() && !self.book_loader.is_opening() && !self.learning.is_reading()
    }

    /// Whether all that was to be learnt is written down besides.
    pub(crate) fn is_done(&self) -> bool {
        self.is_settled() && self.learning.is_written()
    }

    /// Begins a new game that the engine plays as Black; analysis goes on if there is one.
    pub(crate) fn new_game(&mut self) {
        self.depth_limit = None;
        self.seed = new_seed();
        self.clocks.restart();
        self.reported_clocks = ReportedClocks::default();
        self.desired.paused = false;
        self.worker.new_game();
        self.read_what_was_learnt();
        self.set_up(Position::start());
        self.desired.side = (!self.desired.analysing).then_some(Color::Black);
        self.reconcile();
    }

    /// Sets up a position. If the engine plays, it plays the side that is not to move.
    pub(crate) fn set_position(&mut self, position: Position) {
        self.set_up(position);
        self.wait();
        self.reconcile();
    }

    fn set_up(&mut self, position: Position) {
        self.game = Game::new(position);
        self.learning.board_was_set();
        self.desired.broken = false;
        self.scores.clear();
        self.changed();
    }

    /// The GUI shows a position that is none: nothing can be played until the next one.
    pub(crate) fn set_illegal_position(&mut self) {
        self.desired.broken = true;
        self.changed();
        self.reconcile();
    }

    /// Makes a move of the user. Unless in force mode or analysing, the engine answers it.
    ///
    /// # Errors
    /// If the move is illegal, or it is the engine's turn.
    pub(crate) fn play(&mut self, mv: Move) -> Result<(), IllegalMove> {
        if self.desired.broken || matches!(self.purpose(), Some(Purpose::Think)) {
            return Err(IllegalMove(mv));
        }
        let mover = self.position().side_to_move();
        self.game.play(mv)?;
        self.charge(mover);
        let hit = self.job.as_mut().is_some_and(|job| job.hit(mv, self.desired.revision));
        self.changed();
        if hit {
            let revision = self.desired.revision;
            self.job.iter_mut().for_each(|job| job.revision = revision);
        }
        if self.desired.side.is_some() {
            self.desired.side = Some(!mover);
            self.claim();
        }
        self.reconcile();
        Ok(())
    }

    /// Takes the mover's time from his clock.
    pub(super) fn charge(&mut self, mover: Color) {
        self.clocks.charge(mover, self.turn_began.elapsed(), self.game.moves().len());
    }

    /// Tells if the game is over now, and lets it rest then.
    pub(super) fn claim(&mut self) {
        if let Some(outcome) = self.game.outcome() {
            self.desired.over = true;
            self.learn_game(GameResult::won_by(outcome.winner));
            self.events.push(Event::Over(outcome));
        }
    }

    /// Plays neither side.
    pub(crate) fn force(&mut self) {
        self.desired.side = None;
        self.reconcile();
    }

    /// Plays the side to move, at once. A game that is over already is told to be.
    pub(crate) fn go(&mut self) {
        self.take_side(self.position().side_to_move());
        if self.position().has_no_moves() {
            self.claim();
        }
        self.turn_began = Instant::now();
        self.reconcile();
    }

    /// Plays the side that is not to move.
    pub(crate) fn play_other(&mut self) {
        self.take_side(!self.position().side_to_move());
        self.reconcile();
    }

    fn take_side(&mut self, side: Color) {
        self.desired.side = Some(side);
        self.desired.analysing = false;
        self.desired.paused = false;
        self.desired.over = false;
    }

    /// Plays the side that is not to move, if any: after a change of the board that was no move,
    /// the user has the turn.
    fn wait(&mut self) {
        if self.desired.side.is_some() {
            self.desired.side = Some(!self.position().side_to_move());
        }
    }

    /// Takes back so many moves; returns whether there were as many. Otherwise none is taken back.
    pub(crate) fn undo(&mut self, plies: usize) -> bool {
        if self.desired.broken || self.game.moves().len() < plies {
            return false;
        }
        for _ in 0..plies {
            self.game.undo();
        }
        self.changed();
        self.wait();
        self.reconcile();
        true
    }

    /// Analyses from now on.
    pub(crate) fn analyse(&mut self) {
        self.desired.side = None;
        self.desired.analysing = true;
        self.desired.paused = false;
        self.reconcile();
    }

    /// Ends the analysis, and plays neither side.
    pub(crate) fn stop_analysis(&mut self) {
        self.desired.analysing = false;
        self.reconcile();
    }

    /// Stands still; the clock of the side to move too.
    pub(crate) fn pause(&mut self) {
        if !self.desired.paused {
            let mover = self.position().side_to_move();
            let left = self.clocks.remaining(mover).saturating_sub(self.turn_began.elapsed());
            self.clocks.set(mover, left);
            self.desired.paused = true;
            self.reconcile();
        }
    }

    /// Goes on after [`Engine::pause`].
    pub(crate) fn resume(&mut self) {
        self.desired.paused = false;
        self.turn_began = Instant::now();
        self.reconcile();
    }

    /// Moves as soon as possible, if thinking.
    pub(crate) fn move_now(&mut self) {
        match &mut self.job {
            Some(job) if matches!(job.purpose, Purpose::Think | Purpose::Ordered) => {
                job.control.stop();
                if let Some(result) = job.result.take() {
                    self.finish_ordered(result);
                }
            }
            _ => {
                let desired = self.purpose();
                self.hurry = matches!(desired, Some(Purpose::Think | Purpose::Ordered));
            }
        }
    }

    /// The opponent offers a draw. While thinking, the answer comes with the move.
    pub(crate) fn offer_draw(&mut self) {
        if self.desired.side.is_none() {
            return;
        }
        self.draw_offered = true;
        if !matches!(self.purpose(), Some(Purpose::Think)) {
            self.answer_offer();
        }
    }

    /// The game is over, whoever says so.
    pub(crate) fn end_game(&mut self, result: GameResult) {
        self.learn_game(result);
        self.desired.side = None;
        self.reconcile();
    }

    /// Leaves moves out at the root, until the position changes.
    pub(crate) fn exclude(&mut self, moves: &[Move]) {
        self.desired.excluded.extend(moves);
        self.desired.excluded.sort_unstable();
        self.desired.excluded.dedup();
        self.exclusions_changed();
    }

    /// Takes moves in again.
    pub(crate) fn include(&mut self, moves: &[Move]) {
        self.desired.excluded.retain(|mv| !moves.contains(mv));
        self.exclusions_changed();
    }

    fn exclusions_changed(&mut self) {
        self.desired.revision += 1;
        self.reconcile();
    }

    /// Sets both clocks.
    pub(crate) fn set_level(&mut self, level: Level) {
        self.clocks.set_level(level, self.game.moves().len());
        self.reported_clocks = ReportedClocks::default();
    }

    /// Gives so much time for every move.
    pub(crate) fn set_move_time(&mut self, time: Duration) {
        self.clocks.set_move_time(time);
    }

    /// Searches no deeper than this until the next game; `None` for no limit.
    pub(crate) fn set_depth(&mut self, depth: Option<Depth>) {
        self.depth_limit = depth;
    }

    /// Measures time by nodes, so many a second; 0 for the wall clock.
    pub(crate) fn set_node_rate(&mut self, nodes: u64) {
        self.clocks.set_node_rate(nodes);
    }

    /// Sets the time left on the engine's clock. It counts from the engine's next turn.
    pub(crate) fn set_own_time(&mut self, left: Duration) {
        self.reported_clocks.own = Some(left);
    }

    /// Sets the time left on the opponent's clock.
    pub(crate) fn set_opponent_time(&mut self, left: Duration) {
        self.reported_clocks.opponent = Some(left);
    }

    /// Answers with [`Event::Pong`] of this number once all requests before it are done: the move
    /// too if the engine is thinking, but not pondering and analysis.
    pub(crate) fn ping(&mut self, number: u64) {
        self.pings.add(number, self.mode() == Mode::Thinking);
        self.answer_pings();
    }

    /// The game or the moves left out have changed.
    pub(super) fn changed(&mut self) {
        self.desired.reset_for_new_position();
        self.draw_offered = false;
        self.hurry = false;
        self.turn_began = Instant::now();
    }
}
