//! The engine as a state machine: a desired state, and one function that establishes it.
//!
//! Every request changes the desired state (the game, the side to play, analysis, pondering) and
//! ends with [`Engine::reconcile`]. That function compares it with the running search, if any, and
//! starts, keeps, turns or cancels it. Requests do not depend on the current mode.

use std::time::{Duration, Instant};

use crossbeam::channel::{Receiver, Sender};

use crate::chess::position::{Color, Game, IllegalMove, Move, Position};
use crate::chess::score::{Depth, Score};
use crate::engine::search::SearchResult;
use crate::games::book::{Book, SELF_PLAY};
use crate::games::pgn::GameResult;

use super::book_loader::BookLoader;
use super::clock::{Clocks, Level};
use super::desired_state::{DesiredState, Purpose};
use super::event::{Event, MoveReason};
use super::job::RunningSearch;
use super::learning::Learning;
use super::pings::Pings;
use super::settings::{OpenLog, SettingError, Settings};
use super::strength::new_seed;
use super::worker::{BackgroundEvent, MakeBackend, SearchThread};

/// The activity of the engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Plays neither side.
    Force,
    /// Waits for the opponent's move.
    Waiting,
    /// Searches for its own move.
    Thinking,
    /// Searches on the opponent's time.
    Pondering,
    /// Analyses.
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
/// The owner waits for [`Engine::background_event`] and passes each event to [`Engine::receive`].
/// After that, and after every request, it collects events with [`Engine::take_events`].
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
    /// The scores of the engine's searched moves in this game.
    pub(super) scores: Vec<Score>,
    pub(super) draw_offered: bool,
    /// Seed of the errors of a limited strength; a new one for each game.
    pub(super) seed: u64,
    /// Whether the next search should end at once.
    pub(super) hurry: bool,
    pub(super) pings: Pings,
    pub(super) open_log: OpenLog,
    pub(super) events: Vec<Event>,
    /// Whether the note on self-play was sent in this game.
    noted_self_play: bool,
}

