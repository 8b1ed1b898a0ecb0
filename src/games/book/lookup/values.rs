//! Search results for the positions in a book. An analysis adds them to the file as a section.
//!
//! ```text
//! for each position, sorted by key, little-endian:
//!   key        8 bytes
//!   score      i16: score of best play, within the analysis or outside it
//!   best       2 bytes: first move of best play, encoded as in entries; 0 for none
//!   outside    i16, 2 bytes: score of the best move that leads out of the analysis, and the move
//!   own        i16, 2 bytes: score of the best move in a search of all moves, and the move
//!   depth      u8: the depth of the score, in plies
//!   own depth  u8: the depth that the searches reached, in plies
//!   nodes      u16: nodes per search, in thousands
//! ```
//! Rows have a fixed length, and keys are uniform. Interpolation therefore gives a good estimate of
//! the index of a row. An exponential search from there finds the row.

use std::io::{self, Write};

use super::Book;
use crate::chess::position::{Move, Position};
use crate::chess::score::{Depth, Score, from_table};
use crate::games::book::format::error::BookError;
use crate::games::book::format::header::{HEADER_BYTES, Section, VALUE_BYTES as ROW_BYTES};

const NODES_UNIT: u64 = 1_000;

/// A move and its score in centipawns, from the point of view of the side that plays it.
pub type Scored = (Move, Score);

/// Search results for a position. Scores are in centipawns for the side to move. Mate distances are
/// counted from this position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BookValue {
    /// The key of the position.
    pub key: u64,
    /// The backed-up score, assuming best play by both sides. The best line may leave the analysed
    /// positions.
    pub score: Score,
    /// The best move, whose score is `score`; `None` if the game is over.
    pub best: Option<Move>,
    /// The best move that leads to a position that was not analysed, with its score; `None` if
    /// there is no such move.
    pub outside: Option<Scored>,
    /// The best move and its score in a search of this position that considered all its legal
    /// moves.
    pub own: Option<Scored>,
    /// The depth of the backed-up score, in plies.
    pub depth: Depth,
    /// The depth in plies of a search of this position itself, as opposed to the backed-up `depth`.
    pub own_depth: Depth,
    /// The number of nodes searched, rounded down to a multiple of 1,000 and capped at 65,535,000.
    pub nodes: u64,
}

fn thousands(nodes: u64) -> u16 {
    u16::try_from(nodes / NODES_UNIT).unwrap_or(u16::MAX)
}

/// Returns `nodes` at the precision of a table row: rounded down to a multiple of 1,000 and at most
/// 65,535,000.
pub(crate) fn kept_nodes(nodes: u64) -> u64 {
    u64::from(thousands(nodes)) * NODES_UNIT
}

impl BookValue {
    pub(crate) fn to_bytes(self) -> [u8; ROW_BYTES] {
        let score = |score: Score| (score as i16).to_le_bytes();
        let word = |mv: Option<Move>| mv.map_or(0, Move::to_polyglot).to_le_bytes();
        let scored = |found: Option<Scored>| {
            let [a, b] = score(found.map_or(0, |(_, score)| score));
            let [c, d] = word(found.map(|(mv, _)| mv));
            [a, b, c, d]
        };
        let mut row = [0; ROW_BYTES];
        row[..8].copy_from_slice(&self.key.to_le_bytes());
        row[8..10].copy_from_slice(&score(self.score));
        row[10..12].copy_from_slice(&word(self.best));
        row[12..16].copy_from_slice(&scored(self.outside));
        row[16..20].copy_from_slice(&scored(self.own));
        row[20] = self.depth.clamp(0, u8::MAX.into()) as u8;
        row[21] = self.own_depth.clamp(0, u8::MAX.into()) as u8;
        row[22..].copy_from_slice(&thousands(self.nodes).to_le_bytes());
        row
    }

