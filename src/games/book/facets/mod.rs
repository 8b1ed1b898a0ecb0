//! Facets: what sets the games of a book apart, and which of them came to a position.
//!
//! A book with facets has a row for each of its games ([`games`]) and, for each position, the
//! numbers of the games that reached it, by the move that they played there (`format::lists`). All else,
//! counts by rating group, speed and month, mean ratings, the highest rated and the latest games, is
//! worked out from these when it is asked for: nine positions in ten have a single game, and the
//! numbers of a thousand games are read in a few microseconds.

#[cfg(feature = "parquet")]
mod game_facets;
mod game_tags;
mod games;
mod kinds;
mod log;

#[cfg(feature = "parquet")]
pub(super) use game_facets::GameFacets;
pub use games::{FileRecord, GameId, ParseGameIdError};
pub(super) use games::{GameRow, Games, number_bytes};
pub use kinds::{ParseFacetError, RatingGroup, Speed};

pub use game_tags::FacetFilter;
pub(super) use game_tags::{CompiledFilter, GameTags};
pub(super) use log::{GameLog, GamesTable};
