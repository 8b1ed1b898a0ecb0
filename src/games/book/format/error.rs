//! What can be wrong with a book.

use std::io;

use thiserror::Error;

use crate::support::files::describe;

/// Why a book cannot be read or written. One line that names the file, what is wrong and, where
/// it is not plain, what to do.
#[derive(Debug, Error)]
pub enum BookError {
    /// The file cannot be read.
    #[error("cannot read {name}: {reason}")]
    Unreadable {
        /// The file.
        name: String,
        /// Why not.
        reason: String,
    },
    /// The file cannot be written.
    #[error("cannot write {name}: {reason}")]
    Unwritable {
        /// The file.
        name: String,
        /// Why not.
        reason: String,
    },
    /// The file is something else.
    #[error(
        "{name} is no book of Tabia; `tabia book build` makes one from PGN, `tabia book import` from Polyglot"
    )]
    Foreign {
        /// The file.
        name: String,
    },
    /// The file is of another version.
    #[error(
        "{name} has format version {version}, which this Tabia does not read: build the book again, or get a newer Tabia if that wrote it"
    )]
    Version {
        /// The file.
        name: String,
        /// The version that it claims.
        version: u64,
    },
    /// The file ends too early.
    #[error("{name} is truncated: copy it again or build it again")]
    Truncated {
        /// The file.
        name: String,
    },
    /// The file is not what was written.
    #[error("{name} is damaged ({part}): copy it again or build it again")]
    Damaged {
        /// The file.
        name: String,
        /// The part that is wrong.
        part: &'static str,
    },
    /// A book without facets was asked for what only they tell.
    #[error(
        "{name} does not know which games its counts are of: `tabia book build --facets` makes a book that does"
    )]
    NoFacets {
        /// The file.
        name: String,
    },
    /// The input holds no game that counts.
    #[error("{name}: {reason}")]
    NoGames {
        /// The input.
        name: String,
        /// What was there instead.
        reason: String,
    },
    /// A Polyglot book that is none.
    #[error("{name} is no Polyglot book: {reason}")]
    Polyglot {
        /// The file.
        name: String,
        /// What gives it away.
        reason: String,
    },
}

impl BookError {
    pub(crate) fn reading(name: &str, error: &io::Error) -> Self {
        BookError::Unreadable { name: name.to_owned(), reason: describe(error) }
    }

    pub(crate) fn writing(name: &str, error: &io::Error) -> Self {
        BookError::Unwritable { name: name.to_owned(), reason: describe(error) }
    }
}