impl Engine {
    /// Creates an engine at the start of a game that plays Black.
    ///
    /// It opens no files: the book is passed in, network and endgame tables are opened by
    /// [`Settings::open_usable`].
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
            noted_self_play: false,
            settings,
        };
        engine.start_learning();
        Ok(engine)
    }

    /// The channel of background events.
    pub(crate) fn background_events(&self) -> &Receiver<BackgroundEvent> {
        self.worker.background_events()
    }

    /// Returns a sender for further background events.
    pub(crate) fn event_sender(&self) -> Sender<BackgroundEvent> {
        self.worker.event_sender()
    }

    /// Returns the events since the last call. @17 @18 @20 @21 @22 @23 -
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

    /// Whether the last position that was set up was illegal. If so, all moves are illegal until
    /// the next one.
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

    /// Whether all requests are complete, except a search that may be running.
    pub(crate) fn is_settled(&self) -> bool {
        self.worker.is_settled() && !self.book_loader.is_opening() && !self.learning.is_reading()
    }

    /// Whether in addition all learnt rows are written.
    pub(crate) fn is_done(&self) -> bool {
        self.is_settled() && self.learning.is_written()
    }

    /// Starts a new game, in which the engine plays Black; a running analysis continues.
    pub(crate) fn new_game(&mut self) {
        self.depth_limit = None;
        self.seed = new_seed();
        self.clocks.restart();
        self.reported_clocks = ReportedClocks::default();
        self.desired.paused = false;
        self.noted_self_play = false;
        self.worker.new_game();
        self.read_what_was_learnt();
        self.set_up(Position::start());
        self.desired.side = (!self.desired.analysing).then_some(Color::Black);
        self.reconcile();
    }

    /// Sends a note before the first counts of the embedded book in a game.
    pub(super) fn note_self_play(&mut self, move_reason: &MoveReason) {
        let counted = match move_reason {
            MoveReason::Book(_) if self.book_loader.opponent_book().is_none() => *self.position(),
            MoveReason::Search(SearchResult { book: Some(found), .. }) => {
                found.line.iter().fold(*self.position(), |position, &mv| position.play(mv))
            }
            _ => return,
        };
        self.note_counts_of(&counted);
    }

    /// Like [`Engine::note_self_play`], for the counts of a position.
    pub(super) fn note_counts_of(&mut self, position: &Position) {
        if !self.noted_self_play && self.book_loader.book().counts_self_play(position) {
            self.noted_self_play = true;
            self.events.push(Event::Note(SELF_PLAY));
        }
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

    /// Marks the GUI's position as illegal: no move can be played until the next one.
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

    /// Charges the mover's clock.
    pub(super) fn charge(&mut self, mover: Color) {
        self.clocks.charge(mover, self.turn_began.elapsed(), self.game.moves().len());
    }

    /// Reports if the game is over now, and stops playing then.
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

    /// Plays the side to move, at once. Reports a game that is already over.
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

    /// Plays the side that is not to move, if any. After a change of the board other than a move,
    /// it is the user's turn.
    fn wait(&mut self) {
        if self.desired.side.is_some() {
            self.desired.side = Some(!self.position().side_to_move());
        }
    }

    /// Takes back this many moves. If there are fewer, takes none back and returns `false`.
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

    /// Starts analysis.
    pub(crate) fn analyse(&mut self) {
        self.desired.side = None;
        self.desired.analysing = true;
        self.desired.paused = false;
        self.reconcile();
    }

    /// Stops analysis, and plays neither side.
    pub(crate) fn stop_analysis(&mut self) {
        self.desired.analysing = false;
        self.reconcile();
    }

    /// Pauses the engine and the clock of the side to move.
    pub(crate) fn pause(&mut self) {
        if !self.desired.paused {
            let mover = self.position().side_to_move();
            let left = self.clocks.remaining(mover).saturating_sub(self.turn_began.elapsed());
            self.clocks.set(mover, left);
            self.desired.paused = true;
            self.reconcile();
        }
    }

    /// Resumes after [`Engine::pause`].
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

    /// Handles a draw offer by the opponent. While thinking, the answer comes with the move.
    pub(crate) fn offer_draw(&mut self) {
        if self.desired.side.is_none() {
            return;
        }
        self.draw_offered = true;
        if !matches!(self.purpose(), Some(Purpose::Think)) {
            self.answer_offer();
        }
    }

    /// Ends the game with a result that either side may have reported.
    pub(crate) fn end_game(&mut self, result: GameResult) {
        self.learn_game(result);
        self.desired.side = None;
        self.reconcile();
    }

    /// Excludes moves at the root, until the position changes.
    pub(crate) fn exclude(&mut self, moves: &[Move]) {
        self.desired.excluded.extend(moves);
        self.desired.excluded.sort_unstable();
        self.desired.excluded.dedup();
        self.exclusions_changed();
    }

    /// Includes moves again. @46 @50 @51 -
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

    /// Sets a fixed time for every move.
    pub(crate) fn set_move_time(&mut self, time: Duration) {
        self.clocks.set_move_time(time);
    }

    /// Limits the depth until the next game; `None` for no limit.
    pub(crate) fn set_depth(&mut self, depth: Option<Depth>) {
        self.depth_limit = depth;
    }

    /// Measures time by nodes, this many per second; 0 for the wall clock.
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

    /// Answers with [`Event::Pong`] of this number once all earlier requests are complete.
    ///
    /// This includes a move the engine is thinking about, but not pondering and analysis.
    pub(crate) fn ping(&mut self, number: u64) {
        self.pings.add(number, self.mode() == Mode::Thinking);
        self.answer_pings();
    }

    /// Updates the state after the game or the excluded moves have changed.
    pub(super) fn changed(&mut self) {
        self.desired.reset_for_new_position();
        self.draw_offered = false;
        self.hurry = false;
        self.turn_began = Instant::now();
    }
}
