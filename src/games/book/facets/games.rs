//! The games section of a book: the tags of each game and the location of its text.
//!
//! ```text
//! games        u64, little-endian like all numbers
//! names        u32
//! files        u32: size of their list in bytes
//! game tags    8 bytes per game, see `game_tags`
//! rows         32 bytes per game:
//!   white      u32: the index of White's name
//!   black      u32
//!   file       u32
//!   length     u32: size of its text in bytes
//!   offset     6 bytes: start of its text in the uncompressed text of the file
//!   id         6 bytes
//!   check      u32: the lowest bits of the XXH3 hash of its text
//! ends         u32 per name: the offset of its end in the bytes of all names
//! names        UTF-8, sorted
//! files        JSON: one `FileRecord` each
//! ```
//! Games are sorted by date (latest first), then by ratings, then by location in the files.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use super::game_tags::GameTags;

use crate::support::error::ParseError;

/// Sizes in bytes: the header of the games section, the tags of one game, and the row of one game.
pub(super) const HEAD_BYTES: usize = 16;
pub(super) const TRAITS_BYTES: usize = 8;
pub(super) const ROW_BYTES: usize = 32;
const WORD_BYTES: usize = 6;

const SIGNS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const ID_SIGNS: u32 = 8;

/// The id of a game: eight letters or digits. Games from Lichess keep their Lichess id. All other
/// ids are computed from the game's text, so a game has the same id in every book.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GameId(u64);

const LICHESS: &[u8] = b"https://lichess.org/";

impl GameId {
    fn of_hash(hash: u64) -> Self {
        GameId(hash % (SIGNS.len() as u64).pow(ID_SIGNS))
    }

    /// Computes the id of a game from its text, which must not begin or end with whitespace.
    pub(crate) fn of_text(text: &[u8]) -> Self {
        Self::of_hash(xxh3_64(text))
    }

    /// Number of bits needed to store an id as an integer.
    #[cfg(feature = "parquet")]
    pub(in crate::games::book) const BITS: u32 = 48;

    #[cfg(feature = "parquet")]
    pub(in crate::games::book) fn number(self) -> u64 {
        self.0
    }

    #[cfg(feature = "parquet")]
    pub(in crate::games::book) fn from_number(number: u64) -> Self {
        GameId(number)
    }

    /// Returns the id from the `Site` tag of a Lichess game. Anything after the id in the URL, such
    /// as `/black`, is ignored.
    pub(crate) fn of_site(site: &[u8]) -> Option<Self> {
        let word = site.strip_prefix(LICHESS)?.get(..ID_SIGNS as usize)?;
        std::str::from_utf8(word).ok()?.parse().ok()
    }
}

impl FromStr for GameId {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let digit = |sign| SIGNS.iter().position(|&other| other == sign);
        let number = text.bytes().try_fold(0_u64, |number, sign| {
            number.checked_mul(SIGNS.len() as u64)?.checked_add(digit(sign)? as u64)
        });
        let number = number.filter(|_| text.len() == ID_SIGNS as usize);
        number.map(GameId).ok_or_else(|| {
            ParseError(format!("{text:?} is not a game id: expected eight letters or digits"))
        })
    }
}

impl fmt::Display for GameId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let base = SIGNS.len() as u64;
        let sign = |place: u32| SIGNS[(self.0 / base.pow(place) % base) as usize];
        (0..ID_SIGNS).rev().try_for_each(|place| write!(f, "{}", char::from(sign(place))))
    }
}

/// A file whose games are in a book.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(default)]
pub struct FileRecord {
    /// The path given when the book was built, or a description of the source if it was not a file.
    pub path: String,
    /// The absolute path; empty if the source was not a file.
    pub absolute: String,
    /// The size of the file in bytes, as stored on disk (if compressed, the compressed size).
    pub bytes: u64,
}

/// A game's players, id and location. `white` and `black` are indices into the table of names, and
/// `file` is an index into the table of files; both tables are stored in the same section of the
/// book.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::games::book) struct GameRow {
    pub white: u32,
    pub black: u32,
    pub file: u32,
    pub length: u32,
    /// The lowest bits of the hash of the game's text.
    pub check: u32,
    pub offset: u64,
    pub id: GameId,
}

fn word(number: u64) -> [u8; WORD_BYTES] {
    let [a, b, c, d, e, f, ..] = number.to_le_bytes();
    [a, b, c, d, e, f]
}

