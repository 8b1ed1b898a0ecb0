//! A stub for the endgame tables in builds without the `syzygy` feature.

use std::path::Path;

use super::{RankedMove, RootProbe, TablebaseResult};
use crate::chess::position::{Color, Position};
use crate::support::files::FileError;

/// Syzygy tables. This build lacks the `syzygy` feature, so no value of this type can exist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Tables {}

impl Tables {
    /// Returns an error, because this build does not support endgame tables.
    ///
    /// # Errors
    ///
    /// Always.
    pub fn open(path: &Path) -> Result<Self, FileError> {
        let reason = "this build lacks the feature `syzygy`";
        Err(FileError::new("use endgame tables in", path, reason))
    }

    /// Returns the error messages for unusable files.
    pub fn take_damage(&self) -> Vec<String> {
        match *self {}
    }

    /// Whether the tables may contain a position, judging by its number of pieces and its castling
    /// rights.
    pub fn can_probe(&self, _: &Position) -> bool {
        match *self {}
    }

    /// Returns the result for a position immediately after a capture or pawn move.
    pub fn after_zeroing(&self, _: &Position) -> Option<TablebaseResult> {
        match *self {}
    }

    /// Returns the side that wins with best play, or `Some(None)` if the position is a draw.
    pub fn winner(&self, _: &Position) -> Option<Option<Color>> {
        match *self {}
    }

    /// Returns the best moves according to the tables.
    pub fn probe_root(&self, _: &Position) -> Option<RootProbe> {
        match *self {}
    }

    /// Returns all legal moves with their results, in generation order.
    pub fn ranked(&self, _: &Position) -> Option<Vec<RankedMove>> {
        match *self {}
    }
}
