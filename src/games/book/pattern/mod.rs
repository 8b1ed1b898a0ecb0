//! Pattern search: finds the games of a book in which the pieces, pawns or material match a
//! pattern.
//!
//! A book stores the location of each game's text, but not its moves. [`MoveIndex`] stores the
//! moves in two bytes per ply, so a million games of 80 plies take 160 MB. A search replays all
//! these games ([`placement`]) and tests every position ([`condition`]). An index of positions
//! would be larger and would support only the patterns that it was designed for.

mod collect;
mod condition;
mod moves;
mod placement;
mod scan;
mod text;

pub use collect::read_moves;
pub use moves::{MOVES_FILE, MoveIndex};
pub use scan::{FoundGame, FoundPosition, Order, PatternAnswer, PatternSearch};
pub use text::Pattern;
