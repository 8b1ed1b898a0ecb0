//! Facets: the tags of a book's games, and which games reached a position.
//!
//! A book with facets has a row for each of its games ([`games`]) and, for each position, the
//! numbers of the games that reached it, by the move that they played there (`format::lists`).
//! Everything else is computed on request: counts by rating group, speed and month, mean ratings,
//! the highest rated and the latest games. Nine positions in ten have a single game, and the
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
