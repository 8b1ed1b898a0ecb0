//! The two engines of one worker, which stay from game to game.

use std::thread;
use std::time::Duration;

use super::config::EngineConfig;
use super::play::Played;
use super::player::{Player, StartError};
use super::process::Trace;

/// How long to wait before an engine is started again; the machine may be short of something.
const BEFORE_NEXT_START: Duration = Duration::from_millis(200);

/// What is to be told of an engine that is started.
pub(super) enum SeatNews {
    /// It is being started.
    Starting,
    /// It has told its name.
    Named(String),
    /// Its start went wrong; it is started again, or plays nevertheless.
    Stumbled(String),
}

/// Running engines with their numbers.
#[derive(Default)]
pub(super) struct Seats([Option<(usize, Player)>; 2]);

impl Seats {
    /// Sees to it that the engines of these numbers sit, each on its own seat; `tell` hears of
    /// those that are started.
    ///
    /// # Errors
    /// If one of them cannot be started.
    pub(super) fn take(
        &mut self,
        engines: [(usize, &EngineConfig); 2],
        trace: &Trace,
        mut tell: impl FnMut(usize, SeatNews),
    ) -> Result<(), StartError> {
        for (seat, (engine, config)) in self.0.iter_mut().zip(engines) {
            let fits = |(seated, player): &(usize, Player)| {
                *seated == engine && player.dialect.reusable() && !config.restart
            };
            if seat.as_ref().is_some_and(fits) {
                continue;
            }
            if let Some((_, player)) = seat.take() {
                player.quit();
            }
            tell(engine, SeatNews::Starting);
            let start = || Player::start(config, trace);
            let player = persist(start, |what| tell(engine, SeatNews::Stumbled(what)))?;
            if let Some(what) = player.dialect.stumble() {
                tell(engine, SeatNews::Stumbled(what));
            }
            tell(engine, SeatNews::Named(player.name.clone()));
            *seat = Some((engine, player));
        }
        Ok(())
    }

    /// The engines as White and Black, if White is to be the one with the number `white`.
    pub(super) fn players(&mut self, white: usize) -> Option<[&mut Player; 2]> {
        let [Some((first, a)), Some((_, b))] = &mut self.0 else { return None };
        Some(if *first == white { [a, b] } else { [b, a] })
    }

    /// After a game in which the engine with the number `white` had White: ends engines that broke
    /// down, and returns for White and Black what the one at fault wrote last.
    pub(super) fn clear(&mut self, white: usize, played: &Played) -> [Vec<String>; 2] {
        let mut last_words = [Vec::new(), Vec::new()];
        for seat in &mut self.0 {
            let Some((engine, player)) = seat else { continue };
            let color = usize::from(*engine != white);
            let at_fault = played.verdict.termination.is_fault()
                && played.verdict.winner.is_some_and(|winner| winner.to_index() != color);
            if at_fault {
                last_words[color] = player.dialect.process().last_words();
            }
            if played.broken[color] {
                *seat = None;
            }
        }
        last_words
    }

    /// Ends the engine with this number, which has broken down.
    pub(super) fn drop_engine(&mut self, number: usize) {
        for seat in &mut self.0 {
            seat.take_if(|(engine, _)| *engine == number);
        }
    }

    /// Says goodbye to the engines; they are gone on return.
    pub(super) fn quit(self) {
        for (_, player) in self.0.into_iter().flatten() {
            player.quit();
        }
    }
}

/// Tries to start something until it succeeds, or has failed so often that it is no accident.
///
/// # Errors
/// If it is no accident.
pub(super) fn persist<T>(
    mut start: impl FnMut() -> Result<T, StartError>,
    mut stumbled: impl FnMut(String),
) -> Result<T, StartError> {
    let mut failed = 0;
    loop {
        failed += 1;
        match start() {
            Err(error) if failed < error.attempts() => {
                stumbled(format!("{error}; it is started again"));
            }
            done => return done,
        }
        thread::sleep(BEFORE_NEXT_START * failed);
    }
}