fn from_word(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte))
}

impl GameRow {
    pub(super) fn of_players(white: u32, black: u32, id: Option<GameId>) -> Self {
        let id = id.unwrap_or(GameId(UNKNOWN_ID));
        GameRow { white, black, file: 0, length: 0, check: 0, offset: 0, id }
    }

    pub(super) fn locate(&mut self, file: u32, offset: u64, text: &[u8]) {
        let hash = xxh3_64(text);
        self.file = file;
        self.offset = offset;
        self.length = u32::try_from(text.len()).unwrap_or(u32::MAX);
        self.check = hash as u32;
        if self.id.0 == UNKNOWN_ID {
            self.id = GameId::of_hash(hash);
        }
    }

    pub(in crate::games::book) fn is_text(&self, text: &[u8]) -> bool {
        xxh3_64(text) as u32 == self.check
    }

    pub(super) fn to_bytes(self) -> [u8; ROW_BYTES] {
        let mut row = [0; ROW_BYTES];
        let numbers = [self.white, self.black, self.file, self.length];
        for (slot, number) in row.chunks_exact_mut(4).zip(numbers) {
            slot.copy_from_slice(&number.to_le_bytes());
        }
        row[16..22].copy_from_slice(&word(self.offset));
        row[22..28].copy_from_slice(&word(self.id.0));
        row[28..].copy_from_slice(&self.check.to_le_bytes());
        row
    }

    pub(super) fn from_bytes(row: &[u8; ROW_BYTES]) -> Self {
        let number = |at: usize| from_word(&row[at..at + 4]) as u32;
        GameRow {
            white: number(0),
            black: number(4),
            file: number(8),
            length: number(12),
            offset: from_word(&row[16..22]),
            id: GameId(from_word(&row[22..28])),
            check: number(28),
        }
    }
}

/// A number greater than any id.
const UNKNOWN_ID: u64 = u64::MAX;

#[derive(Clone, Copy)]
pub(in crate::games::book) struct Games<'a> {
    game_tags: &'a [[u8; TRAITS_BYTES]],
    rows: &'a [[u8; ROW_BYTES]],
    ends: &'a [[u8; 4]],
    names: &'a [u8],
    files: &'a [u8],
}

impl<'a> Games<'a> {
    pub(in crate::games::book) fn parse(bytes: &'a [u8]) -> Option<Self> {
        let (head, rest) = bytes.split_first_chunk::<HEAD_BYTES>()?;
        let number = |range: std::ops::Range<usize>| usize::try_from(from_word(&head[range])).ok();
        let (games, names, files) = (number(0..8)?, number(8..12)?, number(12..16)?);
        let (game_tags, rest) = rest.split_at_checked(games.checked_mul(TRAITS_BYTES)?)?;
        let (rows, rest) = rest.split_at_checked(games.checked_mul(ROW_BYTES)?)?;
        let (ends, rest) = rest.split_at_checked(names.checked_mul(4)?)?;
        let (names, files) = rest.split_at_checked(rest.len().checked_sub(files)?)?;
        let (game_tags, rows, ends) =
            (game_tags.as_chunks().0, rows.as_chunks().0, ends.as_chunks().0);
        u32::try_from(games).is_ok().then_some(Games { game_tags, rows, ends, names, files })
    }

    pub(in crate::games::book) fn len(&self) -> u32 {
        self.game_tags.len() as u32
    }

    #[inline]
    pub(in crate::games::book) fn game_tags(&self, game: u32) -> Option<GameTags> {
        self.game_tags.get(game as usize).map(|bytes| GameTags::from_bytes(*bytes))
    }

    pub(in crate::games::book) fn row(&self, game: u32) -> Option<GameRow> {
        self.rows.get(game as usize).map(GameRow::from_bytes)
    }

