//! Plays a game between two engines.
//!
//! ```
//! use tabia::autoplay::play::Interrupt;
//!
//! // Ends a game from another thread or a signal handler.
//! let interrupt = Interrupt::new();
//! interrupt.trigger();
//! assert!(interrupt.is_triggered());
//! ```

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crossbeam::channel::{Receiver, Sender, TryRecvError, bounded, select};

use crate::chess::notation;
use crate::chess::position::{Color, Game, Move};
use crate::chess::score::Score;
use crate::engine::tablebase::Tables;

use super::clock::{Clock, whole_milliseconds};
use super::overhead::Overhead;
use super::player::Player;
use super::process::Line;
use super::protocol_adapter::{EngineError, PlayerEvent, SearchInfo, Setup, Turn};
use super::record::PlayedMove;
use super::referee::{Referee, Rules, judge_claim};
use super::verdict::{Termination, Verdict};

/// Lets another thread end all games in progress.
#[derive(Debug)]
pub struct Interrupt {
    /// Dropping the sender notifies all games: it closes the channel, which wakes every `select`
    /// that waits on it.
    sender: Mutex<Option<Sender<()>>>,
    receiver: Receiver<()>,
}

impl Interrupt {
    /// Creates an interrupt that has not been triggered.
    pub fn new() -> Self {
        let (sender, receiver) = bounded(0);
        Interrupt { sender: Mutex::new(Some(sender)), receiver }
    }

    /// Ends all games that share this interrupt.
    pub fn trigger(&self) {
        self.sender.lock().unwrap_or_else(PoisonError::into_inner).take();
    }

    /// Waits for the given time, but returns early if the interrupt is triggered.
    pub fn wait(&self, time: Duration) {
        // No message is ever sent, so the result is always an error: a timeout or a closed channel.
        let _ = self.receiver.recv_timeout(time);
    }

    /// Returns whether the interrupt has been triggered.
    pub fn is_triggered(&self) -> bool {
        self.receiver.try_recv() == Err(TryRecvError::Disconnected)
    }
}

impl Default for Interrupt {
    fn default() -> Self {
        Self::new()
    }
}

/// The conditions under which a game is played: adjudication rules, tablebases and the engine
/// timeout.
#[derive(Debug, Clone)]
pub struct Conditions {
    /// The rules for adjudicating games.
    pub rules: Rules,
    /// The endgame tablebases used for adjudication.
    pub tablebases: Option<Tables>,
    /// How long to wait for a move before an engine is considered hung, counted from when its time
    /// runs out or, without a time limit, from the start of its turn.
    pub timeout: Duration,
}

/// A move, as reported to logs.
#[derive(Debug, Clone, Copy)]
pub struct MoveMade {
    /// The move number. White's move and Black's reply have the same number.
    pub number: u16,
    /// The side that made the move.
    pub color: Color,
    /// The move played.
    pub mv: Move,
    /// The total time used so far by White and by Black.
    pub used: [Duration; 2],
    /// The time left on the clocks of White and Black; `None` if the side has no clock.
    pub left: [Option<Duration>; 2],
    /// The last score reported for the move, from the mover's point of view.
    pub score: Option<Score>,
    /// The search depth of `score`, in plies.
    pub depth: u32,
}

/// An event in a game, reported to the observer for logging.
#[derive(Debug, Clone, Copy)]
pub enum GameEvent {
    /// The engine of this colour is about to be set up for the game.
    Prepared(Color),
    /// Both engines are ready, and the clock of the side to move is about to start.
    ClocksStarted,
    /// A move was made.
    Moved(MoveMade),
}

/// A game played by two engines, with its result.
#[derive(Debug)]
pub struct Played {
    /// The starting position and all moves of the game, including the opening moves.
    pub game: Game,
    /// The moves after the opening, with the search information reported for each.
    pub moves: Vec<PlayedMove>,
    /// The result of the game and the reason for it.
    pub verdict: Verdict,
    /// For White and for Black, whether the engine must be restarted.
    pub broken: [bool; 2],
    /// The delays between the engines' moves and the next commands.
    pub overhead: Overhead,
}

