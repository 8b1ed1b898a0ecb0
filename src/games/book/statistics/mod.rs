//! What the explorer shows of a position: counts by facet, games, variety, and lines of text.
//!
//! Uses `facets`, `format`, `lookup` and `choice`.

pub(super) mod explore;
pub(super) mod variety;
pub(super) mod words;