    /// Returns the name with this index, or an empty string if the index is invalid.
    pub(in crate::games::book) fn name(&self, number: u32) -> &'a str {
        let end = |number: u32| {
            let bytes = self.ends.get(number as usize)?;
            usize::try_from(u32::from_le_bytes(*bytes)).ok()
        };
        let begin = if number == 0 { Some(0) } else { end(number - 1) };
        let bytes = begin.zip(end(number)).and_then(|(begin, end)| self.names.get(begin..end));
        bytes.and_then(|bytes| std::str::from_utf8(bytes).ok()).unwrap_or_default()
    }

    pub(in crate::games::book) fn names(&self) -> u32 {
        self.ends.len() as u32
    }

    pub(in crate::games::book) fn find(&self, id: GameId) -> Option<u32> {
        let wanted = word(id.0);
        let found = self.rows.iter().position(|row| row[22..28] == wanted)?;
        u32::try_from(found).ok()
    }

    pub(in crate::games::book) fn files(&self) -> Option<Vec<FileRecord>> {
        serde_json::from_slice(self.files).ok()
    }

    /// Returns true if all indices of names and files are valid and the games are sorted by date.
    pub(in crate::games::book) fn is_sound(&self) -> bool {
        let Some(files) = self.files() else { return false };
        let in_bounds = |row: &[u8; ROW_BYTES]| {
            let row = GameRow::from_bytes(row);
            row.white.max(row.black) < self.names() && (row.file as usize) < files.len()
        };
        let ends = || self.ends.iter().map(|end| u32::from_le_bytes(*end));
        let game_tags = self.game_tags.iter().map(|bytes| GameTags::from_bytes(*bytes));
        self.rows.iter().all(in_bounds)
            && ends().is_sorted()
            && ends().next_back().unwrap_or(0) as usize == self.names.len()
            && std::str::from_utf8(self.names).is_ok()
            && game_tags.is_sorted_by(|a, b| a.date() >= b.date())
    }
}

/// Returns the number of bytes needed to store a game number in a book with this many games.
pub(in crate::games::book) fn number_bytes(games: u32) -> usize {
    let largest = games.saturating_sub(1);
    (u32::BITS - largest.leading_zeros()).div_ceil(u8::BITS).max(1) as usize
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn game_id_round_trips_through_text(hash in any::<u64>()) {
            let id = GameId::of_hash(hash);
            let text = id.to_string();
            prop_assert_eq!(text.len(), 8);
            prop_assert_eq!(text.parse(), Ok(id));
        }

        #[test]
        fn game_ids_sort_like_their_text(one in any::<u64>(), other in any::<u64>()) {
            let (one, other) = (GameId::of_hash(one), GameId::of_hash(other));
            prop_assert_eq!(one.cmp(&other), one.to_string().cmp(&other.to_string()));
        }

        #[test]
        fn game_row_round_trips(
            numbers in any::<[u32; 5]>(),
            offset in 0_u64..1 << 48,
            hash in any::<u64>(),
        ) {
            let [white, black, file, length, check] = numbers;
            let id = GameId::of_hash(hash);
            let row = GameRow { white, black, file, length, check, offset, id };
            prop_assert_eq!(GameRow::from_bytes(&row.to_bytes()), row);
        }

        #[test]
        fn arbitrary_bytes_do_not_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300), games in 0_u8..4) {
            let mut bytes = bytes;
            if let Some(head) = bytes.first_chunk_mut::<8>() {
                *head = u64::from(games).to_le_bytes();
            }
            if let Some(games) = Games::parse(&bytes) {
                let _ = (games.is_sound(), games.find(GameId(0)), games.files());
                for number in 0..games.len() + 2 {
                    let _ = (games.game_tags(number), games.name(number));
                    let _ = games.row(number).map(|row| games.name(row.white));
                }
            }
        }
    }

    #[test]
    fn lichess_games_keep_their_ids() {
        let id = |site: &str| GameId::of_site(site.as_bytes()).map(|id| id.to_string());
        assert_eq!(id("https://lichess.org/PpwPOZMq"), Some("PpwPOZMq".to_owned()));
        assert_eq!(id("https://lichess.org/PpwPOZMq/black"), Some("PpwPOZMq".to_owned()));
        assert_eq!(id("https://lichess.org/PpwPOZ"), None);
        assert_eq!(id("London"), None);
        for bad in ["", "1234567", "123456789", "1234567ä", "zzzz zzz"] {
            assert!(bad.parse::<GameId>().is_err(), "{bad}");
        }
    }

    #[test]
    fn numbers_take_as_few_bytes_as_possible() {
        let bytes = [0, 1, 256, 257, 65_536, 65_537, u32::MAX].map(number_bytes);
        assert_eq!(bytes, [1, 1, 1, 2, 2, 3, 4]);
    }
}
