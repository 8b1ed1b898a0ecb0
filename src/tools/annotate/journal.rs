//! A journal of annotated games, so that an interrupted `tabia annotate` can resume.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;

use crate::support::files::{Journal, JournalError, Kind};

static KIND: Kind = Kind { magic: "tabia annotations 3; ", name: "the annotation journal" };

pub(crate) struct AnnotatedGames {
    /// For each finished game, its index in the input and its annotated PGN text. The games are in
    /// the order in which they were finished.
    journal: Journal<(u64, String)>,
    /// The offset of each game's record in the journal, by the game's index in the input.
    places: BTreeMap<u64, u64>,
}

impl AnnotatedGames {
    pub(crate) fn open(path: &Path, settings: &str) -> Result<Self, JournalError> {
        let mut places = BTreeMap::new();
        let journal = Journal::open(path, &KIND, settings, |(number, _), place| {
            places.insert(number, place);
        })?;
        Ok(AnnotatedGames { journal, places })
    }

    pub(crate) fn holds(&self, number: u64) -> bool {
        self.places.contains_key(&number)
    }

    pub(crate) fn len(&self) -> usize {
        self.places.len()
    }

    pub(crate) fn append(&mut self, number: u64, pgn: String) -> Result<(), JournalError> {
        let place = self.journal.append(&(number, pgn))?;
        self.places.insert(number, place);
        Ok(())
    }

    pub(crate) fn write_all(&mut self, output: &mut impl Write) -> io::Result<()> {
        for &place in self.places.values() {
            writeln!(output, "{}", self.journal.read_at(place)?.1)?;
        }
        Ok(())
    }

    pub(crate) fn remove(self) -> Result<(), JournalError> {
        self.journal.remove()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn games_are_written_in_their_order_after_resuming() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("x.annotations");
        let text = |number: u64| format!("[Round \"{number}\"]\n\n1. e4 *\n");
        for numbers in [&[2, 0][..], &[3, 1]] {
            let mut games = AnnotatedGames::open(&path, "a way").expect("new or resumed");
            for &number in numbers {
                assert!(!games.holds(number));
                games.append(number, text(number)).expect("written");
            }
        }
        let mut games = AnnotatedGames::open(&path, "a way").expect("resumed");
        assert!(games.len() == 4 && games.holds(2));
        let mut all = Vec::new();
        games.write_all(&mut all).expect("written");
        let expected: String = (0..4).map(|number| text(number) + "\n").collect();
        assert_eq!(String::from_utf8(all).expect("text"), expected);
    }
}
