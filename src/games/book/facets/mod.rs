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
//!
//! # Adding a facet
//!
//! 1. Define its values in `kinds.rs`, with `named_values!`, and export the type in this file and in
//!    `src/games/book/mod.rs`.
//! 2. Store it in the nine free bits above the date in `GameTags` (`game_tags.rs`); zero means
//!    unknown. Read its tag in `GameTags::of`, and add the tag to `GameTags::uses`. Mask the bits in
//!    `date`, and replace the derived order by one that compares them last, so that later games
//!    still have greater values.
//! 3. Extend `FacetFilter`, including `describe`, and `CompiledFilter` in the same file. Test the
//!    new bits in `passes`: `accepts` has only what a listed game contains.
//! 4. Add the facet to `describe` in `src/tools/opening_report/mod.rs`.
//! 5. Add the argument to `src/cli/book/facets.rs`, the parameter to `PARAMETERS` and `read` in
//!    `src/web/serve/facets.rs`, and a list to `LISTS` in `src/web/serve/page/filters.js`.
//! 6. Add the parameter to `components` in `src/web/serve/openapi.json`, and refer to it in the four
//!    paths that have filters. Describe it in `docs/reference/http.md` and
//!    `docs/reference/book-commands.md`.

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
