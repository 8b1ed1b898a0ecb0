//! The engine as a state machine: a desired state, and a function that adapts the running search to
//! it.
//!
//! Every request changes the desired state (the game, the side to play, analysis, pondering) and
//! ends with [`Engine::reconcile`], which compares this state with the running search. It then
//! keeps, switches or cancels that search, or starts a new one.

mod conduct;
mod experience;
mod ordered;
mod play;
mod set_options;

use std::time::Duration;

use crossbeam::channel::Sender;

use crate::chess::position::{Color, Game, IllegalMove, Move, Position};
use crate::chess::score::Depth;
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
use super::queue::Queue;
use super::settings::{OpenLog, SettingError, Settings};
use super::strength::new_seed;
use super::worker::{BackgroundEvent, MakeBackend, SearchThread};
use play::Scores;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    Force,
    Waiting,
    Thinking,
    Pondering,
    Analysing,
}

/// A chess engine: a game, settings, clocks, a book and a search thread.
///
/// The owner passes each event from [`Engine::background_events`] to [`Engine::receive`]. After
/// each such call and after each request, the owner collects the results with
/// [`Engine::take_events`].
pub(crate) struct Engine {
    game: Game,
    desired: DesiredState,
    clocks: Clocks,
    settings: Settings,
    book_loader: BookLoader,
    learning: Learning,
    worker: SearchThread,
    job: Option<RunningSearch>,
    scores: Scores,
    seed: u64,
    pings: Pings,
    open_log: OpenLog,
    events: Vec<Event>,
    noted_self_play: bool,
}

