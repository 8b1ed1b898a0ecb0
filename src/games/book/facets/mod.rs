//! Facets: the tags of the games in a book, and the games that reached each position.
//!
//! A book with facets has a row for each of its games ([`games`]). For each position, it lists the
//! numbers of the games that reached the position, grouped by the move played there
//! (`format::lists`). Everything else is computed on request: counts by rating group, speed and
//! month, mean ratings, and the highest-rated and latest games. This is fast: nine out of ten
//! positions were reached by a single game, and reading the numbers of a thousand games takes a few
//! microseconds.
//!
//! The alternative, tables of counts by facet, would have to list all facets in advance, and could
//! not provide the highest-rated games that pass a filter. Games are numbered from the latest to
//! the earliest, so a list starts with the latest games and each month is a contiguous range. The
//! id of a game is a hash of its text, which shows whether the file still contains the game.

#[cfg(feature = "parquet")]
mod game_facets;
mod game_tags;
mod games;
mod kinds;
mod log;

#[cfg(feature = "parquet")]
pub(super) use game_facets::GameFacets;
pub use games::{FileRecord, GameId};
pub(super) use games::{GameRow, Games, number_bytes};
pub use kinds::{RatingGroup, Speed};

pub use game_tags::FacetFilter;
pub(super) use game_tags::{CompiledFilter, GameTags};
pub(super) use log::{GameLog, GamesTable};
