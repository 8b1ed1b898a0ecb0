//! Keeps the results of searches in positions of a book, as requested by `--keep`.
//!
//! The file is an analysis journal. `tabia book analyse` can resume from it.

use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::journal::{AnalysisJournal, open_journal};
use super::{is_longer, longest};
use crate::chess::position::{KeyMap, Move, Position};
use crate::chess::score::{Depth, Score};
use crate::games::book::{Book, BookError, BookValue};
use crate::support::files::JournalError;

/// The result of a search of all moves in a position.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SearchedMove {
    pub(crate) mv: Move,
    pub(crate) score: Score,
    pub(crate) depth: Depth,
    pub(crate) nodes: u64,
}

/// The values of a book and of a journal, from the longest search of each position.
#[derive(Debug)]
pub(crate) struct KeptValues {
    book: Book,
    state: Mutex<State>,
    /// Whether the journal contained values when it was opened.
    had_values: bool,
}

#[derive(Debug)]
struct State {
    journal: AnalysisJournal,
    known: KeyMap<BookValue>,
}

impl KeptValues {
    /// Opens or creates the journal for `book`.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be read or created, or belongs to another book.
    pub(crate) fn open(path: &Path, book: &Book) -> Result<Self, JournalError> {
        let (journal, found) = open_journal(path, book)?;
        let had_values = !found.is_empty();
        let known = longest(book.values().chain(found));
        Ok(KeptValues {
            book: book.clone(),
            state: Mutex::new(State { journal, known }),
            had_values,
        })
    }

    /// Returns a copy of the book that includes the values from the journal.
    ///
    /// # Errors
    ///
    /// Fails if the book is damaged.
    pub(crate) fn book_with_values(&self) -> Result<Book, BookError> {
        if !self.had_values {
            return Ok(self.book.clone());
        }
        let mut values: Vec<BookValue> = self.state().known.values().copied().collect();
        values.sort_unstable_by_key(|value| value.key);
        self.book.with_values(&values)
    }

    pub(crate) fn get(&self, position: &Position) -> Option<BookValue> {
        self.state().known.get(&position.key()).copied()
    }

    /// Appends the value of a position to the journal. Skips positions that are not in the book and
    /// those that already have a value from an equally long or longer search.
    ///
    /// # Errors
    ///
    /// Fails if the value cannot be written.
    pub(crate) fn append(
        &self,
        position: &Position,
        found: SearchedMove,
    ) -> Result<(), JournalError> {
        let value = value(position, found);
        let mut state = self.state();
        let replaces = state.known.get(&value.key).is_none_or(|old| is_longer(&value, old));
        if replaces && self.book.reached(position).is_some() {
            state.journal.append(&value.to_bytes())?;
            state.known.insert(value.key, value);
        }
        Ok(())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn value(position: &Position, SearchedMove { mv, score, depth, nodes }: SearchedMove) -> BookValue {
    let own = Some((mv, score));
    BookValue {
        key: position.key(),
        score,
        best: Some(mv),
        outside: own,
        own,
        depth,
        own_depth: depth,
        nodes,
    }
}
