//! The moves of all games of a book, stored in a file next to the book.
//!
//! ```text
//! magic      8 bytes
//! words      u64, little-endian like all numbers: version, checksums of the book's entries and of
//!            its games, number of games, number of moves
//! checksum   u64: XXH3 of the words and of all bytes that follow
//! lengths    u16 per game: the number of its moves
//! moves      u16 per move, as in Polyglot books; castling is the king's move, 0 a null move
//! starts     JSON: number and FEN of each game that has a different start position
//! ```
//! Games are in the same order as in the book.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::Xxh3Default;

use crate::chess::position::Position;
use crate::games::book::facets::Games;
use crate::games::book::lookup::Book;
use crate::support::files::{FileError, FileKind, Output, read_plain};

const MAGIC: &[u8; 8] = b"TABIAMV\n";
const VERSION: u64 = 1;
const WORDS: usize = 5;
const HEADER_BYTES: usize = 8 + 8 * WORDS + 8;
/// The number of games per block. An index keeps only the offset of each block. A game within a
/// block is found by adding up the lengths of the games before it.
const BLOCK: usize = 256;

/// The kind of file that stores a [`MoveIndex`].
pub const MOVES_FILE: FileKind =
    FileKind { name: "a file of moves of a book", recognises: |head| head.starts_with(MAGIC) };

/// The moves of all games in a book with facets.
pub struct MoveIndex {
    /// The content of the whole file.
    bytes: Vec<u8>,
    games: usize,
    /// The offset of the moves in the file.
    begin: usize,
    /// The number of moves before each block of games, followed by the total number of moves.
    blocks: Vec<usize>,
    starts: HashMap<u32, Position>,
}

/// A game to be added to an index.
#[derive(Debug, Clone, Copy)]
pub(super) struct CollectedGame<'a> {
    pub(super) moves: &'a [u16],
    /// The start position as FEN; empty for the standard start position.
    pub(super) start: &'a str,
}

fn number(bytes: &[u8], at: usize) -> u64 {
    let mut word = [0; 8];
    word.copy_from_slice(&bytes[at..at + 8]);
    u64::from_le_bytes(word)
}

fn checksum(bytes: &[u8]) -> u64 {
    let mut hash = Xxh3Default::new();
    hash.update(&bytes[8..HEADER_BYTES - 8]);
    hash.update(&bytes[HEADER_BYTES..]);
    hash.digest()
}

/// Returns the checksums that identify the book to which an index belongs.
fn stamp(book: &Book) -> [u64; 2] {
    let sections = book.image.header().sections;
    [sections.entries.checksum, sections.games.checksum]
}

impl MoveIndex {
    /// Returns the path of a book's index: the path of the book followed by `.moves`.
    pub fn path_of(book: &Path) -> PathBuf {
        let mut name = book.as_os_str().to_owned();
        name.push(".moves");
        name.into()
    }

    /// Returns the size of the index in bytes.
    pub fn size(&self) -> u64 {
        self.bytes.len() as u64
    }

    /// Reads a book's index from the file next to the book.
    ///
    /// # Errors
    /// If the file cannot be read, is damaged, belongs to another book, or was written by another
    /// version of Tabia.
    pub fn open(book: &Book) -> Result<Self, FileError> {
        let path = Self::path_of(Path::new(book.name()));
        let bytes = read_plain(&path).map_err(|error| FileError::io("read", &path, &error))?;
        Self::parse(bytes, book).map_err(|reason| FileError::new("use", &path, reason))
    }

    /// Writes the index to the file next to its book.
    ///
    /// # Errors
    /// If the file cannot be written, or if a file of another kind already has this path.
    pub fn write(&self, book: &Book) -> Result<(), FileError> {
        let path = Self::path_of(Path::new(book.name()));
        Output::new(&path, MOVES_FILE).apart_from([book.name()]).write(&self.bytes)
    }

