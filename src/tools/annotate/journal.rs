//! A journal of annotated games, so that an interrupted command can be resumed.
//!
//! Its owner is the input and the settings. Its records are the games in the order in which they
//! were finished: a line `game NUMBER BYTES CRC-32`, the bytes, a newline.

use std::collections::BTreeMap;
use std::io::{self, BufRead, Read, Write};
use std::path::Path;

use crate::support::files::{Journal, JournalError, Kind, Record};

static KIND: Kind = Kind {
    magic: "tabia annotations 2; ",
    stem: "tabia annotations ",
    name: "the annotation journal",
    work: "an annotation",
    rival: "another annotation of these games",
    ..Kind::BASE
};

/// An annotated game as PGN, with its number among the games of the input.
struct NumberedGame {
    number: u64,
    pgn: Vec<u8>,
}

impl Record for NumberedGame {
    fn write(&self, bytes: &mut Vec<u8>) -> io::Result<()> {
        let NumberedGame { number, pgn } = self;
        writeln!(bytes, "game {number} {} {:08x}", pgn.len(), crc32fast::hash(pgn))?;
        bytes.extend_from_slice(pgn);
        bytes.push(b'\n');
        Ok(())
    }

    fn read(input: &mut impl BufRead) -> io::Result<Option<Self>> {
        let mut line = Vec::new();
        input.read_until(b'\n', &mut line)?;
        let Some((number, length, sum)) = parse_head(&line) else { return Ok(None) };
        let mut pgn = Vec::new();
        input.take(length.saturating_add(1)).read_to_end(&mut pgn)?;
        let is_whole =
            pgn.pop() == Some(b'\n') && pgn.len() as u64 == length && crc32fast::hash(&pgn) == sum;
        Ok(is_whole.then_some(NumberedGame { number, pgn }))
    }
}

/// Number, bytes and checksum of a game.
fn parse_head(line: &[u8]) -> Option<(u64, u64, u32)> {
    let line = str::from_utf8(line).ok()?;
    let mut words = line.strip_prefix("game ")?.strip_suffix('\n')?.split(' ');
    let (number, length) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
    Some((number, length, u32::from_str_radix(words.next()?, 16).ok()?))
}

/// The annotated games of a command.
pub(crate) struct AnnotatedGames {
    journal: Journal<NumberedGame>,
    /// The place of each game in the journal.
    places: BTreeMap<u64, u64>,
}

impl AnnotatedGames {
    /// Opens or creates the journal at `path`. `settings` describe on one line what is annotated,
    /// and how.
    ///
    /// # Errors
    /// If it cannot be read and written, belongs to something else, or is in use.
    pub(crate) fn open(path: &Path, settings: &str) -> Result<Self, JournalError> {
        let mut places = BTreeMap::new();
        let journal =
            Journal::open(path, &KIND, settings, |NumberedGame { number, .. }, place| {
                places.insert(number, place);
            })?;
        Ok(AnnotatedGames { journal, places })
    }

    /// Whether the game with this number is annotated.
    pub(crate) fn holds(&self, number: u64) -> bool {
        self.places.contains_key(&number)
    }

    /// The number of annotated games.
    pub(crate) fn len(&self) -> usize {
        self.places.len()
    }

    /// Appends a game.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(crate) fn append(&mut self, number: u64, pgn: &str) -> Result<(), JournalError> {
        let place = self.journal.end();
        self.journal.append(&NumberedGame { number, pgn: pgn.into() })?;
        self.places.insert(number, place);
        Ok(())
    }

    /// Writes all games in the order of their numbers.
    ///
    /// # Errors
    /// If a file cannot be read or written.
    pub(crate) fn write_all(&mut self, output: &mut impl Write) -> io::Result<()> {
        for &place in self.places.values() {
            output.write_all(&self.journal.read_at(place)?.pgn)?;
            output.write_all(b"\n")?;
        }
        Ok(())
    }

    /// Removes the file after the output is complete.
    ///
    /// # Errors
    /// If it cannot be removed.
    pub(crate) fn remove(self) -> Result<(), JournalError> {
        self.journal.remove()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn games_are_written_in_order_and_torn_ones_are_annotated_again() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("x.annotations");
        let mut games = AnnotatedGames::open(&path, "a way").expect("new");
        let text = |number: u64| format!("[Round \"{number}\"]\n\n1. e4 *\n");
        let mut add = |number| games.append(number, &text(number)).expect("written");
        [2, 0, 1].into_iter().for_each(&mut add);
        drop(games);
        let whole = std::fs::read(&path).expect("the file");
        for cut in 0..=whole.len() {
            std::fs::write(&path, &whole[..cut]).expect("written");
            let mut games = AnnotatedGames::open(&path, "a way").expect("torn");
            let held = games.len();
            assert_eq!(held == 3, cut == whole.len(), "{cut}");
            assert!((0..3).filter(|&number| games.holds(number)).count() == held);
            for number in [2, 0, 1] {
                if !games.holds(number) {
                    games.append(number, &text(number)).expect("written");
                }
            }
            let mut all = Vec::new();
            games.write_all(&mut all).expect("written");
            let expected: String = (0..3).map(|number| text(number) + "\n").collect();
            assert_eq!(String::from_utf8(all).expect("text"), expected, "{cut}");
        }
    }
}
