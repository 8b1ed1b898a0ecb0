//! PGN: streaming games in, on `pgn-reader`, and text out. Knows nothing of books or matches.
//!
//! Real collections are dirty, and `pgn-reader` is lenient to the point of playing on in a wrong
//! position. So a game stops at its first illegal move and keeps what came before; what has no
//! tags is the tail of a torn game and is refused; variants are told apart before their first
//! move. Whatever happens, the next game is read.
//!
//! Format: <http://www.saremba.de/chessgml/standards/pgn/pgn-complete.htm>.

mod chunks;
mod game;
mod input;
mod reader;
mod tags;
mod tree;
mod writer;

pub use chunks::{BrokenInput, Chunk, Chunks};
pub use game::{GameResult, PgnGame, PgnMove, read_games};
pub use input::{Input, InputError, in_words};
pub use reader::{Experience, Fate, Fault, FaultReason, GameEnd, Ply, Reader, Visitor};
pub use tags::Tags;
pub use writer::Writer;
