//! Performs a tuning run and saves the result of each iteration in a journal.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::thread;

use crossbeam::channel::{Receiver, Sender};
use thiserror::Error;

use crate::support::files::{Journal, JournalError};
use crate::support::threads;
use crate::tools::autoplay::config::EngineConfig;
use crate::tools::autoplay::engine_pool::persist;
use crate::tools::autoplay::openings::Opening;
use crate::tools::autoplay::play::{Conditions, Interrupt};
use crate::tools::autoplay::player::{Player, StartError, find_protocol};
use crate::tools::autoplay::process::Trace;
use crate::tools::autoplay::protocol_adapter::OptionRange;

use super::journal::{self, Iteration, Tally};
use super::pairs::{Channels, Job, Options, Report, Scored, TuningContext};
use super::parameter::Parameter;
use super::tuner::{Perturbation, Tuner};

/// The number of consecutive excluded pairs after which the run is aborted, because it makes no
/// progress.
const VOID_LIMIT: u32 = 10;

#[derive(Debug, Error)]
pub(crate) enum TuneError {
    #[error(transparent)]
    Start(#[from] StartError),
    /// An engine option cannot be tuned as requested.
    #[error("{engine}: {what}")]
    Option {
        /// The engine's name.
        engine: String,
        what: String,
    },
    #[error(transparent)]
    Journal(#[from] JournalError),
    #[error("{0}")]
    Threads(#[from] io::Error),
    /// Too many consecutive game pairs were excluded.
    #[error(
        "cannot continue: {VOID_LIMIT} pairs of games in a row do not count; the last one: {0}"
    )]
    Broken(String),
}

#[derive(Debug)]
pub(crate) enum TuneEvent {
    StartupRetry(String),
    /// A game pair was excluded, for the given reason.
    Void(String),
    /// An iteration is complete and has been saved.
    Advanced,
}

#[derive(Debug)]
pub(crate) struct Tuning {
    /// The engine to tune. The options in its configuration are set before the tuned options.
    pub engine: EngineConfig,
    pub tuner: Tuner,
    pub games: Tally,
    /// The openings, used in turn by successive game pairs. Never empty.
    pub openings: Arc<[Opening]>,
    pub conditions: Conditions,
    pub concurrency: usize,
    pub trace: Trace,
    journal: Option<Journal<Iteration>>,
    /// For each parameter, whether the engine option accepts only integers. Set by
    /// [`Tuning::check_engine`].
    whole: Vec<bool>,
    void_in_a_row: u32,
}

enum Round {
    Scored(Scored),
    Interrupted,
}

impl Tuning {
    pub(crate) fn new(
        engine: EngineConfig,
        tuner: Tuner,
        openings: Vec<Opening>,
        conditions: Conditions,
    ) -> Self {
        Tuning {
            engine,
            tuner,
            games: Tally::default(),
            openings: openings.into(),
            conditions,
            concurrency: 1,
            trace: None,
            journal: None,
            whole: Vec::new(),
            void_in_a_row: 0,
        }
    }

    /// Restores the iterations stored in the journal at `place`, and stores new ones there. If
    /// `anew` is set, an existing journal is replaced. `settings` describes all settings that
    /// affect the results.
    pub(crate) fn store(
        &mut self,
        (place, anew): (&Path, bool),
        settings: &str,
    ) -> Result<(), TuneError> {
        (self.journal, self.games) = journal::open(place, anew, settings, &mut self.tuner)?;
        Ok(())
    }

    /// Starts the engine once, to detect its protocol and to check that it has the options to tune.
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

    /// Runs iterations until all are done or the run is interrupted. Call [`Tuning::check_engine`]
    /// first. Each iteration is saved before its events are passed to `observe`, which runs on the
    /// calling thread.
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
            // Drop this thread's copies of the workers' ends of the channels. Otherwise, `iterate`
            // would wait forever if all workers ended.
            drop((wanted, reported));
            let end = self.iterate(&jobs, &reports, interrupt, &mut observe);
            // Closing the channel ends the workers.
            drop(jobs);
            end
        })
    }

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
            if let Some(journal) = &mut self.journal {
                journal.append(&Iteration::last(&self.tuner, self.games))?;
                journal.sync()?;
            }
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

    /// Returns the games of an iteration, in pairs with the same opening and reversed colours.
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

    fn options(&self, perturbation: &Perturbation, side: usize) -> Options {
        let named = self.tuner.parameters().iter().zip(&self.whole).enumerate();
        let set = |(index, (parameter, &whole)): (usize, (&Parameter, &bool))| {
            (parameter.name.clone(), perturbation.text(index, side, whole))
        };
        named.map(set).collect()
    }

    /// Returns the options to tune with their current values, rounded for options that accept only
    /// integers.
    pub(crate) fn option_values(&self) -> Vec<(String, String)> {
        let values = self.tuner.parameters().iter().zip(self.tuner.values()).enumerate();
        let text = |(index, (parameter, &value)): (usize, (&Parameter, &f64))| {
            let is_whole = self.whole.get(index).copied().unwrap_or(false);
            let value = if is_whole { value.round() } else { value };
            (parameter.name.clone(), value.to_string())
        };
        values.map(text).collect()
    }

    fn take(&mut self, scored: &Scored) {
        let [wins, draws, losses] = scored.counts.map(u64::from);
        self.games.wins += wins;
        self.games.draws += draws;
        self.games.losses += losses;
        self.games.void_pairs += scored.void.len() as u64;
        // A single valid pair resets the counter, wherever it is in the iteration.
        self.void_in_a_row = match wins + draws + losses {
            0 => self.void_in_a_row + scored.void.len() as u32,
            _ => 0,
        };
        self.tuner.update(scored.score());
    }
}

/// Returns true if the engine option of the parameter accepts only integers. Fails with a message
/// if the engine lacks the option, or if the option does not accept the parameter's range of
/// values.
fn takes(player: &mut Player, parameter: &Parameter) -> Result<bool, String> {
    let Parameter { name, min, max, .. } = parameter;
    let range = player.adapter.option_range(name).map_err(|error| error.to_string())?;
    match range {
        OptionRange::Text => Ok(false),
        OptionRange::Button => Err(format!("the option \"{name}\" is a button, not a number")),
        OptionRange::Other(kind) => {
            Err(format!("the option \"{name}\" is not a number, but of the kind {kind}"))
        }
        OptionRange::Whole(..) if min.fract() != 0.0 || max.fract() != 0.0 => Err(format!(
            "the option \"{name}\" takes whole numbers; MIN {min} and MAX {max} must be whole"
        )),
        OptionRange::Whole(least, most) if *min < least as f64 || *max > most as f64 => {
            Err(format!("the option \"{name}\" takes {least} to {most}, not {min} to {max}"))
        }
        OptionRange::Whole(..) => Ok(true),
    }
}

/// Waits for the results of `count` games. If an engine cannot be started or cannot play, stops the
/// remaining games and returns the error.
fn collect(
    reports: &Receiver<Report>,
    count: usize,
    interrupt: &Interrupt,
    startup_retries: &mut dyn FnMut(String),
) -> Result<Round, TuneError> {
    let mut games = vec![Ok(0); count];
    let (mut left, mut stopped, mut failure) = (count, false, None);
    while left > 0 {
        // `recv` fails only if all workers have ended, but they run as long as `jobs` is open.
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
