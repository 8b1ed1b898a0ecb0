//! Statistics of a position for the explorer (counts by facet, games, entropy), and their
//! descriptions in words. Uses `facets`, `format`, `lookup` and `choice`.

pub(super) mod entropy;
pub(super) mod explore;
pub(super) mod game_ids;
pub(super) mod move_orders;
pub(super) mod position_games;
pub(super) mod summary;
pub(super) mod words;
