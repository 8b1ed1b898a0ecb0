//! Facets: the tags of the games in a book, and the games that reached each position.
//!
//! A book with facets has a row for each of its games ([`games`]). For each position, it lists the
//! numbers of the games that reached the position, grouped by the move played there
//! (`format::lists`). Everything else is computed on request: counts by rating group, speed and
//! month, mean ratings, and the highest-rated and latest games. This is fast: nine out of ten
//! positions were reached by a single game, and reading the numbers of a thousand games takes a few
//! microseconds.
//!
//! Games are numbered from latest to earliest, so every list starts with the latest games, and the
//! games of each month have consecutive numbers. Each row contains a hash of the game's text, so
//! that a change of the text in the original file is detected.
//!
//! The alternative would be to store tables of counts by facet. All facets would then have to be
//! chosen in advance, and it would be impossible to find the highest-rated games that pass a
//! filter.

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
