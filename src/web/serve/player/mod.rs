//! `/player`: the games of one player, found in the files of the books at the first request.

mod answer;
mod index;
mod order;

pub(crate) use index::Players;
pub(crate) use order::PlayerOrder;
