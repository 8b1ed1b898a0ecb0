//! The error type for text that cannot be parsed.

use thiserror::Error;

/// An error for text that cannot be parsed, or for a value that is out of range.
///
/// The message quotes the text and describes the expected format.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct ParseError(pub(crate) String);
