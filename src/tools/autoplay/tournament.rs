//! Plays the games in a schedule. Worker threads play the games, and one thread stores the results.
//!
//! ```
//! use tabia::autoplay::schedule::{Format, Schedule};
//! use tabia::autoplay::tournament::Standings;
//! use tabia::autoplay::verdict::{Termination, Verdict};
//! use tabia::position::Color;
//!
//! let schedule =
//!     Schedule { engines: 2, format: Format::RoundRobin, games: 2, openings: 1, reversed: true };
//! let mut standings = Standings::default();
//! let lost = Verdict::against(Color::Black, Termination::Time, "");
//! standings.add(&schedule.slots()[0], &lost);
//! assert_eq!(standings.tallies[&(0, 1)].total.wins, 1);
//! ```

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use crossbeam::channel::{Sender, bounded, unbounded};

use crate::chess::position::Color;
use crate::support::clock::since_epoch;
use crate::support::threads;

use super::affinity::Cores;
use super::clock::Clock;
use super::config::EngineConfig;
use super::engine_pool::{EngineNotice, EnginePool, persist};
use super::openings::Opening;
use super::play::{Conditions, GameEvent, Interrupt, play};
use super::player::{StartError, find_protocol};
use super::process::Trace;
use super::ratings::RatedGame;
use super::record::GameRecord;
use super::rounds::Placing;
use super::schedule::{ByPairing, Round, Slot};
use super::stats::Tally;
use super::verdict::{Termination, Verdict};

/// A match or tournament with everything that is needed to play it.
#[derive(Debug)]
pub struct Tournament {
    /// The engines, in the order in which the user defined them.
    pub engines: Vec<EngineConfig>,
    /// The openings that [`Slot::opening`] refers to. Never empty.
    pub openings: Vec<Opening>,
    /// The rules, tablebases and timeouts for all games.
    pub conditions: Conditions,
    /// The number of games played simultaneously.
    pub concurrency: usize,
    /// For each of the simultaneous games, the processor cores to which it is bound. Empty if games
    /// are not bound to cores.
    pub cores: Vec<Cores>,
    /// The log of all messages to and from engines, or `None` to keep no log.
    pub trace: Trace,
    /// The date that is written to the PGN tags of the games.
    pub date: String,
    /// How long a worker thread pauses between two games.
    pub pause: Duration,
    /// The folder in which the engines' error output is stored, with one file per game and colour.
    pub error_output: Option<PathBuf>,
}

/// An event in a tournament.
#[derive(Debug)]
pub enum Progress {
    /// An engine is being started for a game.
    Starting {
        /// The game for which the engine is started.
        slot: Slot,
        /// The engine's index in [`Tournament::engines`].
        engine: usize,
    },
    /// An engine has reported its name. The index refers to [`Tournament::engines`].
    Named(usize, String),
    /// A round begins. Sent only in Swiss tournaments and knockouts.
    Paired(Round),
    /// A game has started.
    Started(Slot),
    /// An event has occurred in a game.
    InGame {
        /// The game in which the event occurred.
        slot: Slot,
        /// The event in the game.
        event: GameEvent,
    },
    /// A game has ended.
    Finished {
        /// The game that has ended.
        slot: Slot,
        /// The record of the game, including its moves and result.
        record: Box<GameRecord>,
        /// The last lines of output of White's and Black's engines. Empty for an engine that was
        /// not at fault for the end of the game.
        last_output: [Vec<String>; 2],
    },
    /// An engine failed to start and is being started again, or it took too long to start but can
    /// play.
    StartupRetry {
        /// The engine's index in [`Tournament::engines`].
        engine: usize,
        /// A description of the problem.
        what: String,
    },
    /// An engine cannot be started, or does not support something that the tournament requires. The
    /// tournament therefore ends.
    Failed(StartError),
}

/// The results of a tournament so far.
#[derive(Debug, Clone, Default)]
pub struct Standings {
    /// For each pairing, the results from the point of view of its first engine.
    pub tallies: ByPairing<Tally>,
    /// The finished games.
    pub games: Vec<RatedGame>,
    /// The placing of each engine in a Swiss tournament or knockout. Empty for other kinds of
    /// tournament.
    pub placings: Vec<Placing>,
}

