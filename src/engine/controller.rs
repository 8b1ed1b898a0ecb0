//! The engine as one state machine: what is wanted, and one function that makes it so.
//!
//! Every request changes what is wanted (the game, the side to play, analysis, pondering) and
//! ends with [`Engine::reconcile`], which compares it with the search that runs, if any, and
//! starts, keeps, turns or cancels it. No request needs to know in what mode it comes.

use std::time::{Duration, Instant};

use crossbeam::channel::{Receiver, Sender};

use crate::book::Book;
use crate::eval::Evaluation;
use crate::position::{Color, Game, IllegalMove, Move, Position};
use crate::score::{Depth, Score};
use crate::search::Limits;
use crate::tablebase::Tables;

use super::change::OpenLog;
use super::clock::{Clocks, Level};
use super::event::Event;
use super::job::{Job, Purpose};
use super::library::Library;
use super::pings::Pings;
use super::settings::{SettingError, Settings};
use super::worker::{MakeBackend, News, Worker};

/// What the engine is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
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

/// What the GUI has told of the clocks since the last move.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Told {
    pub(super) own: Option<Duration>,
    pub(super) opponent: Option<Duration>,
}

/// A chess engine: a game, settings, clocks, a book and a search thread.
///
/// The owner waits for [`Engine::news`], hands them to [`Engine::receive`], and takes what there
/// is to tell with [`Engine::take_events`], after that and after every request.
pub struct Engine {
    pub(super) game: Game,
    /// Raised with every change of the game or of the moves left out.
    pub(super) revision: u64,
    /// The side that the engine plays; `None` for neither.
    pub(super) side: Option<Color>,
    pub(super) analysing: bool,
    pub(super) paused: bool,
    /// The game was claimed to be over; a new request to play may go on all the same.
    pub(super) over: bool,
    /// The position on the GUI's board is illegal; the one here is an older one.
    pub(super) broken: bool,
    pub(super) excluded: Vec<Move>,
    pub(super) clocks: Clocks,
    pub(super) told: Told,
    /// When the side to move got the turn.
    pub(super) turn_began: Instant,
    pub(super) depth_limit: Option<Depth>,
    pub(super) settings: Settings,
    /// What the settings of these names have opened.
    pub(super) evaluation: Evaluation,
    pub(super) endgames: Option<Tables>,
    pub(super) library: Library,
    pub(super) worker: Worker,
    pub(super) job: Option<Job>,
    /// A search that was ordered with bounds of its own.
    pub(super) ordered: Option<Limits>,
    /// The reply that the last search expects.
    pub(super) expected: Option<Move>,
    /// The scores of the engine's own moves in this game that were searched.
    pub(super) scores: Vec<Score>,
    pub(super) draw_offered: bool,
    /// The search that is still to begin is to end at once.
    pub(super) hurry: bool,
    pub(super) pings: Pings,
    pub(super) open_log: OpenLog,
    pub(super) events: Vec<Event>,
}

impl Engine {
    /// An engine at the start of a game that plays Black. The book is not opened from its setting.
    ///
    /// # Errors
    /// If the network or the endgame tables of the settings cannot be used, or no thread be started.
    pub fn new(make: MakeBackend, settings: Settings, book: Book) -> Result<Self, SettingError> {
        let mut engine = Engine {
            game: Game::default(),
            revision: 0,
            side: Some(Color::Black),
            analysing: false,
            paused: false,
            over: false,
            broken: false,
            excluded: Vec::new(),
            clocks: Clocks::default(),
            told: Told::default(),
            turn_began: Instant::now(),
            depth_limit: None,
            evaluation: settings.evaluation()?,
            endgames: settings.endgames()?,
            library: Library::new(book),
            worker: Worker::start(make).map_err(|error| SettingError::Start(error.to_string()))?,
            job: None,
            ordered: None,
            expected: None,
            scores: Vec::new(),
            draw_offered: false,
            hurry: false,
            pings: Pings::default(),
            open_log: Box::new(|_| Ok(())),
            events: Vec::new(),
            settings,
        };
        engine.configure();
        Ok(engine)
    }

