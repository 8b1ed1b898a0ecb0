//! Results of an analysis that are not yet in the book: a journal, so that the same command can
//! resume.
//!
//! Its owner is a checksum of the book's entries. Its records are rows as in
//! [`crate::games::book::lookup::values`], each with its CRC-32 (little-endian).

use std::io::{self, BufRead};
use std::path::Path;

use crate::games::book::format::header::VALUE_BYTES as ROW_BYTES;
use crate::games::book::lookup::Book;
use crate::games::book::lookup::values::BookValue;
use crate::support::files::{Journal, JournalError, Kind, Record};

static KIND: Kind = Kind {
    magic: "tabia analysis 1, of the book ",
    stem: "tabia analysis ",
    name: "the analysis journal",
    work: "an analysis",
    rival: "another analysis of this book",
    ..Kind::BASE
};

impl Record for BookValue {
    fn write(&self, bytes: &mut Vec<u8>) -> io::Result<()> {
        let row = self.to_bytes();
        bytes.extend(row);
        bytes.extend(crc32fast::hash(&row).to_le_bytes());
        Ok(())
    }

    fn read(input: &mut impl BufRead) -> io::Result<Option<Self>> {
        let (mut row, mut sum) = ([0; ROW_BYTES], [0; 4]);
        input.read_exact(&mut row)?;
        input.read_exact(&mut sum)?;
        let is_whole = crc32fast::hash(&row).to_le_bytes() == sum;
        Ok(is_whole.then(|| BookValue::from_bytes(&row)))
    }
}

/// Opens or creates the journal at `path` for an analysis of `book`; also returns its values.
///
/// # Errors
/// If it cannot be read and written, belongs to something else, or is in use.
pub(crate) fn open_journal(
    path: &Path,
    book: &Book,
) -> Result<(Journal<BookValue>, Vec<BookValue>), JournalError> {
    let (owner, mut values) = (format!("{:08x}", book.entries_checksum()), Vec::new());
    let journal = Journal::open(path, &KIND, &owner, |value, _| values.push(value))?;
    Ok((journal, values))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::position::Position;

    fn value(key: u64) -> BookValue {
        let own = Position::start().legal_moves().iter().next().map(|mv| (mv, 12));
        BookValue {
            key,
            score: 0,
            best: None,
            outside: None,
            own,
            depth: 0,
            own_depth: 9,
            nodes: 5_000,
        }
    }

    #[test]
    fn all_values_before_a_torn_or_damaged_row_are_kept() {
        const BYTES: usize = ROW_BYTES + 4;
        let dir = tempfile::tempdir().expect("a folder");
        let (path, book) = (dir.path().join("x.analysis"), Book::embedded());
        let (mut journal, held) = open_journal(&path, &book).expect("new");
        assert_eq!(held, []);
        (1..=3).for_each(|key| journal.append(&value(key)).expect("written"));
        drop(journal);
        let whole = std::fs::read(&path).expect("the file");
        let headline = whole.len() - 3 * BYTES;
        let check = |bytes: &[u8], expected: usize| {
            std::fs::write(&path, bytes).expect("written");
            let (_, held) = open_journal(&path, &book).expect("mended");
            assert_eq!(held, (1..=expected as u64).map(value).collect::<Vec<_>>());
        };
        for place in headline..whole.len() {
            let expected = (place - headline) / BYTES;
            check(&whole[..place], expected);
            let mut damaged = whole.clone();
            damaged[place] ^= 1;
            check(&damaged, expected);
        }
    }
}
