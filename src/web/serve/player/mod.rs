//! `/player`: the games of one player. On the first request for a player, they are searched for in
//! the game files of the books.

mod answer;
mod index;
mod order;

pub(crate) use index::Players;
pub(crate) use order::PlayerOrder;
