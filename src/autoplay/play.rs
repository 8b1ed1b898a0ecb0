//! One game between two engines.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crossbeam::channel::{Receiver, Sender, TryRecvError, bounded, select};

use crate::position::{Color, Game, Move};
use crate::tablebase::Tables;
use crate::words;

use super::clock::Clock;
use super::dialect::{BookRemark, EngineError, PlayerEvent, SearchInfo, Setup, Turn};
use super::player::Player;
use super::process::Line;
use super::record::PlayedMove;
use super::referee::{Referee, Rules, judge_claim};
use super::verdict::{Termination, Verdict};

/// Ends all games, once triggered.
#[derive(Debug)]
pub struct Interrupt {
    /// Dropped to tell everybody: a closed channel can be waited for beside others.
    sender: Mutex<Option<Sender<()>>>,
    receiver: Receiver<()>,
}

impl Interrupt {
    /// One that has not been triggered.
    pub fn new() -> Self {
        let (sender, receiver) = bounded(0);
        Interrupt { sender: Mutex::new(Some(sender)), receiver }
    }

    /// Ends all games.
    pub fn trigger(&self) {
        self.sender.lock().unwrap_or_else(PoisonError::into_inner).take();
    }

    /// Whether it has been triggered.
    pub fn is_triggered(&self) -> bool {
        self.receiver.try_recv() == Err(TryRecvError::Disconnected)
    }
}

impl Default for Interrupt {
    fn default() -> Self {
        Self::new()
    }
}

/// How games are played.
#[derive(Debug, Clone)]
pub struct Conditions {
    /// What ends them early.
    pub rules: Rules,
    /// Endgame tables that end them, too.
    pub tablebases: Option<Tables>,
    /// How long an engine may be silent after its flag fell, or without a clock, until it counts
    /// as hung.
    pub patience: Duration,
}

/// A move as it is made, for logs.
#[derive(Debug, Clone, Copy)]
pub struct MoveMade {
    /// The move's number, which Black's shares with White's.
    pub number: u16,
    /// Who moved.
    pub color: Color,
    /// The move.
    pub mv: Move,
    /// The time that White and Black have used in the whole game.
    pub used: [Duration; 2],
}

/// What a game between two players yields.
#[derive(Debug)]
pub struct Played {
    /// Start and moves, the opening included.
    pub game: Game,
    /// The moves after the opening.
    pub moves: Vec<PlayedMove>,
    /// How it ended.
    pub verdict: Verdict,
    /// Whether White, and Black, must be started anew.
    pub broken: [bool; 2],
}

/// A game in progress.
struct Bout<'a> {
    /// White and Black.
    players: [&'a mut Player; 2],
    game: Game,
    moves: Vec<PlayedMove>,
    clocks: [Clock; 2],
    referee: Referee,
    conditions: &'a Conditions,
    interrupt: &'a Interrupt,
    /// Who has a draw offer standing.
    offers: [bool; 2],
    broken: [bool; 2],
}

/// Plays a game to its end. `opening` holds the start and the opening moves, `clocks` those of
/// White and Black.
pub fn play(
    players: [&mut Player; 2],
    opening: Game,
    clocks: [Clock; 2],
    ponder: [bool; 2],
    conditions: &Conditions,
    interrupt: &Interrupt,
    observer: &mut dyn FnMut(MoveMade),
) -> Played {
    let mut bout = Bout {
        players,
        game: opening,
        moves: Vec::new(),
        clocks,
        referee: Referee::new(conditions.rules, conditions.tablebases.clone()),
        conditions,
        interrupt,
        offers: [false; 2],
        broken: [false; 2],
    };
    let verdict = bout.begin(ponder).unwrap_or_else(|| bout.run(observer));
    bout.finish(&verdict);
    Played { game: bout.game, moves: bout.moves, verdict, broken: bout.broken }
}