impl Engine {
    /// Creates an engine that plays Black. The only file it opens is the learning file: the caller
    /// passes the book, and [`Settings::open_usable`] opens the network and the endgame tables.
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
            book_loader: BookLoader::new(book),
            learning: Learning::default(),
            worker: worker.map_err(|error| SettingError::Start(error.to_string()))?,
            job: None,
            scores: Scores::default(),
            seed: new_seed(),
            pings: Pings::default(),
            open_log: Box::new(|_| Ok(())),
            events: Vec::new(),
            noted_self_play: false,
            settings,
        };
        engine.start_learning();
        Ok(engine)
    }

    pub(crate) fn background_events(&self) -> &Queue<BackgroundEvent> {
        self.worker.background_events()
    }

    pub(crate) fn event_sender(&self) -> Sender<BackgroundEvent> {
        self.worker.event_sender()
    }

    pub(crate) fn take_events(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.events)
    }

    pub(crate) fn game(&self) -> &Game {
        &self.game
    }

    pub(crate) fn position(&self) -> &Position {
        self.game.position()
    }

    /// Returns true if the last position that was set up was illegal, so that no move can be
    /// played.
    pub(crate) fn is_broken(&self) -> bool {
        self.desired.broken
    }

    pub(crate) fn settings(&self) -> &Settings {
        &self.settings
    }

    pub(crate) fn clocks(&self) -> &Clocks {
        &self.clocks
    }

    pub(crate) fn side(&self) -> Option<Color> {
        self.desired.side
    }

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

    /// Returns true if the search thread has processed all requests and no file is being read. A
    /// search may still be running.
    pub(crate) fn is_settled(&self) -> bool {
        self.worker.is_settled() && !self.book_loader.is_opening() && !self.learning.is_reading()
    }

    pub(crate) fn is_done(&self) -> bool {
        self.is_settled() && self.learning.is_written()
    }

    pub(crate) fn new_game(&mut self) {
        self.desired.depth_limit = None;
        self.seed = new_seed();
        self.clocks.restart();
        self.desired.paused = false;
        self.noted_self_play = false;
        self.worker.new_game();
        self.read_what_was_learnt();
        self.set_up(Position::start());
        self.desired.side = (!self.desired.analysing).then_some(Color::Black);
        self.reconcile();
    }

    /// Sends a note that the embedded book's counts come from self-play, if such counts are about
    /// to be shown for the first time in the current game.
    fn note_self_play(&mut self, move_reason: &MoveReason) {
        let counted = match move_reason {
            MoveReason::Book(_) if self.book_loader.opponent_book().is_none() => *self.position(),
            MoveReason::Search(SearchResult { book: Some(found), .. }) => {
                found.line.iter().fold(*self.position(), |position, &mv| position.play(mv))
            }
            _ => return,
        };
        self.note_counts_of(&counted);
    }

    fn note_counts_of(&mut self, position: &Position) {
        if !self.noted_self_play && self.book_loader.book().counts_self_play(position) {
            self.noted_self_play = true;
            self.events.push(Event::Note(SELF_PLAY));
        }
    }

    /// Sets up a position. If the engine plays one side, it now plays the side that is not to move.
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

    /// Records that the position on the GUI's board is illegal. No move can be played until a legal
    /// position is set up.
    pub(crate) fn set_illegal_position(&mut self) {
        self.desired.broken = true;
        self.changed();
        self.reconcile();
    }

    /// Plays a move for the user. The engine then replies, unless it is in force mode or analysing.
    ///
    /// # Errors
    /// If the move is illegal, or if it is the engine's turn.
    pub(crate) fn play(&mut self, mv: Move) -> Result<(), IllegalMove> {
        if self.desired.broken || matches!(self.purpose(), Some(Purpose::Think)) {
            return Err(IllegalMove(mv));
        }
        let mover = self.position().side_to_move();
        self.game.play(mv)?;
        self.clocks.charge(mover, self.game.moves().len(), None);
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

    /// If the game has ended or a draw can be claimed, reports the result and stops the engine from
    /// playing on.
    fn claim(&mut self) {
        if let Some(outcome) = self.game.outcome() {
            self.desired.over = true;
            self.learn_game(GameResult::won_by(outcome.winner));
            self.events.push(Event::Over(outcome));
        }
    }

    pub(crate) fn force(&mut self) {
        self.desired.side = None;
        self.reconcile();
    }

    /// Makes the engine play the side to move and start thinking. If there are no legal moves,
    /// reports the result of the game instead.
    pub(crate) fn go(&mut self) {
        self.take_side(self.position().side_to_move());
        if self.position().has_no_moves() {
            self.claim();
        }
        self.clocks.begin_turn();
        self.reconcile();
    }

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

    /// If the engine plays one side, makes it play the side that is not to move. Called when the
    /// position changes other than by a move.
    fn wait(&mut self) {
        if self.desired.side.is_some() {
            self.desired.side = Some(!self.position().side_to_move());
        }
    }

    /// Takes back `plies` plies. If fewer have been played, changes nothing and returns `false`.
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

    pub(crate) fn analyse(&mut self) {
        self.desired.side = None;
        self.desired.analysing = true;
        self.desired.paused = false;
        self.reconcile();
    }

    pub(crate) fn stop_analysis(&mut self) {
        self.desired.analysing = false;
        self.reconcile();
    }

    pub(crate) fn pause(&mut self) {
        if !self.desired.paused {
            let mover = self.position().side_to_move();
            self.clocks.pause(mover);
            self.desired.paused = true;
            self.reconcile();
        }
    }

    pub(crate) fn resume(&mut self) {
        self.desired.paused = false;
        self.clocks.begin_turn();
        self.reconcile();
    }

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
                self.desired.hurry = matches!(desired, Some(Purpose::Think | Purpose::Ordered));
            }
        }
    }

    /// Handles a draw offer from the opponent. If the engine is thinking, it answers the offer when
    /// it moves.
    pub(crate) fn offer_draw(&mut self) {
        if self.desired.side.is_none() {
            return;
        }
        self.desired.draw_offered = true;
        if !matches!(self.purpose(), Some(Purpose::Think)) {
            self.answer_offer();
        }
    }

    pub(crate) fn end_game(&mut self, result: GameResult) {
        self.learn_game(result);
        self.desired.side = None;
        self.reconcile();
    }

    pub(crate) fn exclude(&mut self, moves: &[Move]) {
        self.desired.excluded.extend(moves);
        self.desired.excluded.sort_unstable();
        self.desired.excluded.dedup();
        self.exclusions_changed();
    }

    pub(crate) fn include(&mut self, moves: &[Move]) {
        self.desired.excluded.retain(|mv| !moves.contains(mv));
        self.exclusions_changed();
    }

    fn exclusions_changed(&mut self) {
        self.desired.revision += 1;
        self.reconcile();
    }

    pub(crate) fn set_level(&mut self, level: Level) {
        self.clocks.set_level(level, self.game.moves().len());
    }

    pub(crate) fn set_move_time(&mut self, time: Duration) {
        self.clocks.set_move_time(time);
    }

    /// Limits the search depth, in plies, until the next game; `None` removes the limit.
    pub(crate) fn set_depth(&mut self, depth: Option<Depth>) {
        self.desired.depth_limit = depth;
    }

    pub(crate) fn set_node_rate(&mut self, nodes: u64) {
        self.clocks.set_node_rate(nodes);
    }

    /// Sets the time remaining on the engine's clock. It takes effect at the engine's next turn.
    pub(crate) fn set_own_time(&mut self, left: Duration) {
        self.clocks.report_own(left);
    }

    pub(crate) fn set_opponent_time(&mut self, left: Duration) {
        self.clocks.report_opponent(left);
    }

    /// Sends [`Event::Pong`] with this number once all earlier requests are complete. If the engine
    /// is thinking, it first makes its move. Pondering and analysis do not delay the answer.
    pub(crate) fn ping(&mut self, number: u64) {
        self.pings.add(number, self.mode() == Mode::Thinking);
        self.answer_pings();
    }

    pub(crate) fn has_pings(&self) -> bool {
        !self.pings.is_empty()
    }

    fn changed(&mut self) {
        self.desired.reset_for_new_position();
        self.clocks.begin_turn();
    }
}
