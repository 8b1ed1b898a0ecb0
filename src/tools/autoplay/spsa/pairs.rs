//! Plays the games of an iteration on worker threads. Each worker runs two copies of the engine.

use crossbeam::channel::{Receiver, Sender, unbounded};

use crate::chess::position::Color;
use crate::tools::autoplay::clock::Clock;
use crate::tools::autoplay::config::EngineConfig;
use crate::tools::autoplay::engine_pool::{EngineNotice, EnginePool};
use crate::tools::autoplay::openings::Opening;
use crate::tools::autoplay::play::{Conditions, Interrupt, play};
use crate::tools::autoplay::player::{Player, StartError};
use crate::tools::autoplay::process::Trace;
use crate::tools::autoplay::protocol_adapter::EngineError;
use crate::tools::autoplay::verdict::{Termination, Verdict};

#[derive(Debug)]
pub(super) struct TuningContext<'a> {
    /// The configurations of the two copies of the engine, which have different names.
    pub sides: [EngineConfig; 2],
    pub openings: &'a [Opening],
    pub conditions: &'a Conditions,
    pub trace: &'a Trace,
    pub interrupt: &'a Interrupt,
}

pub(super) type Options = Vec<(String, String)>;

#[derive(Debug, Clone)]
pub(super) struct Job {
    /// The index of the game in the iteration. Games 2n and 2n + 1 form a pair.
    pub number: usize,
    pub white: usize,
    pub opening: usize,
    pub options: [Options; 2],
}

/// A message from a worker. Each job yields exactly one result, which may be preceded by
/// [`Report::StartupRetry`] messages.
#[derive(Debug)]
pub(super) enum Report {
    /// An engine failed to start and is being started again, or it started late. Contains the
    /// details. This message is not the result of a job.
    StartupRetry(String),
    /// A game was played. Contains the game's index and the first side's score: 1 for a win, 0 for
    /// a draw, -1 for a loss.
    Played(usize, i32),
    /// A game was excluded. Contains its index and the reason.
    Void(usize, String),
    Stopped,
    Failed(StartError),
}

enum NoScore {
    Void(String),
    Stopped,
    Failed(StartError),
}

impl TuningContext<'_> {
    /// Plays the games received from `jobs` and reports their results, until the channel is closed.
    pub(super) fn work(&self, jobs: &Receiver<Job>, reports: &Sender<Report>) {
        // Cannot fail: the receiver outlives the workers.
        let send = |report| drop(reports.send(report));
        let mut pool = EnginePool::default();
        for job in jobs {
            let startup_retries = |what| send(Report::StartupRetry(what));
            send(match self.game(&job, &mut pool, startup_retries) {
                Ok(score) => Report::Played(job.number, score),
                Err(NoScore::Void(why)) => Report::Void(job.number, why),
                Err(NoScore::Stopped) => Report::Stopped,
                Err(NoScore::Failed(error)) => Report::Failed(error),
            });
        }
        pool.quit();
    }

    /// Plays one game, starting the engines if necessary. Returns the first side's score (1, 0 or
    /// -1), or the reason why there is none.
    fn game(
        &self,
        job: &Job,
        pool: &mut EnginePool,
        mut startup_retries: impl FnMut(String),
    ) -> Result<i32, NoScore> {
        if self.interrupt.is_triggered() {
            return Err(NoScore::Stopped);
        }
        let send = |_, news| {
            if let EngineNotice::StartupRetry(what) = news {
                startup_retries(what);
            }
        };
        let [first, second] = &self.sides;
        pool.take([(0, first), (1, second)], self.trace, send).map_err(NoScore::Failed)?;
        self.set_options(job, pool)?;
        let Some(players) = pool.players(job.white) else { return Err(NoScore::Stopped) };
        let clock = || Clock::new(first.limits, first.margin);
        let played = play(
            players,
            self.openings[job.opening % self.openings.len()].game(),
            [clock(), clock()],
            [first.ponder; 2],
            self.conditions,
            self.interrupt,
            &mut |_| {},
        );
        let last_output = pool.clear(job.white, &played).concat();
        self.judge(job, played.verdict, &last_output)
    }

    fn set_options(&self, job: &Job, pool: &mut EnginePool) -> Result<(), NoScore> {
        for (side, options) in job.options.iter().enumerate() {
            let player = pool.players(side).map(|[player, _]| player);
            let set = |player: &mut Player| player.adapter.set_options(options);
            match player.map_or(Ok(()), set) {
                Ok(()) => {}
                Err(EngineError::Unable(what)) => {
                    let what = format!("{} {what}", self.sides[side].label());
                    return Err(NoScore::Failed(StartError::Unable(what)));
                }
                Err(error) => {
                    pool.drop_engine(side);
                    return Err(NoScore::Void(format!("{}: {error}", self.sides[side].label())));
                }
            }
        }
        Ok(())
    }

    /// Returns the first side's score in a game, or the reason why the game has no score.
    fn judge(&self, job: &Job, verdict: Verdict, last_output: &[String]) -> Result<i32, NoScore> {
        if verdict.termination == Termination::Unfinished {
            return Err(match self.interrupt.is_triggered() {
                true => NoScore::Stopped,
                false => NoScore::Failed(StartError::Unable(verdict.detail)),
            });
        }
        if verdict.termination.is_fault() {
            let words = last_output.iter().map(|line| format!("\n    {line}"));
            return Err(NoScore::Void(verdict.detail + &words.collect::<String>()));
        }
        let of_white = match verdict.winner {
            Some(Color::White) => 1,
            Some(Color::Black) => -1,
            None => 0,
        };
        Ok(if job.white == 0 { of_white } else { -of_white })
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Scored {
    /// The first side's wins, draws and losses, without excluded pairs.
    pub counts: [u32; 3],
    /// The reason for each excluded pair, in the order of the pairs.
    pub void: Vec<String>,
}

impl Scored {
    /// Counts the first side's results. If a game has no score, `games` contains the reason as an
    /// error, and the pair is excluded.
    pub(super) fn new(games: &[Result<i32, String>]) -> Self {
        let mut scored = Scored::default();
        for pair in games.chunks(2) {
            match pair.iter().find_map(|game| game.as_ref().err()) {
                Some(why) => scored.void.push(why.clone()),
                None => {
                    for score in pair.iter().flatten() {
                        scored.counts[(1 - score.signum()) as usize] += 1;
                    }
                }
            }
        }
        scored
    }

    /// Returns the first side's wins minus losses.
    pub(super) fn score(&self) -> i32 {
        let [wins, _, losses] = self.counts.map(|count| count as i32);
        wins - losses
    }
}

pub(super) struct Channels {
    pub jobs: (Sender<Job>, Receiver<Job>),
    pub reports: (Sender<Report>, Receiver<Report>),
}

impl Channels {
    pub(super) fn new() -> Self {
        Channels { jobs: unbounded(), reports: unbounded() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pair_with_a_void_game_is_not_counted() {
        let lost = || Err("White loses on time".to_owned());
        let games = [Ok(1), Ok(0), Ok(1), lost(), Ok(-1), Ok(-1), lost(), lost(), Ok(1), Ok(1)];
        let scored = Scored::new(&games);
        assert_eq!(scored.counts, [3, 1, 2]);
        assert_eq!((scored.score(), scored.void.len()), (1, 2));
    }
}