struct GameRunner<'a> {
    players: [&'a mut Player; 2],
    game: Game,
    moves: Vec<PlayedMove>,
    clocks: [Clock; 2],
    referee: Referee,
    conditions: &'a Conditions,
    interrupt: &'a Interrupt,
    /// Whether White and Black have made a draw offer that is still pending.
    offers: [bool; 2],
    broken: [bool; 2],
    overhead: Overhead,
    /// When the runner began to process the last move.
    processed_at: Option<Instant>,
}

/// Plays a game to the end. `opening` contains the starting position and the opening moves.
/// `clocks` and `ponder` are given for White and Black.
pub fn play(
    players: [&mut Player; 2],
    opening: Game,
    clocks: [Clock; 2],
    ponder: [bool; 2],
    conditions: &Conditions,
    interrupt: &Interrupt,
    observer: &mut dyn FnMut(GameEvent),
) -> Played {
    let mut runner = GameRunner {
        players,
        game: opening,
        moves: Vec::new(),
        clocks,
        referee: Referee::new(conditions.rules, conditions.tablebases.clone()),
        conditions,
        interrupt,
        offers: [false; 2],
        broken: [false; 2],
        overhead: Overhead::default(),
        processed_at: None,
    };
    let verdict = runner.begin(ponder, observer).unwrap_or_else(|| runner.run(observer));
    runner.finish(&verdict);
    let GameRunner { game, moves, broken, overhead, .. } = runner;
    Played { game, moves, verdict, broken, overhead }
}

