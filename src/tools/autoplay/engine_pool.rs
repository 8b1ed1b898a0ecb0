//! The two engines that a worker thread runs. They are reused for later games if possible.

use std::thread;
use std::time::Duration;

use super::config::EngineConfig;
use super::play::Played;
use super::player::{Player, StartError};
use super::process::Trace;

/// The pause before the first retry of a failed start, in case the machine is briefly short of
/// resources. The pause gets longer with each retry.
const BEFORE_NEXT_START: Duration = Duration::from_millis(200);

pub(super) enum EngineNotice {
    Starting,
    Named(String),
    /// A start failed and is being retried, or the engine started late but plays anyway.
    StartupRetry(String),
}

#[derive(Default)]
pub(super) struct EnginePool([Option<(usize, Player)>; 2]);

impl EnginePool {
    /// Makes sure that the given engines are running. Starts each engine unless it is already
    /// running and can be reused. Reports each start to `notify`.
    pub(super) fn take(
        &mut self,
        engines: [(usize, &EngineConfig); 2],
        trace: &Trace,
        mut notify: impl FnMut(usize, EngineNotice),
    ) -> Result<(), StartError> {
        for (idle_player, (engine, config)) in self.0.iter_mut().zip(engines) {
            let fits = |(seated, player): &(usize, Player)| {
                *seated == engine && player.adapter.reusable() && !config.restart
            };
            if idle_player.as_ref().is_some_and(fits) {
                continue;
            }
            if let Some((_, player)) = idle_player.take() {
                player.quit();
            }
            notify(engine, EngineNotice::Starting);
            let start = || Player::start(config, trace);
            let player = persist(start, |what| notify(engine, EngineNotice::StartupRetry(what)))?;
            if let Some(what) = player.adapter.startup_retry() {
                notify(engine, EngineNotice::StartupRetry(what));
            }
            notify(engine, EngineNotice::Named(player.name.clone()));
            *idle_player = Some((engine, player));
        }
        Ok(())
    }

    /// Returns the players for White and Black. `white` is the index of the engine that has White.
    pub(super) fn players(&mut self, white: usize) -> Option<[&mut Player; 2]> {
        let [Some((first, a)), Some((_, b))] = &mut self.0 else { return None };
        Some(if *first == white { [a, b] } else { [b, a] })
    }

    /// Call this method after each game. `white` is the index of the engine that played White.
    /// Drops the engines that must be restarted. If an engine lost the game through its own fault,
    /// returns its last output, at the index of its colour.
    pub(super) fn clear(&mut self, white: usize, played: &Played) -> [Vec<String>; 2] {
        let mut last_output = [Vec::new(), Vec::new()];
        for idle_player in &mut self.0 {
            let Some((engine, player)) = idle_player else { continue };
            let color = usize::from(*engine != white);
            let at_fault = played.verdict.termination.is_fault()
                && played.verdict.winner.is_some_and(|winner| winner.to_index() != color);
            if at_fault {
                last_output[color] = player.adapter.process().last_output();
            }
            if played.broken[color] {
                *idle_player = None;
            }
        }
        last_output
    }

    pub(super) fn drop_engine(&mut self, number: usize) {
        for idle_player in &mut self.0 {
            idle_player.take_if(|(engine, _)| *engine == number);
        }
    }

    pub(super) fn quit(self) {
        for (_, player) in self.0.into_iter().flatten() {
            player.quit();
        }
    }
}

/// Calls `start` until it succeeds or has failed [`StartError::attempts`] times.
pub(super) fn persist<T>(
    mut start: impl FnMut() -> Result<T, StartError>,
    mut startup_retries: impl FnMut(String),
) -> Result<T, StartError> {
    let mut failed = 0;
    loop {
        failed += 1;
        match start() {
            Err(error) if failed < error.attempts() => {
                startup_retries(format!("{error}; restarting it"));
            }
            done => return done,
        }
        thread::sleep(BEFORE_NEXT_START * failed);
    }
}