    pub(super) fn parse(bytes: Vec<u8>, book: &Book) -> Result<Self, &'static str> {
        const DAMAGED: &str = "it is damaged";
        if bytes.len() < HEADER_BYTES || !bytes.starts_with(MAGIC) {
            return Err("it is not a file of moves");
        }
        let word = |index: usize| number(&bytes, 8 + 8 * index);
        if word(0) != VERSION {
            return Err("another version of Tabia wrote it");
        }
        if checksum(&bytes) != word(WORDS) && !cfg!(fuzzing) {
            return Err(DAMAGED);
        }
        if [word(1), word(2)] != stamp(book) && !cfg!(fuzzing) {
            return Err("it belongs to another book, or to this one before a change");
        }
        let length = |number: u64| usize::try_from(number).ok()?.checked_mul(size_of::<u16>());
        let games = usize::try_from(word(3)).unwrap_or(usize::MAX);
        let lengths = length(word(3)).and_then(|bytes| HEADER_BYTES.checked_add(bytes));
        let ends = lengths.zip(length(word(4)));
        let Some((begin, end)) =
            ends.and_then(|(begin, moves)| Some((begin, begin.checked_add(moves)?)))
        else {
            return Err(DAMAGED);
        };
        let (Some(lengths), Some(starts)) = (bytes.get(HEADER_BYTES..begin), bytes.get(end..))
        else {
            return Err(DAMAGED);
        };
        let blocks = blocks(lengths.as_chunks().0);
        let starts: Vec<(u32, String)> = serde_json::from_slice(starts).map_err(|_| DAMAGED)?;
        let starts = starts.iter().map(|(game, fen)| Some((*game, Position::from_fen(fen).ok()?)));
        let starts = starts.collect::<Option<_>>().ok_or(DAMAGED)?;
        if blocks.last().copied().unwrap_or(0) * size_of::<u16>() != end - begin {
            return Err(DAMAGED);
        }
        Ok(MoveIndex { games, begin, blocks, starts, bytes })
    }

    /// Creates the index of a book from the moves of all its games. The games must be sorted by
    /// their numbers in the book.
    pub(super) fn new<'a>(
        book: &Book,
        games: impl Iterator<Item = CollectedGame<'a>> + Clone,
    ) -> io::Result<Self> {
        let [entries, rows] = stamp(book);
        let [number, moves] = games
            .clone()
            .fold([0, 0], |[number, moves], game| [number + 1, moves + game.moves.len() as u64]);
        let mut bytes = Vec::with_capacity(HEADER_BYTES + 2 * (number + moves) as usize);
        bytes.extend_from_slice(MAGIC);
        for word in [VERSION, entries, rows, number, moves, 0] {
            bytes.extend_from_slice(&word.to_le_bytes());
        }
        let lengths = games.clone().map(|game| game.moves.len() as u16);
        lengths.for_each(|length| bytes.extend_from_slice(&length.to_le_bytes()));
        let words = games.clone().flat_map(|game| game.moves);
        words.for_each(|word| bytes.extend_from_slice(&word.to_le_bytes()));
        let starts = (0_u32..).zip(games).filter(|(_, game)| !game.start.is_empty());
        let starts: Vec<(u32, &str)> = starts.map(|(number, game)| (number, game.start)).collect();
        bytes.extend(serde_json::to_vec(&starts).map_err(io::Error::other)?);
        let sum = checksum(&bytes);
        bytes[HEADER_BYTES - 8..HEADER_BYTES].copy_from_slice(&sum.to_le_bytes());
        Self::parse(bytes, book).map_err(io::Error::other)
    }

    pub(super) fn games(&self) -> u32 {
        self.games as u32
    }

    fn lengths(&self) -> &[[u8; 2]] {
        self.bytes[HEADER_BYTES..self.begin].as_chunks().0
    }

    /// Iterates over the games whose numbers are in `games`. Each item contains a game's number and
    /// its moves.
    pub(super) fn moves(
        &self,
        games: std::ops::Range<u32>,
    ) -> impl Iterator<Item = (u32, &[[u8; 2]])> {
        let lengths = self.lengths();
        let first = (games.start as usize).min(lengths.len());
        let block = first / BLOCK;
        let skipped: usize = lengths[block * BLOCK..first].iter().map(of_bytes).sum();
        let mut rest: &[[u8; 2]] = self.bytes[self.begin..].as_chunks().0;
        let begin = self.blocks.get(block).copied().unwrap_or(0) + skipped;
        rest = rest.get(begin..).unwrap_or_default();
        games.zip(&lengths[first..]).map(move |(game, length)| {
            let (moves, after) = rest.split_at(of_bytes(length).min(rest.len()));
            rest = after;
            (game, moves)
        })
    }

    /// Returns the start position of a game; `None` for the standard start position.
    pub(super) fn start(&self, game: u32) -> Option<&Position> {
        self.starts.get(&game)
    }

    /// Returns true if the index has as many games as its book.
    pub(super) fn fits(&self, games: &Games<'_>) -> bool {
        self.games == games.len() as usize
    }
}

