//! The opening book: positions, the games that reached them by any move order, and the moves played
//! there.
//!
//! The bytes of a book are the same in a `.tbk` file, in the embedded default book, and in a book
//! built from PGN in memory. Files are read rather than memory-mapped, because a program that
//! truncates a mapped file would crash the engine. A lookup tests the pawn filter, then the bucket
//! (a row with its own filter), and then the entries. No filter has false negatives.
//!
//! ```
//! use tabia::book::{BuildOptions, Counts, build_in_memory};
//! use tabia::pgn::PgnInput;
//! use tabia::position::Position;
//!
//! let games = "1. d4 Nf6 2. c4 e6 1-0\n\n1. c4 e6 2. d4 Nf6 0-1\n\n1. c4 Nf6 2. d4 g6 1/2-1/2\n";
//! let games = PgnInput::Text("my games".to_owned(), games.as_bytes().into());
//! let (book, tally) = build_in_memory(&[games], &BuildOptions::default(), "my book")?;
//! assert_eq!(tally.broken, 0);
//! let position = ["c4", "Nf6", "d4"].iter().try_fold(Position::start(), |position, text| {
//!     position.parse_move(text).map(|mv| position.play(mv))
//! })?;
//! assert_eq!(book.reached(&position), Some(Counts::new(1, 1, 0)));
//! let moves = book.moves(&position);
//! let e6 = moves.iter().find(|found| position.san(found.mv) == "e6").expect("played");
//! assert_eq!((e6.played, e6.reached), (Counts::new(1, 0, 0), Counts::new(1, 0, 1)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod builder;
mod choice;
mod facets;
mod format;
mod learning;
mod lookup;
mod merge;
mod open;
#[cfg(feature = "parquet")]
mod partial;
mod pattern;
mod statistics;

#[cfg(fuzzing)]
pub(crate) use builder::save_state;
pub use builder::{
    BookOutput, BuildError, BuildOptions, BuildTally, Checkpoints, DEFAULT_MAX_PLY, DEFAULT_MEMORY,
    EcoRange, FaultListener, GameFault, GameFilter, Monitor, build, build_in_memory,
};
pub(crate) use builder::{names_player, surname_letters};
pub use choice::candidate::{Candidate, Choice, Rejection};
pub(crate) use choice::certainty::{mean_and_error, quantile};
pub use choice::chooser::Chooser;
pub(crate) use choice::chooser::MAX_LOSS;
pub use choice::policy::Policy;
pub use choice::veto::Veto;
pub use facets::{FacetFilter, FileRecord, GameId, RatingGroup, Speed};
pub use format::counts::Counts;
pub(crate) use format::counts::decided;
pub use format::entry::BookEntry;
pub use format::error::BookError;
pub(crate) use format::header::VALUE_BYTES;
pub(crate) use format::manifest::checksum_text;
pub use format::manifest::{GameTotals, InputRecord, Manifest, Skipped};
pub use format::writer::write_entries;
pub(crate) use learning::{
    Found, HEADLINE, LearnFile, Learned, Row, Stamp, UnrefutedMove, is_learning, stamp,
};
pub(crate) use lookup::SELF_PLAY;
pub use lookup::game_text::GameError;
pub use lookup::names::{NamedOpening, Names};
pub(crate) use lookup::pending_lookup::PendingLookup;
pub use lookup::values::{BookValue, Scored};
pub(crate) use lookup::values::{before, kept_nodes};
pub use lookup::walk::Visited;
pub use lookup::{Book, BookMove, EMBEDDED_NAME};
pub use merge::combine::{Cut, Difference, Shared, add, cut, differences, merge, shared};
pub(crate) use merge::growth::{FrontierMove, grow, grown_positions, has_grown_from};
pub use merge::selection::Selection;
pub use open::BOOK_SEPARATOR;
pub(crate) use open::opponent_book::OpponentBook;
pub use open::polyglot::Export;
pub(crate) use open::{
    BOOK_FILE, NO_BOOK_NAME, POLYGLOT_FILE, has_book_ending, is_of_games, variations_without_result,
};
#[cfg(feature = "parquet")]
pub use partial::{Packed, Partial, count_to_parquet, pack_parquet};
pub use pattern::{
    FoundGame, FoundPosition, MOVES_FILE, MoveIndex, Order, Pattern, PatternAnswer, PatternSearch,
    read_moves,
};
pub(crate) use statistics::entropy::{MoveSelection, PlyEntropy, entropy};
pub(crate) use statistics::explore::Breadth;
pub use statistics::explore::{MoveStats, PositionStats};
pub(crate) use statistics::game_ids::{CommonGames, GameIds, Repeats};
pub(crate) use statistics::move_orders::{Arrival, MoveOrders, arrivals, move_orders};
pub(crate) use statistics::position_games::{GameFacts, PositionGames};
pub use statistics::summary::{GameSummary, LISTED_GAMES, ListedGame, MonthCounts, Player};
pub(crate) use statistics::words::{
    ANALYSED, ENDED, MEETS_BOOK, at_the_end, book_lines, transposition,
};