    pub(crate) fn from_bytes(row: &[u8; ROW_BYTES]) -> Self {
        let word = |at: usize| u16::from_le_bytes([row[at], row[at + 1]]);
        let score = |at: usize| Score::from(word(at) as i16);
        let scored = |at: usize| Move::from_polyglot(word(at + 2)).map(|mv| (mv, score(at)));
        BookValue {
            key: key(row),
            score: score(8),
            best: Move::from_polyglot(word(10)),
            outside: scored(12),
            own: scored(16),
            depth: row[20].into(),
            own_depth: row[21].into(),
            nodes: u64::from(word(22)) * NODES_UNIT,
        }
    }
}

pub(crate) fn before(score: Score) -> Score {
    -from_table(score, 1)
}

fn key(row: &[u8; ROW_BYTES]) -> u64 {
    let mut key = [0; 8];
    key.copy_from_slice(&row[..8]);
    u64::from_le_bytes(key)
}

pub(crate) fn find(section: &[u8], wanted: u64) -> Option<BookValue> {
    let rows = section.as_chunks::<ROW_BYTES>().0;
    // Keys are uniformly distributed, so interpolating the key in the `u64` range gives a good
    // estimate of its row in the table.
    let guess = ((u128::from(wanted) * rows.len() as u128) >> u64::BITS) as usize;
    let (mut low, mut high, mut step) = (guess, guess, 1);
    while low > 0 && key(&rows[low - 1]) >= wanted {
        low = low.saturating_sub(step);
        step *= 2;
    }
    step = 1;
    while high < rows.len() && key(&rows[high]) < wanted {
        high = (high + step).min(rows.len());
        step *= 2;
    }
    let at = low + rows[low..high].partition_point(|row| key(row) < wanted);
    rows.get(at).filter(|row| key(row) == wanted).map(BookValue::from_bytes)
}

pub(crate) fn all(section: &[u8]) -> impl ExactSizeIterator<Item = BookValue> + '_ {
    section.as_chunks().0.iter().map(BookValue::from_bytes)
}

impl Book {
    /// Returns the search results for a position, if there are any. In a chain of books, returns
    /// the results with the greatest depth.
    pub fn value(&self, position: &Position) -> Option<BookValue> {
        let own = || find(self.image.values(), position.key());
        let found = if self.image.may_hold_pawns(position.pawn_key()) { own() } else { None };
        let behind = self.next.as_ref().and_then(|next| next.value(position));
        let is_deeper = |other: &BookValue| found.is_none_or(|found| other.depth > found.depth);
        behind.filter(is_deeper).or(found)
    }

    /// Returns a checksum of all values in this book and the books chained after it, or `None` if
    /// they contain no values.
    pub(crate) fn values_checksum(&self) -> Option<u64> {
        let values = self.image.header().sections.values;
        let own = (values.length > 0).then_some(values.checksum);
        let behind = self.next.as_ref().and_then(|next| next.values_checksum());
        match (own, behind) {
            (Some(own), Some(behind)) => Some(own.rotate_left(32) ^ behind),
            (own, behind) => own.or(behind),
        }
    }

    /// Returns the value of a move in centipawns, from the point of view of the side that plays it.
    /// Returns `None` if the book has no search results for the resulting position.
    pub fn value_of_move(&self, position: &Position, mv: Move) -> Option<Score> {
        self.value(&position.play(mv)).map(|value| before(value.score))
    }

