//! The errors that can end a match.

use thiserror::Error;

use super::player::StartError;
use crate::support::error::ParseError;
use crate::support::files::{FileError, JournalError};

/// The reason why a match ends early or its results cannot be written.
#[derive(Debug, Error)]
pub enum MatchError {
    /// An engine cannot be started or cannot play.
    #[error(transparent)]
    Start(#[from] StartError),
    /// The games, the report or the statistics cannot be written.
    #[error(transparent)]
    File(#[from] FileError),
    /// The state file cannot be used.
    #[error(transparent)]
    State(#[from] JournalError),
    /// The report cannot be written, because the state file contains a game that cannot be
    /// replayed.
    #[error(transparent)]
    Report(#[from] ParseError),
}
