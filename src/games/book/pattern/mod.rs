//! Search by pattern: the games of a book in which pieces, pawns or material have a given form.
//!
//! A book stores where the text of each game is, but not the moves. [`MoveIndex`] contains them: two
//! bytes a ply, so that a million games of 80 plies take 160 MB. A search replays all games from
//! there ([`placement`]) and tests every position ([`condition`]). An index of positions would be
//! larger and could answer only the patterns for which it was made.

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
