//! Search values of positions: stored while the searches run, backed up along the moves, and used
//! to extend the book.
//!
//! Uses `facets`, `format`, `lookup` and `merge`. The searches are in `tools::suite`.

pub(super) mod backup;
pub(super) mod growth;
pub(super) mod journal;
