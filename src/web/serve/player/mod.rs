//! `/player`: the games of one player, found in the game files of the books on the first request.

mod answer;
mod index;
mod order;

pub(crate) use index::Players;
pub(crate) use order::PlayerOrder;