impl Standings {
    /// Adds the result of a game.
    pub fn add(&mut self, slot: &Slot, verdict: &Verdict) {
        let color = if slot.colors[0] == slot.engines.0 { Color::White } else { Color::Black };
        self.tallies.entry(slot.engines).or_default().add(slot.pair, color, verdict);
        if verdict.termination != Termination::Unfinished {
            let half_points = verdict.half_points(Color::White);
            self.games.push(RatedGame { players: slot.colors, half_points, pair: Some(slot.pair) });
        }
    }
}

/// Detects the protocol of each engine that has none configured. Calls `observe` whenever an engine
/// fails to start and is started again.
///
/// # Errors
/// If an engine whose protocol must be detected cannot be started.
pub fn find_protocols(
    engines: &mut [EngineConfig],
    trace: &Trace,
    mut observe: impl FnMut(Progress),
) -> Result<(), StartError> {
    for (engine, config) in engines.iter_mut().enumerate() {
        let startup_retries = |what| observe(Progress::StartupRetry { engine, what });
        config.protocol = persist(|| find_protocol(config, trace), startup_retries)?;
    }
    Ok(())
}

impl Tournament {
    /// Plays the games in `slots` in order. Stops early if `observe` returns `false` or `interrupt`
    /// is triggered. `observe` is called for every event, on the calling thread.
    ///
    /// # Errors
    /// If an engine cannot be started, or if it does not support something that the match requires.
    pub fn run(
        &self,
        slots: &[Slot],
        interrupt: &Interrupt,
        mut observe: impl FnMut(&Progress) -> bool,
    ) -> Result<(), StartError> {
        let next = AtomicUsize::new(0);
        let (sender, receiver) = unbounded();
        let mut failure = None;
        thread::scope(|scope| {
            let work = |index: usize| {
                let cores = self.cores.get(index);
                let sender = sender.clone();
                let worker = MatchWorker { tournament: self, slots, cores, interrupt, sender };
                let next = &next;
                move || worker.run(next)
            };
            let concurrency = self.concurrency.clamp(1, slots.len().max(1));
            let started = threads::start(scope, (concurrency, threads::STACK), work);
            failure = started.err().map(|error| StartError::Unable(error.to_string()));
            drop(sender);
            for WorkerMessage { progress, acknowledged } in receiver {
                let goes_on = observe(&progress);
                if let Progress::Failed(error) = progress {
                    failure.get_or_insert(error);
                    interrupt.trigger();
                } else if !goes_on {
                    interrupt.trigger();
                }
                drop(acknowledged);
            }
        });
        failure.map_or(Ok(()), Err)
    }
}

/// A message from a worker to the collector, which is the thread that called [`Tournament::run`].
struct WorkerMessage {
    progress: Progress,
    /// Set if the worker waits until the message has been processed. The collector then drops this
    /// sender, which lets the worker continue.
    acknowledged: Option<Sender<()>>,
}

/// A worker thread, which plays games one after another.
struct MatchWorker<'a> {
    tournament: &'a Tournament,
    slots: &'a [Slot],
    cores: Option<&'a Cores>,
    interrupt: &'a Interrupt,
    sender: Sender<WorkerMessage>,
}

