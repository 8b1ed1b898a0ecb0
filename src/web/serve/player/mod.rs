//! `/player`: the games of one player, which are found in the books' game files on the first
//! request.

mod answer;
mod index;
mod order;

pub(crate) use index::Players;
pub(crate) use order::PlayerOrder;
