//! Reads PGN games from streams, and writes PGN text. Does not depend on books or matches.
//!
//! Real collections contain errors, and guessing the intended move would lead to wrong positions.
//! Therefore a game ends at its first illegal move, or at the first word that is not a move. The
//! moves before it are kept. If an empty line divides a game, the two parts are joined. Movetext
//! without tags is read as a game, but prose is not. After an error, reading continues with the
//! next game.
//!
//! Format: <http://www.saremba.de/chessgml/standards/pgn/pgn-complete.htm>.
//!
//! `plain` reads plain games with `pgn-reader` and compares each token with the text. `parser`,
//! `scan` and `bounds` read everything else, such as tags and moves in other notations and
//! languages.
//!
//! ```
//! use tabia::pgn::{GameStatus, GameResult, read_games};
//!
//! let text = "[White \"A\"]\n\n1. e4 e5 {hm} 2. Nf3 $1 Nd4?? 3. Qxf7 *\n\n1. d4 1/2-1/2\n";
//! let games = read_games(text.as_bytes()).collect::<Result<Vec<_>, _>>()?;
//! let (first, end) = &games[0];
//! assert_eq!((first.tag("White"), first.moves.len()), (Some("A"), 3));
//! assert!(matches!(&end.status, GameStatus::Broken(fault) if fault.san.as_deref() == Some("Nd4")));
//! let (second, end) = &games[1];
//! assert_eq!((second.result, &end.status), (GameResult::Draw, &GameStatus::Read));
//! assert!(second.to_string().ends_with("1. d4 1/2-1/2\n"));
//! # Ok::<(), std::io::Error>(())
//! ```

mod bounds;
mod chunks;
mod collect;
mod date;
mod detect;
mod encoding;
mod fault;
mod game;
mod input;
mod language;
#[cfg(feature = "parquet")]
mod parquet;
mod parser;
mod paths;
mod plain;
mod reader;
mod scan;
mod state;
mod tags;
mod text_reader;
mod tree;
mod visitor;
mod wide;
mod writer;

pub(crate) use chunks::{BrokenInput, Chunk, Chunks, ReadSoFar};
pub(crate) use collect::Collector;
pub use collect::read_games;
pub use date::{GameDate, Month, PgnDate};
pub(crate) use detect::language_of;
pub use fault::{Fault, FaultReason, GameEnd, GameStatus};
pub use game::{GameResult, PgnGame, PgnMove, TreeMove, Unread, Variation};
pub(crate) use input::InputParts;
pub use input::PgnInput;
pub use language::Language;
#[cfg(feature = "parquet")]
pub(crate) use parquet::{io_error, open_parquet};
pub(crate) use paths::UNFINISHED;
pub use reader::Reader;
pub use tags::Tags;
pub(crate) use tags::text;
pub(crate) use text_reader::TextReader;
pub(crate) use tree::OpeningCache;
pub use visitor::{GamePly, VariationText, Visitor};