impl std::fmt::Debug for MoveIndex {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MoveIndex").field("games", &self.games).finish_non_exhaustive()
    }
}

fn of_bytes(bytes: &[u8; 2]) -> usize {
    usize::from(u16::from_le_bytes(*bytes))
}

/// Returns the number of moves before each block of games, followed by the total number of moves.
/// `lengths` contains the number of moves of each game.
fn blocks(lengths: &[[u8; 2]]) -> Vec<usize> {
    let mut before = 0;
    let mut blocks = vec![0];
    for block in lengths.chunks(BLOCK) {
        before += block.iter().map(of_bytes).sum::<usize>();
        blocks.push(before);
    }
    blocks
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::games::book::{BuildOptions, build_in_memory};
    use crate::games::pgn::PgnInput;

    fn book(text: &str) -> Book {
        let input = PgnInput::Text("games".to_owned(), text.as_bytes().into());
        let options = BuildOptions { facets: true, ..BuildOptions::default() };
        build_in_memory(&[input], &options, "book").expect("a book").0
    }

    #[test]
    fn moves_of_each_game_are_found() {
        let book = book("1. e4 1-0\n");
        let games: Vec<Vec<u16>> =
            (0..1000).map(|game| vec![game; usize::from(game) % 7]).collect();
        let start = "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1";
        let collected = games.iter().enumerate().map(|(number, moves)| CollectedGame {
            moves,
            start: if number == 500 { start } else { "" },
        });
        let index = MoveIndex::new(&book, collected).expect("an index");
        let found = |range| -> Vec<(u32, Vec<u16>)> {
            let words =
                |moves: &[[u8; 2]]| moves.iter().map(|&word| u16::from_le_bytes(word)).collect();
            index.moves(range).map(|(game, moves)| (game, words(moves))).collect()
        };
        for first in [0, 1, 255, 256, 257, 600, 999, 1000] {
            let expected: Vec<_> =
                (first..1000).map(|game| (game, games[game as usize].clone())).collect();
            assert_eq!(found(first..1000), expected, "from {first}");
        }
        assert_eq!(index.start(500).map(Position::fen).as_deref(), Some(start));
        assert!(index.start(499).is_none() && index.games() == 1000);
    }

    #[test]
    fn damaged_or_foreign_index_is_rejected() {
        let (own, other) = (book("1. e4 1-0\n"), book("1. d4 1-0\n"));
        let games = [CollectedGame { moves: &[1, 2, 3], start: "" }];
        let bytes = MoveIndex::new(&own, games.into_iter()).expect("an index").bytes;
        assert!(MoveIndex::parse(bytes.clone(), &own).is_ok());
        assert!(
            MoveIndex::parse(bytes.clone(), &other).is_err_and(|why| why.contains("another book"))
        );
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1;
            assert!(MoveIndex::parse(damaged, &own).is_err(), "byte {at}");
            assert!(MoveIndex::parse(bytes[..at].to_vec(), &own).is_err(), "{at} bytes");
        }
    }
}
