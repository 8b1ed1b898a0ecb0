//! The file format of a book. Uses `facets`.

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
