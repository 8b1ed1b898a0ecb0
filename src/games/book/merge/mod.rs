//! Merges and filters books, and selects some of their games.
//!
//! Uses `facets`, `format`, `lookup` and `builder`.

pub(super) mod combine;
pub(super) mod regroup;
pub(super) mod selection;
