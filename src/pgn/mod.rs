//! PGN: streaming games in, and text out. Knows nothing of books or matches.
//!
//! Real collections are dirty, and guesses about them end in wrong positions. So a game stops at
//! its first illegal move, or at the first word that is none, and keeps what came before; what an
//! empty line tore off its game is joined to it; movetext without tags is a game, prose is not;
//! variants are told apart before their first move. Whatever happens, the next game is read.
//!
//! Format: <http://www.saremba.de/chessgml/standards/pgn/pgn-complete.htm>.

mod bounds;
mod chunks;
mod detect;
mod encoding;
mod fault;
mod game;
mod input;
mod language;
mod parser;
mod reader;
mod scan;
mod state;
mod tags;
mod text_reader;
mod tree;
mod visitor;
mod writer;

pub use chunks::{BrokenInput, Chunk, Chunks};
pub use detect::language_of;
pub use fault::{Fate, Fault, FaultReason, GameEnd};
pub use game::{GameResult, PgnGame, PgnMove, read_games};
pub use input::{Input, InputError};
pub use language::{Language, ParseLanguageError};
pub use reader::Reader;
pub use tags::Tags;
pub use text_reader::{Experience, TextReader};
pub use visitor::{Ply, Visitor};
