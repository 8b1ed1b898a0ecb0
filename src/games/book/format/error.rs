use std::io;
use std::path::Path;

use thiserror::Error;

use crate::support::files::FileError;

/// An error in reading or writing a book. The message is a single line that names the file.
#[derive(Debug, Error)]
pub enum BookError {
    /// The file cannot be read or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// The file is not a book.
    #[error(
        "cannot read {name}: not a Tabia book; make one from PGN with `tabia book build`, or \
         from a Polyglot book with `tabia book import`"
    )]
    Foreign {
        /// The name of the file.
        name: String,
    },
    /// The file has an unsupported version.
    #[error(
        "cannot read {name}: unsupported format version {version}; build the book again, or use \
         a newer Tabia if that wrote it"
    )]
    Version {
        /// The name of the file.
        name: String,
        /// The version in the file.
        version: u64,
    },
    /// The file ends too early.
    #[error("cannot read {name}: it is truncated; copy it again or build it again")]
    Truncated {
        /// The name of the file.
        name: String,
    },
    /// Part of the file is damaged.
    #[error("cannot read {name}: it is damaged ({part}); copy it again or build it again")]
    Damaged {
        /// The name of the file.
        name: String,
        /// The damaged part.
        part: &'static str,
    },
    /// The request needs facets, but the book has none.
    #[error(
        "cannot filter by facets: {name} has none; build it again with `tabia book build \
         --facets`"
    )]
    NoFacets {
        /// The name of the file.
        name: String,
    },
    /// No game in the input was counted.
    #[error("{name}: {reason}")]
    NoGames {
        /// The name of the input.
        name: String,
        /// Why no game was counted, for example what the input contains instead of games.
        reason: String,
    },
    /// A Polyglot book is invalid.
    #[error("cannot read {name}: not a Polyglot book: {reason}")]
    Polyglot {
        /// The name of the file.
        name: String,
        /// What is wrong with the file.
        reason: String,
    },
}

impl BookError {
    pub(crate) fn reading(name: &str, error: &io::Error) -> Self {
        FileError::io("read", Path::new(name), error).into()
    }

    pub(crate) fn writing(name: &str, error: &io::Error) -> Self {
        FileError::io("write", Path::new(name), error).into()
    }
}