    /// Iterates over all search results in this book, sorted by key. Chained books are not
    /// included.
    pub fn values(&self) -> impl ExactSizeIterator<Item = BookValue> + '_ {
        all(self.image.values())
    }

    /// Returns a copy of this book in which `values`, which must be sorted by key, replace its
    /// values.
    pub(crate) fn with_values(&self, values: &[BookValue]) -> Result<Self, BookError> {
        let to_error = |error: io::Error| BookError::writing(self.name(), &error);
        let bytes = self.write_with_values(values, Vec::new()).map_err(to_error)?;
        Self::from_bytes(bytes, self.name())
    }

    /// Writes a copy of this book in which `values`, which must be sorted by key, replace its
    /// values.
    ///
    /// # Errors
    /// If the output cannot be written.
    pub fn write_with_values<W: Write>(
        &self,
        values: &[BookValue],
        mut output: W,
    ) -> io::Result<W> {
        let mut rows = Vec::with_capacity(values.len() * ROW_BYTES);
        values.iter().for_each(|value| rows.extend_from_slice(&value.to_bytes()));
        let mut header = *self.image.header();
        let end = header.sections.before_values();
        let checksum = crc32fast::hash(&rows).into();
        header.sections.values = Section { start: end, length: rows.len() as u64, checksum };
        output.write_all(&header.to_bytes())?;
        output.write_all(&self.bytes()[HEADER_BYTES..end as usize])?;
        output.write_all(&rows)?;
        output.flush()?;
        Ok(output)
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::{btree_set, vec};
    use proptest::prelude::*;

    use super::*;

    fn value(key: u64, score: Score) -> BookValue {
        let mv: Option<Move> = "e2e4".parse().ok();
        BookValue {
            key,
            score,
            best: mv,
            outside: mv.map(|mv| (mv, -score)),
            own: None,
            depth: 17,
            own_depth: 18,
            nodes: 1_000_000,
        }
    }

    fn section(values: &[BookValue]) -> Vec<u8> {
        values.iter().flat_map(|value| value.to_bytes()).collect()
    }

    proptest! {
        #[test]
        fn find_returns_exactly_the_stored_rows(
            keys in btree_set(any::<u64>(), 0..200),
            // Many keys in a narrow range, for which interpolation gives bad estimates.
            near in btree_set(0_u64..300, 0..50),
            others in vec(any::<u64>(), 20),
        ) {
            let keys: std::collections::BTreeSet<u64> = keys.union(&near).copied().collect();
            let values: Vec<BookValue> = keys.iter().map(|&key| value(key, (key % 64_001) as Score - 32_000)).collect();
            let bytes = section(&values);
            for value in &values {
                prop_assert_eq!(find(&bytes, value.key), Some(*value));
            }
            for other in others.into_iter().chain(0..300).filter(|other| !keys.contains(other)) {
                prop_assert_eq!(find(&bytes, other), None);
            }
        }

        #[test]
        fn arbitrary_bytes_do_not_panic(bytes in vec(any::<u8>(), 0..200), key in any::<u64>()) {
            let _ = find(&bytes, key);
            let _ = all(&bytes).count();
        }
    }

    #[test]
    fn values_can_be_added_and_removed() {
        let book = Book::embedded().with_values(&[]).expect("a book");
        let start = Position::start();
        assert_eq!(book.value(&start), None);
        let analysed =
            book.write_with_values(&[value(start.key(), 31)], Vec::new()).expect("written");
        let analysed = Book::from_bytes(analysed, "analysed").expect("a book");
        assert_eq!(analysed.value(&start), Some(value(start.key(), 31)));
        assert_eq!(analysed.values().len(), 1);
        analysed.verify().expect("sound");
        assert_eq!(analysed.reached(&start), book.reached(&start));
        let without = analysed.write_with_values(&[], Vec::new()).expect("written");
        assert!(without == book.bytes(), "a book without values equals the original");
    }

    #[test]
    fn damaged_values_are_rejected() {
        let book = Book::embedded();
        let mut bytes = book.write_with_values(&[value(5, 31)], Vec::new()).expect("written");
        *bytes.last_mut().expect("bytes") ^= 1;
        let error = Book::from_bytes(bytes.clone(), "x").expect_err("damaged");
        assert!(matches!(error, BookError::Damaged { part: "values", .. }), "{error}");
        bytes.pop();
        let error = Book::from_bytes(bytes, "x").expect_err("cut");
        assert!(matches!(error, BookError::Truncated { .. }), "{error}");
    }
}
