//! The error for text that cannot be parsed.

use thiserror::Error;

/// Text that cannot be parsed, or a value that is out of range.
///
/// The message quotes the text and describes the expected format.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct ParseError(pub(crate) String);