    /// Where news of the search come in.
    pub fn news(&self) -> &Receiver<News> {
        self.worker.news()
    }

    /// Where its owner can add to the news.
    pub fn outbox(&self) -> Sender<News> {
        self.worker.outbox()
    }

    /// What there is to tell since this was last asked.
    pub fn take_events(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.events)
    }

    /// The game so far.
    pub fn game(&self) -> &Game {
        &self.game
    }

    /// The current position.
    pub fn position(&self) -> &Position {
        self.game.position()
    }

    /// Whether the last position that was set up was illegal; all moves are until the next one.
    pub fn is_broken(&self) -> bool {
        self.broken
    }

    /// What the user has set.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The clocks.
    pub fn clocks(&self) -> &Clocks {
        &self.clocks
    }

    /// The side that the engine plays.
    pub fn side(&self) -> Option<Color> {
        self.side
    }

    /// What the engine is doing.
    pub fn mode(&self) -> Mode {
        match self.wanted() {
            Some(Purpose::Analyse) => Mode::Analysing,
            Some(Purpose::Think | Purpose::Ordered) => Mode::Thinking,
            Some(Purpose::Ponder(_)) => Mode::Pondering,
            None if self.analysing => Mode::Analysing,
            None if self.side.is_none() => Mode::Force,
            None => Mode::Waiting,
        }
    }

    /// Whether all orders are done but the search that may run.
    pub fn is_settled(&self) -> bool {
        self.worker.is_settled() && !self.library.is_opening()
    }

    /// Begins a new game that the engine plays as Black; analysis goes on if there is one.
    pub fn new_game(&mut self) {
        self.depth_limit = None;
        self.clocks.restart();
        self.told = Told::default();
        self.paused = false;
        self.worker.new_game();
        self.set_up(Position::start());
        self.side = (!self.analysing).then_some(Color::Black);
        self.reconcile();
    }

    /// Sets up a position. If the engine plays, it plays the side that is not to move.
    pub fn set_position(&mut self, position: Position) {
        self.set_up(position);
        self.wait();
        self.reconcile();
    }

    fn set_up(&mut self, position: Position) {
        self.game = Game::new(position);
        self.broken = false;
        self.scores.clear();
        self.changed();
    }

    /// The GUI shows a position that is none: nothing can be played until the next one.
    pub fn set_illegal_position(&mut self) {
        self.broken = true;
        self.changed();
        self.reconcile();
    }

    /// Makes a move of the user. Unless in force mode or analysing, the engine answers it.
    ///
    /// # Errors
    /// If the move is illegal, or it is the engine's turn.
    pub fn play(&mut self, mv: Move) -> Result<(), IllegalMove> {
        if self.broken || matches!(self.wanted(), Some(Purpose::Think)) {
            return Err(IllegalMove(mv));
        }
        let mover = self.position().side_to_move();
        self.game.play(mv)?;
        self.charge(mover);
        let hit = self.job.as_mut().is_some_and(|job| job.hit(mv, self.revision));
        self.changed();
        if hit {
            self.job.iter_mut().for_each(|job| job.revision = self.revision);
        }
        if self.side.is_some() {
            self.side = Some(!mover);
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
            self.over = true;
            self.events.push(Event::Over(outcome));
        }
    }

    /// Plays neither side.
    pub fn force(&mut self) {
        self.side = None;
        self.reconcile();
    }

    /// Plays the side to move, at once. A game that is over already is told to be.
    pub fn go(&mut self) {
        self.take_side(self.position().side_to_move());
        if self.position().has_no_moves() {
            self.claim();
        }
        self.turn_began = Instant::now();
        self.reconcile();
    }

    /// Plays the side that is not to move.
    pub fn play_other(&mut self) {
        self.take_side(!self.position().side_to_move());
        self.reconcile();
    }

    fn take_side(&mut self, side: Color) {
        self.side = Some(side);
        self.analysing = false;
        self.paused = false;
        self.over = false;
    }

    /// Plays the side that is not to move, if any: after a change of the board that was no move,
    /// the user has the turn.
    fn wait(&mut self) {
        if self.side.is_some() {
            self.side = Some(!self.position().side_to_move());
        }
    }

    /// Takes back so many moves; tells whether there were as many. Otherwise none is taken back.
    pub fn undo(&mut self, plies: usize) -> bool {
        if self.broken || self.game.moves().len() < plies {
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
    pub fn analyse(&mut self) {
        self.side = None;
        self.analysing = true;
        self.paused = false;
        self.reconcile();
    }

    /// Ends the analysis, and plays neither side.
    pub fn stop_analysis(&mut self) {
        self.analysing = false;
        self.reconcile();
    }

    /// Stands still; the clock of the side to move too.
    pub fn pause(&mut self) {
        if !self.paused {
            let mover = self.position().side_to_move();
            let left = self.clocks.remaining(mover).saturating_sub(self.turn_began.elapsed());
            self.clocks.set(mover, left);
            self.paused = true;
            self.reconcile();
        }
    }

    /// Goes on after [`Engine::pause`].
    pub fn resume(&mut self) {
        self.paused = false;
        self.turn_began = Instant::now();
        self.reconcile();
    }

    /// Moves as soon as possible, if thinking.
    pub fn move_now(&mut self) {
        match &mut self.job {
            Some(job) if matches!(job.purpose, Purpose::Think | Purpose::Ordered) => {
                job.control.stop();
                if let Some(result) = job.result.take() {
                    self.finish_ordered(result);
                }
            }
            _ => {
                let wanted = self.wanted();
                self.hurry = matches!(wanted, Some(Purpose::Think | Purpose::Ordered));
            }
        }
    }

    /// The opponent offers a draw. While thinking, the answer comes with the move.
    pub fn offer_draw(&mut self) {
        if self.side.is_none() {
            return;
        }
        self.draw_offered = true;
        if !matches!(self.wanted(), Some(Purpose::Think)) {
            self.answer_offer();
        }
    }

    /// The game is over, whoever says so.
    pub fn end_game(&mut self) {
        self.side = None;
        self.reconcile();
    }

    /// Leaves moves out at the root, until the position changes.
    pub fn exclude(&mut self, moves: &[Move]) {
        self.excluded.extend(moves);
        self.excluded.sort_unstable();
        self.excluded.dedup();
        self.exclusions_changed();
    }

    /// Takes moves in again.
    pub fn include(&mut self, moves: &[Move]) {
        self.excluded.retain(|mv| !moves.contains(mv));
        self.exclusions_changed();
    }

    fn exclusions_changed(&mut self) {
        self.revision += 1;
        self.reconcile();
    }

    /// Sets both clocks.
    pub fn set_level(&mut self, level: Level) {
        self.clocks.set_level(level, self.game.moves().len());
        self.told = Told::default();
    }

    /// Gives so much time for every move.
    pub fn set_move_time(&mut self, time: Duration) {
        self.clocks.set_move_time(time);
    }

    /// Searches no deeper than this until the next game; `None` for no limit.
    pub fn set_depth(&mut self, depth: Option<Depth>) {
        self.depth_limit = depth;
    }

    /// Measures time by nodes, so many a second; 0 for the wall clock.
    pub fn set_node_rate(&mut self, nodes: u64) {
        self.clocks.set_node_rate(nodes);
    }

    /// Tells what is left on the engine's clock. It counts from the engine's next turn.
    pub fn set_own_time(&mut self, left: Duration) {
        self.told.own = Some(left);
    }

    /// Tells what is left on the opponent's clock.
    pub fn set_opponent_time(&mut self, left: Duration) {
        self.told.opponent = Some(left);
    }

    /// The game or the moves left out have changed.
    pub(super) fn changed(&mut self) {
        self.revision += 1;
        self.excluded.clear();
        self.expected = None;
        self.over = false;
        self.draw_offered = false;
        self.hurry = false;
        self.turn_began = Instant::now();
    }
}
