//! Many games, annotated on several threads.

use std::sync::{Mutex, PoisonError};

use super::{Annotated, Background, Effort, Study, annotate};
use crate::pgn::PgnGame;
use crate::position::Game;
use crate::search::{Config, Searcher};
use crate::suite::{Switch, share_out};

/// A game with the number it has in the input, from 0.
pub(crate) type Numbered<T> = (u64, T);

/// How games are searched.
pub(crate) struct Plan {
    /// What each thread searches with.
    pub config: Config,
    /// What the search of a position may take.
    pub effort: Effort,
}

/// Annotates games, and hands each over as it is done, in any order, until there are no more or
/// `take` fails. There is a thread for each switch, which ends its searches; a game whose searches
/// were ended is none.
///
/// # Errors
/// Those of `take`.
pub(crate) fn annotate_all<E>(
    games: impl Iterator<Item = Numbered<PgnGame>> + Send,
    plan: &Plan,
    background: &Background<'_>,
    switches: &[Switch],
    mut take: impl FnMut(Numbered<Annotated>) -> Result<(), E>,
) -> Result<(), E> {
    let games = Mutex::new(games);
    let next = || games.lock().unwrap_or_else(PoisonError::into_inner).next();
    share_out(
        switches,
        |switch, done| {
            let mut searcher = Searcher::new(plan.config.clone());
            while !switch.is_stopped()
                && let Some((number, game)) = next()
            {
                let study = Study::of(moves_of(&game), &mut searcher, plan.effort, switch);
                let Some(study) = study else { return };
                if done.send((number, annotate(&game, &study, background))).is_err() {
                    return;
                }
            }
        },
        &mut take,
    )
}

/// The moves of a game; those of a PGN game are legal.
fn moves_of(pgn: &PgnGame) -> Game {
    let mut game = Game::new(pgn.start);
    for played in &pgn.moves {
        if game.play(played.mv).is_err() {
            break;
        }
    }
    game
}