impl MatchWorker<'_> {
    fn run(&self, next: &AtomicUsize) {
        if let Some(cores) = self.cores {
            cores.bind();
        }
        let mut pool = EnginePool::default();
        let mut pause = Duration::ZERO;
        while let Some(slot) = self.next_game(next, pause) {
            if let Err(error) = self.game(slot, &mut pool) {
                self.send(Progress::Failed(error));
                break;
            }
            pause = self.tournament.pause;
        }
        pool.quit();
    }

    /// Reserves the next game, then pauses before returning it. Returns `None` if no games are left
    /// or if the tournament is interrupted.
    fn next_game(&self, next: &AtomicUsize, pause: Duration) -> Option<&Slot> {
        if self.interrupt.is_triggered() {
            return None;
        }
        let slot = self.slots.get(next.fetch_add(1, Ordering::Relaxed))?;
        self.interrupt.wait(pause);
        (!self.interrupt.is_triggered()).then_some(slot)
    }

    /// Sends an event to the collector. This cannot fail, because the collector outlives all
    /// workers.
    fn send(&self, progress: Progress) {
        let _ = self.sender.send(WorkerMessage { progress, acknowledged: None });
    }

    /// Sends an event and waits until the collector has stored it. This way, games are not played
    /// faster than they can be stored, and no game starts once the match is decided.
    fn send_and_wait(&self, progress: Progress) {
        let (acknowledged, is_heard) = bounded(0);
        let _ = self.sender.send(WorkerMessage { progress, acknowledged: Some(acknowledged) });
        let _ = is_heard.recv();
    }

    /// Plays one game. Starts the engines unless they are already running.
    fn game(&self, slot: &Slot, pool: &mut EnginePool) -> Result<(), StartError> {
        let tournament = self.tournament;
        let engines = [slot.engines.0, slot.engines.1];
        let engines = engines.map(|engine| (engine, &tournament.engines[engine]));
        pool.take(engines, &tournament.trace, |engine, news| {
            self.send(match news {
                EngineNotice::Starting => Progress::Starting { slot: *slot, engine },
                EngineNotice::Named(name) => Progress::Named(engine, name),
                EngineNotice::StartupRetry(what) => Progress::StartupRetry { engine, what },
            });
        })?;
        let Some(mut players) = pool.players(slot.colors[0]) else { return Ok(()) };
        let names = players.each_ref().map(|player| player.name.clone());
        if let Some(folder) = &tournament.error_output {
            for (player, color) in players.iter_mut().zip(["white", "black"]) {
                let name = format!("game-{}-{color}.txt", slot.number);
                player.adapter.process().store_errors(folder.join(name));
            }
        }
        self.send(Progress::Started(*slot));
        let configs = slot.colors.map(|engine| &tournament.engines[engine]);
        let clocks = configs.map(|config| Clock::new(config.limits, config.margin));
        let opening = tournament.openings[slot.opening % tournament.openings.len()].game();
        let mut observer = |event| self.send(Progress::InGame { slot: *slot, event });
        let began = since_epoch();
        let played = play(
            players,
            opening,
            clocks,
            configs.map(|config| config.ponder),
            &tournament.conditions,
            self.interrupt,
            &mut observer,
        );
        let last_output = pool.clear(slot.colors[0], &played);
        if played.verdict.termination == Termination::Unfinished {
            let is_unable = !self.interrupt.is_triggered();
            let unable = is_unable.then_some(StartError::Unable(played.verdict.detail));
            return unable.map_or(Ok(()), Err);
        }
        let record = Box::new(GameRecord {
            number: slot.number,
            round: format!("{}.{}", slot.round.0, slot.round.1),
            names,
            limits: configs.map(|config| config.limits),
            game: played.game,
            moves: played.moves,
            verdict: played.verdict,
            date: tournament.date.clone(),
            times: Some([began, since_epoch()]),
            overhead: played.overhead,
        });
        self.send_and_wait(Progress::Finished { slot: *slot, record, last_output });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::autoplay::referee::Rules;
    use crate::tools::autoplay::schedule::{Format, Schedule};

    #[test]
    fn no_game_starts_after_a_pause_in_which_the_tournament_ends() {
        let pause = Duration::from_secs(600);
        let tournament = Tournament {
            engines: Vec::new(),
            openings: Vec::new(),
            conditions: Conditions { rules: Rules::default(), tablebases: None, timeout: pause },
            concurrency: 1,
            cores: Vec::new(),
            trace: None,
            date: String::new(),
            pause,
            error_output: None,
        };
        let (engines, format) = (2, Format::RoundRobin);
        let schedule = Schedule { engines, format, games: 2, openings: 1, reversed: true };
        let (slots, interrupt, next) = (schedule.slots(), Interrupt::new(), AtomicUsize::new(0));
        let (sender, _receiver) = unbounded();
        let worker = MatchWorker {
            tournament: &tournament,
            slots: &slots,
            cores: None,
            interrupt: &interrupt,
            sender,
        };
        let first = worker.next_game(&next, Duration::ZERO).map(|slot| slot.number);
        assert_eq!(first, Some(1));
        thread::scope(|scope| {
            let second = scope.spawn(|| worker.next_game(&next, pause).map(|slot| slot.number));
            // Wait until the worker has reserved the second game, which it does before it pauses.
            while next.load(Ordering::Relaxed) < 2 {
                thread::yield_now();
            }
            interrupt.trigger();
            assert_eq!(second.join().expect("no panic"), None);
        });
    }
}