impl GameRunner<'_> {
    fn begin(&mut self, ponder: [bool; 2], observer: &mut dyn FnMut(GameEvent)) -> Option<Verdict> {
        if let Some(outcome) = self.game.outcome() {
            let what = notation::outcome(outcome);
            return Some(Verdict::unfinished(format!("the opening ends the game: {what}")));
        }
        for color in [Color::White, Color::Black] {
            let [own, other] = [color.to_index(), (!color).to_index()];
            observer(GameEvent::Prepared(color));
            let opponent = self.players[other].name.clone();
            let setup = Setup {
                game: &self.game,
                clock: &self.clocks[own],
                ponder: ponder[own],
                opponent: &opponent,
            };
            if let Err(error) = self.players[own].adapter.begin(&setup) {
                return Some(self.broke(color, error));
            }
        }
        None
    }

    fn run(&mut self, observer: &mut dyn FnMut(GameEvent)) -> Verdict {
        observer(GameEvent::ClocksStarted);
        loop {
            if let Some(verdict) = self.turn(observer) {
                return verdict;
            }
        }
    }

    /// Requests a move from the side to move and plays it. Returns a verdict if the game ends.
    fn turn(&mut self, observer: &mut dyn FnMut(GameEvent)) -> Option<Verdict> {
        let mover = self.game.position().side_to_move();
        let number = self.game.position().fullmove_number();
        let [own, other] = [mover.to_index(), (!mover).to_index()];
        let turn = Turn { game: &self.game, own: &self.clocks[own], other: &self.clocks[other] };
        if let Err(error) = self.players[own].adapter.go(&turn) {
            return Some(self.broke(mover, error));
        }
        // Start the engine's clock at the time when its command was sent. The current time may be
        // later, because this thread may have been suspended in between.
        let start = self.players[own].adapter.process().sent_at();
        if let Some(before) = self.processed_at {
            self.overhead.processing.add(start.saturating_duration_since(before));
        }
        let answer = match self.await_move(mover, start) {
            Ok(answer) => answer,
            Err(verdict) => return Some(verdict),
        };
        let now = Instant::now();
        self.processed_at = Some(now);
        self.overhead.waiting.add(now.saturating_duration_since(answer.at));
        let elapsed = answer.elapsed;
        if let Some(verdict) = self.check_move(mover, &answer) {
            return Some(verdict);
        }
        let mv = *self.game.moves().last()?;
        self.offers[other] = false;
        let remaining = self.clocks[own].left();
        self.moves.push(PlayedMove { mv, info: answer.info, elapsed, began: start, remaining });
        let played = &self.moves[self.moves.len() - 1];
        let used = self.clocks.each_ref().map(|clock| clock.used);
        let left = self.clocks.each_ref().map(Clock::left);
        let SearchInfo { score, depth, .. } = played.info;
        observer(GameEvent::Moved(MoveMade { number, color: mover, mv, used, left, score, depth }));
        let verdict = self.referee.update(&self.game, mover, played.info.score);
        let ponder = answer.ponder.filter(|_| verdict.is_none());
        let ponder = ponder.and_then(|text| self.game.position().parse_move(&text).ok());
        let turn = Turn { game: &self.game, own: &self.clocks[own], other: &self.clocks[other] };
        match self.players[own].adapter.moved(&turn, ponder) {
            Err(error) if verdict.is_none() => Some(self.broke(mover, error)),
            _ => verdict,
        }
    }

    /// Stops the mover's clock and plays the move. Returns a verdict if the move is late or
    /// illegal.
    fn check_move(&mut self, mover: Color, answer: &Answer) -> Option<Verdict> {
        let clock = &mut self.clocks[mover.to_index()];
        let allowed = clock.allowance().unwrap_or_default();
        if !clock.stop(answer.elapsed) {
            return Some(self.out_of_time(mover, answer.elapsed, allowed));
        }
        let parsed: Option<Move> = self.game.position().parse_move(&answer.text).ok();
        let Some(mv) = parsed.filter(|&mv| self.game.play(mv).is_ok()) else {
            let detail =
                format!("{} plays the illegal move {}", notation::color(mover), answer.text);
            return Some(Verdict::against(mover, Termination::IllegalMove, detail));
        };
        debug_assert_eq!(self.game.moves().last(), Some(&mv));
        None
    }

    /// Waits for the mover's move. In the meantime, the opponent may resign, claim a result or
    /// crash. The time used is measured up to the arrival of the line with the move, not up to its
    /// processing.
    fn await_move(&mut self, mover: Color, start: Instant) -> Result<Answer, Verdict> {
        let own = mover.to_index();
        let allowed = self.clocks[own].allowance();
        let flag = allowed.map(|allowed| start + allowed);
        let silence = allowed.unwrap_or_default() + self.conditions.timeout;
        let urge = self.players[own].adapter.move_now_after().map(|time| start + time);
        let mut demands = [urge, flag].into_iter().flatten().peekable();
        let mut info = SearchInfo::default();
        loop {
            let wait = demands.peek().copied().unwrap_or(start + silence);
            let line = self.next_line(wait)?;
            let at = line.as_ref().map_or(wait, |(_, line)| line.at);
            if at > start + silence || line.is_none() && demands.peek().is_none() {
                return Err(self.stalled(mover, silence));
            }
            if let Some((sender_color, line)) = line {
                let elapsed = whole_milliseconds(at.saturating_duration_since(start));
                let is_late = allowed.is_some_and(|allowed| elapsed > allowed);
                let event = self.players[sender_color.to_index()].adapter.interpret(&line.text);
                match event {
                    Some(PlayerEvent::Move { text, ponder }) if sender_color == mover => {
                        return Ok(Answer { text, ponder, info, at, elapsed });
                    }
                    Some(event) if sender_color == mover && info.take_in(&event) => {}
                    // The mover has already lost on time. Wait until it moves or ends its turn in
                    // another way, and ignore all other events.
                    Some(event) if is_late && (sender_color != mover || !event.ends_turn()) => {}
                    Some(_) if is_late => {
                        return Err(self.out_of_time(mover, elapsed, allowed.unwrap_or_default()));
                    }
                    Some(event) => {
                        if let Some(verdict) = self.handle_other(sender_color, mover, event) {
                            return Err(verdict);
                        }
                    }
                    None => {}
                }
            }
            if demands.next_if(|&demand| demand <= at).is_some() {
                // Ignore errors: if the engine does not accept input, it will not move, and the
                // timeout ends the game.
                let _ = self.players[own].adapter.move_now();
            }
        }
    }

    /// Returns the next line from either engine, or `None` if no line arrives before `deadline`.
    /// Fails if an engine has crashed or the game is interrupted.
    fn next_line(&mut self, deadline: Instant) -> Result<Option<(Color, Line)>, Verdict> {
        let left = deadline.saturating_duration_since(Instant::now());
        let [white, black] = self.players.each_mut().map(|player| player.adapter.process().lines());
        let (color, line) = select! {
            recv(white) -> line => (Color::White, line),
            recv(black) -> line => (Color::Black, line),
            recv(self.interrupt.receiver) -> _ => return Err(Verdict::unfinished("interrupted")),
            default(left) => return Ok(None),
        };
        match line {
            Ok(line) => {
                self.players[color.to_index()].adapter.process().note(&line);
                Ok(Some((color, line)))
            }
            Err(_) => Err(self.crashed(color)),
        }
    }

    /// Handles an engine event other than a move or search information.
    fn handle_other(
        &mut self,
        sender_color: Color,
        mover: Color,
        event: PlayerEvent,
    ) -> Option<Verdict> {
        let name = notation::color(sender_color);
        let other = (!sender_color).to_index();
        match event {
            PlayerEvent::Resign => {
                let detail = format!("{name} resigns");
                Some(Verdict::against(sender_color, Termination::Resignation, detail))
            }
            PlayerEvent::Claim { result, comment } => {
                Some(judge_claim(&self.game, sender_color, &result, &comment))
            }
            PlayerEvent::MoveRejected(text) if sender_color == mover => {
                let detail = format!("{name} refuses the legal move {text}");
                Some(Verdict::against(sender_color, Termination::IllegalMove, detail))
            }
            PlayerEvent::OfferDraw if self.offers[other] => {
                Some(Verdict::draw(Termination::Agreement, "draw agreed"))
            }
            PlayerEvent::OfferDraw => {
                self.offers[sender_color.to_index()] = true;
                let sent = self.players[other].adapter.offer_draw();
                sent.err().map(|error| self.broke(!sender_color, error))
            }
            // Like xboard, ignore moves and illegal-move claims that an engine sends out of turn.
            _ => None,
        }
    }

    /// Returns the verdict when the mover has run out of time: a loss, or a draw if the opponent
    /// cannot mate (FIDE Laws of Chess, 6.9).
    fn out_of_time(&self, mover: Color, used: Duration, allowed: Duration) -> Verdict {
        let (name, opponent) = (notation::color(mover), notation::color(!mover));
        let time =
            format!("{:.3} s used, {:.3} s allowed", used.as_secs_f64(), allowed.as_secs_f64());
        if self.game.position().can_mate(!mover) {
            let detail = format!("{name} loses on time: {time}");
            return Verdict::against(mover, Termination::Time, detail);
        }
        let detail = format!("{name} runs out of time ({time}), but {opponent} cannot mate");
        Verdict::draw(Termination::Time, detail)
    }

    fn stalled(&mut self, loser: Color, after: Duration) -> Verdict {
        self.broken[loser.to_index()] = true;
        let hint = match self.players[loser.to_index()].adapter.move_now_after() {
            Some(_) => " (not every engine reads fractions of a second; try whole seconds)",
            None => "",
        };
        let detail = format!("{} gives no move for {after:.1?}{hint}", notation::color(loser));
        Verdict::against(loser, Termination::Stall, detail)
    }

    fn crashed(&mut self, loser: Color) -> Verdict {
        self.broken[loser.to_index()] = true;
        let process = self.players[loser.to_index()].adapter.process();
        let detail = format!("{}'s engine {}", notation::color(loser), process.exit_reason());
        Verdict::against(loser, Termination::Crash, detail)
    }

    fn broke(&mut self, loser: Color, error: EngineError) -> Verdict {
        self.broken[loser.to_index()] = true;
        match error {
            EngineError::Dead(_) => self.crashed(loser),
            EngineError::Silent(what) => {
                let detail = format!("{}'s engine: {what}", notation::color(loser));
                Verdict::against(loser, Termination::Stall, detail)
            }
            EngineError::Unable(what) => {
                let name = &self.players[loser.to_index()].name;
                Verdict::unfinished(format!("{name} {what}"))
            }
        }
    }

    /// Notifies both engines that the game is over. Marks an engine for a restart if it does not
    /// respond before the timeout.
    fn finish(&mut self, verdict: &Verdict) {
        for index in [0, 1] {
            if self.broken[index] {
                continue;
            }
            let deadline = Instant::now() + self.conditions.timeout;
            let adapter = &mut self.players[index].adapter;
            let sent = adapter.finish(verdict.result().token(), &verdict.detail, deadline);
            self.broken[index] = sent.is_err();
        }
    }
}

/// An engine's move and the time it took.
struct Answer {
    text: String,
    ponder: Option<String>,
    info: SearchInfo,
    /// When the move arrived.
    at: Instant,
    /// The time used for the move, in whole milliseconds.
    elapsed: Duration,
}

#[cfg(test)]
mod tests;
