//! The journal of analysis results that are not yet in the book. It allows an interrupted analysis
//! to be resumed.

use std::path::Path;

use crate::games::book::{Book, BookValue, VALUE_BYTES as ROW_BYTES};
use crate::support::files::{Journal, JournalError, Kind};

static KIND: Kind = Kind { magic: "tabia analysis 2; book ", name: "the analysis journal" };

/// A journal of analysis results, each encoded by [`BookValue::to_bytes`].
pub(crate) type AnalysisJournal = Journal<[u8; ROW_BYTES]>;

/// Opens or creates the journal for an analysis of `book`. Returns the journal and the values
/// already stored in it.
pub(crate) fn open_journal(
    path: &Path,
    book: &Book,
) -> Result<(AnalysisJournal, Vec<BookValue>), JournalError> {
    let (owner, mut values) = (format!("{:08x}", book.entries_checksum()), Vec::new());
    let journal =
        Journal::open(path, &KIND, &owner, |row, _| values.push(BookValue::from_bytes(&row)))?;
    Ok((journal, values))
}
