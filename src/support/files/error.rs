//! The error for a file.

use std::fmt::Display;
use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::describe;

/// A file or folder that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("cannot {action} {}: {reason}", path.display())]
pub struct FileError {
    /// What failed, such as `read`.
    pub action: &'static str,
    /// The file or folder.
    pub path: PathBuf,
    /// The reason and, after a semicolon, what to do.
    pub reason: String,
}

impl FileError {
    pub(crate) fn new(action: &'static str, path: &Path, reason: impl Display) -> Self {
        FileError { action, path: path.to_owned(), reason: reason.to_string() }
    }

    /// Creates an error that describes an I/O error.
    pub(crate) fn io(action: &'static str, path: &Path, error: &io::Error) -> Self {
        Self::new(action, path, describe(error))
    }
}

impl From<FileError> for io::Error {
    fn from(error: FileError) -> Self {
        io::Error::other(error)
    }
}
