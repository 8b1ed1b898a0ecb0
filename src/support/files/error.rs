//! The error type for files and folders that cannot be used.

use std::fmt::Display;
use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::describe;
use crate::support::words::visible;

/// An error that names a file or folder, the action that failed, and the reason.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("cannot {action} {}: {reason}", visible(&path.to_string_lossy()))]
pub struct FileError {
    /// The action that failed, such as `read`.
    pub action: &'static str,
    /// The path of the file or folder.
    pub path: PathBuf,
    /// The reason, which may be followed by a semicolon and advice.
    pub reason: String,
}

impl FileError {
    pub(crate) fn new(action: &'static str, path: &Path, reason: impl Display) -> Self {
        FileError { action, path: path.to_owned(), reason: reason.to_string() }
    }

    pub(crate) fn io(action: &'static str, path: &Path, error: &io::Error) -> Self {
        Self::new(action, path, describe(error))
    }
}

/// Adds the failed action and the path to an I/O error.
pub(crate) trait Cannot<T> {
    /// Converts an I/O error to the message `cannot ACTION PATH: REASON`.
    fn cannot(self, action: &'static str, path: impl AsRef<Path>) -> Result<T, FileError>;
}

impl<T> Cannot<T> for io::Result<T> {
    fn cannot(self, action: &'static str, path: impl AsRef<Path>) -> Result<T, FileError> {
        self.map_err(|error| FileError::io(action, path.as_ref(), &error))
    }
}

impl From<FileError> for io::Error {
    fn from(error: FileError) -> Self {
        io::Error::other(error)
    }
}
