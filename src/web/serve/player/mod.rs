//! `/player`: the games of one player. They are searched for in the game files of the books when
//! the player is first requested.

mod answer;
mod index;
mod letters;
mod names;
mod order;

pub(crate) use index::Players;
pub(crate) use names::{Completions, PlayerNames};
pub(crate) use order::PlayerOrder;
