//! Annotates one game, or several games in parallel.

use std::io;
use std::sync::{Mutex, PoisonError};

use super::{Annotated, Background, Effort, Study, annotate};
use crate::engine::search::{Config, Searcher};
use crate::games::pgn::PgnGame;
use crate::tools::suite::{Switch, run_parallel};

/// A game with its 0-based index in the input.
pub(crate) type Numbered<T> = (u64, T);

pub(crate) struct Plan {
    pub config: Config,
    pub effort: Effort,
}

/// Annotates games in parallel, and passes each one to `take` as soon as it is finished, in any
/// order. Returns after the last game, or as soon as `take` fails.
///
/// There is one thread per switch. Turning a switch off stops its thread and discards the game that
/// the thread is annotating.
pub(crate) fn annotate_all<E: From<io::Error>>(
    games: impl Iterator<Item = Numbered<PgnGame>> + Send,
    plan: &Plan,
    background: &Background<'_>,
    switches: &[Switch],
    mut take: impl FnMut(Numbered<Annotated>) -> Result<(), E>,
) -> Result<(), E> {
    let games = Mutex::new(games);
    let next = || games.lock().unwrap_or_else(PoisonError::into_inner).next();
    run_parallel(
        switches,
        |switch, done| {
            let mut searcher = Searcher::on_large_stack(plan.config.clone());
            while !switch.is_stopped()
                && let Some((number, game)) = next()
            {
                let annotated = annotate_one(
                    &game,
                    &mut searcher,
                    plan.effort,
                    background,
                    switch,
                    &mut |_, _| {},
                );
                let Some(annotated) = annotated else { return };
                if done.send((number, annotated)).is_err() {
                    return;
                }
            }
        },
        &mut take,
    )
}

/// Annotates one game. Returns `None` if the switch was turned off. After each position,
/// `progress` is called with the number of completed positions and the total.
pub(crate) fn annotate_one(
    game: &PgnGame,
    searcher: &mut Searcher,
    effort: Effort,
    background: &Background<'_>,
    switch: &Switch,
    progress: &mut dyn FnMut(usize, usize),
) -> Option<Annotated> {
    let suspect = background.limits.mistake;
    let study = Study::of(game.replay(), searcher, (effort, suspect), switch, progress)?;
    Some(annotate(game, &study, background))
}
