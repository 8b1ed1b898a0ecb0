//! The file format of a book: header, pawn filter, table, entries, lists of games and manifest.
//!
//! Uses `facets`.

pub(super) mod bucket;
pub(super) mod counts;
pub(super) mod entry;
pub(super) mod error;
pub(super) mod header;
pub(super) mod image;
pub(super) mod lists;
pub(super) mod manifest;
pub(super) mod pawn_filter;
pub(super) mod writer;
