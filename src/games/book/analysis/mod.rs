//! Values of positions from searches: kept while the searches run, backed up along the moves, and
//! the book extended by what they ask for.
//!
//! Uses `facets`, `format`, `lookup` and `merge`. The searches are those of `tools::suite`.

pub(super) mod backup;
pub(super) mod growth;
pub(super) mod journal;
