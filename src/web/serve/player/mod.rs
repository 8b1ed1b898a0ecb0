//! `/player`: the games of one player, looked for in the files of the books when somebody first asks.

mod answer;
mod index;
mod order;

pub(crate) use index::Players;
pub(crate) use order::PlayerOrder;
