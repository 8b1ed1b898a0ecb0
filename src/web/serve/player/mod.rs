//! `/player`: the games of one player, found in the game files of the books on the first request.

mod answer;
mod index;
mod names;
mod order;

pub(crate) use index::Players;
pub(crate) use names::{Completions, PlayerNames};
pub(crate) use order::PlayerOrder;
