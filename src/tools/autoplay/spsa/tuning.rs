//! A tuning: iteration by iteration, kept on disk.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;

use crossbeam::channel::{Receiver, Sender};
use thiserror::Error;

use crate::support::threads;
use crate::tools::autoplay::config::EngineConfig;
use crate::tools::autoplay::engine_pool::persist;
use crate::tools::autoplay::openings::Opening;
use crate::tools::autoplay::play::{Conditions, Interrupt};
use crate::tools::autoplay::player::{Player, StartError, find_protocol};
use crate::tools::autoplay::process::Trace;
use crate::tools::autoplay::protocol_adapter::OptionRange;

use super::checkpoint::{self, CheckpointError, Lock, Tally};
use super::pairs::{Channels, Job, Options, Report, Scored, TuningContext};
use super::parameter::Parameter;
use super::tuner::{Perturbation, Tuner};

/// So many pairs in a row that do not count end a tuning: it would only go round in circles.
const VOID_LIMIT: u32 = 10;

/// Why a tuning does not begin, or ends early.
#[derive(Debug, Error)]
pub(crate) enum TuneError {
    /// The engine does not play.
    #[error(transparent)]
    Start(#[from] StartError),
    /// An option cannot be tuned as it is wished.
    #[error("{engine}: {what}")]
    Option {
        /// Which engine.
        engine: String,
        /// What is wrong.
        what: String,
    },
    /// What was reached cannot be kept.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// No game can be played, as no thread can be started.
    #[error("{0}")]
    Threads(#[from] io::Error),
    /// No games come about that count.
    #[error("{VOID_LIMIT} pairs of games in a row do not count; the last one: {0}")]
    Broken(String),
}

/// What happens in a tuning, in order.
#[derive(Debug)]
pub(crate) enum TuneEvent {
    /// A start of the engine went wrong; it is started again.
    StartupRetry(String),
    /// A pair of games does not count, for this reason.
    Void(String),
    /// An iteration is done and kept.
    Advanced,
}

/// A tuning, where it stands.
#[derive(Debug)]
pub(crate) struct Tuning {
    /// The engine; its own options are set before those that are tuned.
    pub engine: EngineConfig,
    /// Where the parameters stand.
    pub tuner: Tuner,
    /// Games that were played.
    pub games: Tally,
    /// Where games begin; never empty. Each pair has the next.
    pub openings: Arc<[Opening]>,
    /// How games are played.
    pub conditions: Conditions,
    /// Games at a time.
    pub concurrency: usize,
    /// Where all traffic goes.
    pub trace: Trace,
    /// Where the checkpoint is kept.
    pub place: PathBuf,
    /// All that the path depends on, in lines of words.
    pub settings: String,
    /// Keeps other runs out.
    _lock: Option<Lock>,
    /// For each parameter whether its option takes whole numbers only; known once it was asked.
    whole: Vec<bool>,
    /// Pairs in a row that do not count.
    void_in_a_row: u32,
}

/// How the games of an iteration ended.
enum Round {
    Scored(Scored),
    Interrupted,
}

impl Tuning {
    /// A tuning that begins, or goes on if there is a checkpoint of it at `place`; with `anew`,
    /// whatever is there will be replaced.
    ///
    /// # Errors
    /// If the checkpoint cannot be used, or another run has it.
    pub(crate) fn open(
        engine: EngineConfig,
        mut tuner: Tuner,
        openings: Vec<Opening>,
        conditions: Conditions,
        (place, anew): (PathBuf, bool),
        settings: String,
    ) -> Result<Self, TuneError> {
        let lock = Lock::beside(&place)?;
        let games = match anew {
            true => Tally::default(),
            false => checkpoint::load(&place, &settings, &mut tuner)?,
        };
        Ok(Tuning {
            engine,
            tuner,
            games,
            openings: openings.into(),
            conditions,
            concurrency: 1,
            trace: None,
            place,
            settings,
            _lock: lock,
            whole: Vec::new(),
            void_in_a_row: 0,
        })
    }

    /// Starts the engine once, to find out what it speaks and whether its options can be tuned.
    ///
    /// # Errors
    /// If it does not start, lacks an option, or an option does not take the values.
    pub(crate) fn check_engine(
        &mut self,
        mut startup_retries: impl FnMut(String),
    ) -> Result<(), TuneError> {
        self.engine.protocol =
            persist(|| find_protocol(&self.engine, &self.trace), &mut startup_retries)?;
        let mut player =
            persist(|| Player::start(&self.engine, &self.trace), &mut startup_retries)?;
        let whole = self.tuner.parameters().iter().map(|parameter| takes(&mut player, parameter));
        let whole: Result<Vec<bool>, String> = whole.collect();
        let engine = player.name.clone();
        player.quit();
        self.whole = whole.map_err(|what| TuneError::Option { engine, what })?;
        Ok(())
    }

    /// Tunes to the end, or until interrupted; the engine must have been checked. `observe` hears
    /// of what happens, on the calling thread, once it is kept.
    ///
    /// # Errors
    /// If the engine does not play, or a checkpoint cannot be written.
    pub(crate) fn run(
        &mut self,
        interrupt: &Interrupt,
        mut observe: impl FnMut(&Self, &TuneEvent),
    ) -> Result<(), TuneError> {
        let Tuning { engine, openings, conditions, trace, .. } = self;
        let sides = ["+", "-"].map(|sign| EngineConfig {
            name: format!("{}{sign}", engine.label()),
            ..engine.clone()
        });
        let (openings, conditions, trace) = (openings.clone(), conditions.clone(), trace.clone());
        let (openings, conditions, trace) = (&*openings, &conditions, &trace);
        let context = TuningContext { sides, openings, conditions, trace, interrupt };
        let Channels { jobs: (jobs, wanted), reports: (reported, reports) } = Channels::new();
        let games = self.tuner.plan().pairs as usize * 2;
        thread::scope(|scope| {
            let work = |_| {
                let (context, wanted, reported) = (&context, wanted.clone(), reported.clone());
                move || context.work(&wanted, &reported)
            };
            threads::start(scope, (self.concurrency.clamp(1, games), threads::STACK), work)?;
            // What no worker answers any more is not waited for.
            drop((wanted, reported));
            let end = self.iterate(&jobs, &reports, interrupt, &mut observe);
            // Nothing more is wanted: the workers leave.
            drop(jobs);
            end
        })
    }

    /// All iterations that are left.
    fn iterate(
        &mut self,
        jobs: &Sender<Job>,
        reports: &Receiver<Report>,
        interrupt: &Interrupt,
        observe: &mut dyn FnMut(&Self, &TuneEvent),
    ) -> Result<(), TuneError> {
        while !self.tuner.is_done() {
            let wanted = self.jobs(&self.tuner.perturb());
            let count = wanted.len();
            wanted.into_iter().for_each(|job| drop(jobs.send(job)));
            let startup_retries = &mut |what| observe(self, &TuneEvent::StartupRetry(what));
            let Round::Scored(scored) = collect(reports, count, interrupt, startup_retries)? else {
                return Ok(());
            };
            self.take(&scored);
            checkpoint::save(&self.place, &self.settings, &self.tuner, self.games)?;
            for why in &scored.void {
                observe(self, &TuneEvent::Void(why.clone()));
            }
            observe(self, &TuneEvent::Advanced);
            if let Some(why) = scored.void.last().filter(|_| self.void_in_a_row >= VOID_LIMIT) {
                return Err(TuneError::Broken(why.clone()));
            }
        }
        Ok(())
    }

    /// The games of an iteration: each pair plays an opening with both colours.
    fn jobs(&self, perturbation: &Perturbation) -> Vec<Job> {
        let options = [0, 1].map(|side| self.options(perturbation, side));
        let job = |number: usize| Job {
            number,
            white: number % 2,
            opening: self.tuner.pairs() as usize + number / 2,
            options: options.clone(),
        };
        (0..self.tuner.plan().pairs as usize * 2).map(job).collect()
    }

    /// What a side plays with.
    fn options(&self, perturbation: &Perturbation, side: usize) -> Options {
        let named = self.tuner.parameters().iter().zip(&self.whole).enumerate();
        let set = |(index, (parameter, &whole)): (usize, (&Parameter, &bool))| {
            (parameter.name.clone(), perturbation.text(index, side, whole))
        };
        named.map(set).collect()
    }

    /// For each parameter its value as the option is set; a whole number where no other is taken.
    pub(crate) fn option_values(&self) -> Vec<(String, String)> {
        let values = self.tuner.parameters().iter().zip(self.tuner.values()).enumerate();
        let text = |(index, (parameter, &value)): (usize, (&Parameter, &f64))| {
            let is_whole = self.whole.get(index).copied().unwrap_or(false);
            let value = if is_whole { value.round() } else { value };
            (parameter.name.clone(), value.to_string())
        };
        values.map(text).collect()
    }

    /// Takes in what an iteration yields.
    fn take(&mut self, scored: &Scored) {
        let [wins, draws, losses] = scored.counts.map(u64::from);
        self.games.wins += wins;
        self.games.draws += draws;
        self.games.losses += losses;
        self.games.void_pairs += scored.void.len() as u64;
        // Only whether any pair counts matters here, not which.
        self.void_in_a_row = match wins + draws + losses {
            0 => self.void_in_a_row + scored.void.len() as u32,
            _ => 0,
        };
        self.tuner.update(scored.score());
    }
}

/// Whether a parameter's option takes whole numbers only.
///
/// # Errors
/// In words, if the engine has no such option, or it does not take the parameter's values.
fn takes(player: &mut Player, parameter: &Parameter) -> Result<bool, String> {
    let Parameter { name, min, max, .. } = parameter;
    let range = player.adapter.option_range(name).map_err(|error| error.to_string())?;
    match range {
        OptionRange::Text => Ok(false),
        OptionRange::Button => Err(format!("the option \"{name}\" is no number but a button")),
        OptionRange::Other(kind) => {
            Err(format!("the option \"{name}\" is no number (it is of the kind {kind})"))
        }
        OptionRange::Whole(..) if min.fract() != 0.0 || max.fract() != 0.0 => Err(format!(
            "the option \"{name}\" takes whole numbers: MIN {min} and MAX {max} must be whole"
        )),
        OptionRange::Whole(least, most) if *min < least as f64 || *max > most as f64 => {
            Err(format!("the option \"{name}\" takes {least} to {most}, not {min} to {max}"))
        }
        OptionRange::Whole(..) => Ok(true),
    }
}

/// Waits until each of so many games has brought its answer.
///
/// # Errors
/// If the engine cannot be started, or cannot play; the other games are ended then.
fn collect(
    reports: &Receiver<Report>,
    count: usize,
    interrupt: &Interrupt,
    startup_retries: &mut dyn FnMut(String),
) -> Result<Round, TuneError> {
    let mut games = vec![Ok(0); count];
    let (mut left, mut stopped, mut failure) = (count, false, None);
    while left > 0 {
        // The workers are there as long as jobs may come.
        let Ok(report) = reports.recv() else { break };
        left -= usize::from(!matches!(report, Report::StartupRetry(_)));
        match report {
            Report::StartupRetry(what) => startup_retries(what),
            Report::Played(number, score) => games[number] = Ok(score),
            Report::Void(number, why) => games[number] = Err(why),
            Report::Stopped => stopped = true,
            Report::Failed(error) => {
                failure.get_or_insert(error);
                interrupt.trigger();
            }
        }
    }
    match failure {
        Some(error) => Err(error.into()),
        None if stopped || left > 0 => Ok(Round::Interrupted),
        None => Ok(Round::Scored(Scored::new(&games))),
    }
}
