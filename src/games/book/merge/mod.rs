//! Merges, cuts and extends books, and selects subsets of their games. Uses `facets`, `format`,
//! `lookup` and `builder`.

pub(super) mod combine;
pub(super) mod growth;
pub(super) mod regroup;
pub(super) mod selection;