impl Bout<'_> {
    /// Tells both engines of the game.
    fn begin(&mut self, ponder: [bool; 2]) -> Option<Verdict> {
        if let Some(outcome) = self.game.outcome() {
            return Some(outcome.into());
        }
        for color in [Color::White, Color::Black] {
            let [own, other] = [color.to_index(), (!color).to_index()];
            let opponent = self.players[other].name.clone();
            let setup = Setup {
                game: &self.game,
                clock: &self.clocks[own],
                ponder: ponder[own],
                opponent: &opponent,
            };
            if let Err(error) = self.players[own].dialect.begin(&setup) {
                return Some(self.broke(color, error));
            }
        }
        None
    }

    fn run(&mut self, observer: &mut dyn FnMut(MoveMade)) -> Verdict {
        loop {
            if let Some(verdict) = self.turn(observer) {
                return verdict;
            }
        }
    }

    /// One move; a verdict if the game is over with it.
    fn turn(&mut self, observer: &mut dyn FnMut(MoveMade)) -> Option<Verdict> {
        let mover = self.game.position().side_to_move();
        let number = self.game.position().fullmove_number();
        let [own, other] = [mover.to_index(), (!mover).to_index()];
        let turn = Turn { game: &self.game, own: &self.clocks[own], other: &self.clocks[other] };
        if let Err(error) = self.players[own].dialect.go(&turn) {
            return Some(self.broke(mover, error));
        }
        let start = Instant::now();
        let answer = match self.await_move(mover, start) {
            Ok(answer) => answer,
            Err(verdict) => return Some(verdict),
        };
        let elapsed = answer.at.saturating_duration_since(start);
        if let Some(verdict) = self.check_move(mover, &answer, elapsed) {
            return Some(verdict);
        }
        let mv = *self.game.moves().last()?;
        self.offers[other] = false;
        self.moves.push(PlayedMove { mv, info: answer.info, elapsed });
        let played = &self.moves[self.moves.len() - 1];
        let used = self.clocks.each_ref().map(|clock| clock.used);
        observer(MoveMade { number, color: mover, mv, used });
        let verdict = self.referee.look(&self.game, mover, played.info.score);
        let ponder = answer.ponder.filter(|_| verdict.is_none());
        let ponder = ponder.and_then(|text| self.game.position().parse_move(&text).ok());
        let turn = Turn { game: &self.game, own: &self.clocks[own], other: &self.clocks[other] };
        match self.players[own].dialect.moved(&turn, ponder) {
            Err(error) if verdict.is_none() => Some(self.broke(mover, error)),
            _ => verdict,
        }
    }

    /// Takes the time and plays the move, if it is legal.
    fn check_move(&mut self, mover: Color, answer: &Answer, elapsed: Duration) -> Option<Verdict> {
        let clock = &mut self.clocks[mover.to_index()];
        let allowed = clock.allowance().unwrap_or_default();
        if !clock.punch(elapsed) {
            return Some(out_of_time(mover, elapsed, allowed));
        }
        let parsed: Option<Move> = self.game.position().parse_move(&answer.text).ok();
        let Some(mv) = parsed.filter(|&mv| self.game.play(mv).is_ok()) else {
            let detail = format!("{} plays the illegal move {}", words::color(mover), answer.text);
            return Some(Verdict::against(mover, Termination::IllegalMove, detail));
        };
        debug_assert_eq!(self.game.moves().last(), Some(&mv));
        None
    }

    /// Waits for the mover's move; meanwhile the opponent may resign, claim or die.
    fn await_move(&mut self, mover: Color, start: Instant) -> Result<Answer, Verdict> {
        let allowance = self.clocks[mover.to_index()].allowance();
        let deadline = start + allowance.unwrap_or(self.conditions.patience);
        let mut info = SearchInfo::default();
        loop {
            let (color, line) = self.next_line(deadline)?;
            let Some((color, line)) = color.zip(line).filter(|(_, line)| line.at <= deadline)
            else {
                return Err(match allowance {
                    Some(allowed) => self.flag_fell(mover, deadline, allowed),
                    None => self.stalled(mover, self.conditions.patience),
                });
            };
            let event = self.players[color.to_index()].dialect.interpret(&line.text);
            match event {
                Some(PlayerEvent::Move { text, ponder }) if color == mover => {
                    return Ok(Answer { text, ponder, info, at: line.at });
                }
                Some(PlayerEvent::Thinking(thinking)) if color == mover => {
                    let book = thinking.book || info.book;
                    let ending =
                        if thinking.ending.is_empty() { info.ending } else { thinking.ending };
                    let score = thinking.score.or(info.score);
                    info = SearchInfo { score, book, ending, ..thinking };
                }
                Some(PlayerEvent::Book(BookRemark::Move)) if color == mover => info.book = true,
                Some(PlayerEvent::Book(BookRemark::Ending(how))) if color == mover => {
                    info.ending = how;
                }
                Some(event) => {
                    if let Some(verdict) = self.talk(color, mover, event) {
                        return Err(verdict);
                    }
                }
                None => {}
            }
        }
    }

    /// The next line of either engine; no line if none comes in time.
    fn next_line(&mut self, deadline: Instant) -> Result<(Option<Color>, Option<Line>), Verdict> {
        let left = deadline.saturating_duration_since(Instant::now());
        let [white, black] = self.players.each_mut().map(|player| player.dialect.process().lines());
        let (color, line) = select! {
            recv(white) -> line => (Color::White, line),
            recv(black) -> line => (Color::Black, line),
            recv(self.interrupt.receiver) -> _ => return Err(Verdict::unfinished("interrupted")),
            default(left) => return Ok((None, None)),
        };
        match line {
            Ok(line) => Ok((Some(color), Some(line))),
            Err(_) => Err(self.crashed(color)),
        }
    }

    /// What an engine says besides moves and thoughts.
    fn talk(&mut self, speaker: Color, mover: Color, event: PlayerEvent) -> Option<Verdict> {
        let name = words::color(speaker);
        let other = (!speaker).to_index();
        match event {
            PlayerEvent::Resign => {
                let detail = format!("{name} resigns");
                Some(Verdict::against(speaker, Termination::Resignation, detail))
            }
            PlayerEvent::Claim { result, comment } => {
                Some(judge_claim(&self.game, speaker, &result, &comment))
            }
            PlayerEvent::Refusal(text) if speaker == mover => {
                let detail = format!("{name} refuses the legal move {text}");
                Some(Verdict::against(speaker, Termination::IllegalMove, detail))
            }
            PlayerEvent::OfferDraw if self.offers[other] => {
                Some(Verdict::draw(Termination::Agreement, "draw agreed"))
            }
            PlayerEvent::OfferDraw => {
                self.offers[speaker.to_index()] = true;
                let told = self.players[other].dialect.offer_draw();
                told.err().map(|error| self.broke(!speaker, error))
            }
            // What is said out of turn has no meaning, and is ignored as xboard does.
            _ => None,
        }
    }

    /// The flag fell: an engine that answers now has lost on time, one that does not hangs.
    fn flag_fell(&mut self, mover: Color, fell: Instant, allowed: Duration) -> Verdict {
        let deadline = fell + self.conditions.patience;
        // If it cannot be told, it does not answer either.
        let _ = self.players[mover.to_index()].dialect.hurry();
        loop {
            match self.next_line(deadline) {
                Err(verdict) => return verdict,
                Ok((Some(color), Some(line))) if line.at <= deadline => {
                    let event = self.players[color.to_index()].dialect.interpret(&line.text);
                    if color == mover && matches!(event, Some(PlayerEvent::Move { .. })) {
                        let late = line.at.saturating_duration_since(fell);
                        return out_of_time(mover, allowed + late, allowed);
                    }
                }
                Ok(_) => return self.stalled(mover, allowed + self.conditions.patience),
            }
        }
    }

    fn stalled(&mut self, loser: Color, after: Duration) -> Verdict {
        self.broken[loser.to_index()] = true;
        let detail = format!("{} gives no move for {after:.1?}", words::color(loser));
        Verdict::against(loser, Termination::Stall, detail)
    }

    fn crashed(&mut self, loser: Color) -> Verdict {
        self.broken[loser.to_index()] = true;
        let process = self.players[loser.to_index()].dialect.process();
        let detail = format!("{}'s engine {}", words::color(loser), process.obituary());
        Verdict::against(loser, Termination::Crash, detail)
    }

    fn broke(&mut self, loser: Color, error: EngineError) -> Verdict {
        self.broken[loser.to_index()] = true;
        match error {
            EngineError::Dead(_) => self.crashed(loser),
            EngineError::Silent(what) => {
                let detail = format!("{}'s engine: {what}", words::color(loser));
                Verdict::against(loser, Termination::Stall, detail)
            }
            EngineError::Unable(what) => {
                let name = &self.players[loser.to_index()].name;
                Verdict::unfinished(format!("{name} {what}"))
            }
        }
    }

    /// Tells both engines of the end; those that do not come to rest are given up.
    fn finish(&mut self, verdict: &Verdict) {
        for index in [0, 1] {
            if self.broken[index] {
                continue;
            }
            let deadline = Instant::now() + self.conditions.patience;
            let dialect = &mut self.players[index].dialect;
            let told = dialect.finish(verdict.result().token(), &verdict.detail, deadline);
            self.broken[index] = told.is_err();
        }
    }
}

/// The mover's answer.
struct Answer {
    text: String,
    ponder: Option<String>,
    info: SearchInfo,
    at: Instant,
}

fn out_of_time(loser: Color, used: Duration, allowed: Duration) -> Verdict {
    let detail = format!(
        "{} loses on time: {:.3} s used, {:.3} s allowed",
        words::color(loser),
        used.as_secs_f64(),
        allowed.as_secs_f64()
    );
    Verdict::against(loser, Termination::Time, detail)
}
