//! Chooses a move from a book. Uses `facets`, `format` and `lookup`.

pub(super) mod candidate;
pub(super) mod certainty;
pub(super) mod chooser;
pub(super) mod policy;
pub(super) mod veto;
