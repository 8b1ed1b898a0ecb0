//! `/player`: one player's games. The game files of the books are searched for them on the first
//! request.

mod answer;
mod index;
mod names;
mod order;

pub(crate) use index::Players;
pub(crate) use names::{Completions, PlayerNames};
pub(crate) use order::PlayerOrder;
