//! The PGN file of a match. Games are appended to it, and everything already in the file is kept.
//!
//! Before a game is written, its text and the current length of the PGN file are stored in the
//! state file. When a run is resumed, the part of the file beyond this length contains the whole
//! game, none of it or (after a crash or power failure) only its beginning. Nothing but such an
//! incomplete game is ever removed, because other programs may have written games before and after
//! it.

use std::fs::File;
use std::io::{self, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use memchr::memmem;
use serde::{Deserialize, Serialize};

use crate::support::files::{open_locked, open_output, sync_name, write_whole};
use crate::support::platform::{is_device, read_exact_at, set_len};

/// The first bytes of a game. Programs that write PGN put this tag first.
const BEGIN: &[u8] = b"[Event ";
/// The number of bytes of the file to search at a time. Consecutive blocks overlap by the length of
/// the game, so that a copy that crosses a block boundary is found.
const SEARCHED_AT_ONCE: usize = 1 << 20;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GameText {
    pub at: u64,
    /// The text of the game. It is preceded by the line breaks needed to separate it from the
    /// existing text by an empty line.
    pub text: String,
}

#[derive(Debug)]
pub(crate) struct GamesFile {
    path: PathBuf,
    file: File,
    /// Whether the file is a regular file, rather than a pipe or a device, which cannot be read
    /// back.
    is_regular: bool,
}

impl GamesFile {
    /// Opens the file for appending. Regular files are locked exclusively.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let is_regular =
            !is_device(path) && path.metadata().map_or(true, |metadata| metadata.is_file());
        let is_new = !path.exists();
        let file = match is_regular {
            true => open_locked(path, true)?,
            false => open_output(path, false)?,
        };
        if is_new {
            sync_name(path)?;
        }
        Ok(GamesFile { path: path.to_owned(), file, is_regular })
    }

    /// Creates the entry for a game to append. Its text starts with the line breaks needed to
    /// separate the game from the existing text by an empty line.
    pub(crate) fn entry(&self, text: String) -> io::Result<GameText> {
        if !self.is_regular {
            return Ok(GameText { at: 0, text });
        }
        let at = self.file.metadata()?.len();
        let mut end = [0; 2];
        let known = &mut end[..at.min(2) as usize];
        read_exact_at(&self.file, known, at - known.len() as u64)?;
        let parting = match *known {
            [] | [b'\n', b'\n'] => "",
            [.., b'\n'] => "\n",
            _ => "\n\n",
        };
        Ok(GameText { at, text: format!("{parting}{text}") })
    }

    /// Adds a missing line break at the end of the file. It can be missing because other programs
    /// may also write to the file.
    pub(crate) fn end_line(&mut self) -> io::Result<()> {
        let length = self.file.metadata()?.len();
        if !self.is_regular || length == 0 {
            return Ok(());
        }
        let mut end = [0];
        read_exact_at(&self.file, &mut end, length - 1)?;
        if end == *b"\n" { Ok(()) } else { self.file.write_all(b"\n") }
    }

    /// Appends a game to the file. Other programs may have appended text since the entry was
    /// created.
    pub(crate) fn append(&mut self, entry: &GameText) -> io::Result<()> {
        self.file.write_all(entry.text.as_bytes())
    }

    /// Flushes the file to disk, so that its contents survive a power failure.
    pub(crate) fn sync(&mut self) -> io::Result<()> {
        if self.is_regular { self.file.sync_data() } else { Ok(()) }
    }

    /// Makes sure, after an interruption, that the file contains the game last stored in the state
    /// file exactly once.
    pub(crate) fn settle(&mut self, last: &GameText) -> io::Result<()> {
        if self.lacks(last)? {
            let again = self.entry(last.text.trim_start().to_owned())?;
            self.append(&again)?;
            self.sync()?;
        }
        Ok(())
    }

    /// Like [`Self::settle`], but for a file with one line per game.
    pub(crate) fn settle_line(&mut self, last: &GameText) -> io::Result<()> {
        if self.lacks(last)? {
            self.end_line()?;
            self.append(last)?;
            self.sync()?;
        }
        Ok(())
    }

    /// Returns true if the file does not contain the game last stored in the state file. Removes an
    /// incomplete copy of the game, if there is one.
    fn lacks(&mut self, last: &GameText) -> io::Result<bool> {
        let text = last.text.trim_start().as_bytes();
        if !self.is_regular || text.is_empty() {
            return Ok(false);
        }
        let length = self.file.metadata()?.len();
        let from = last.at.min(length);
        let mut rest = vec![0; (length - from) as usize];
        read_exact_at(&self.file, &mut rest, from)?;
        // If another program has shortened the file, the game may be located before `from`.
        if memmem::find(&rest, text).is_some() || self.holds(text)? {
            return Ok(false);
        }
        if let Some(piece) = torn_piece(&rest, text) {
            self.cut(from, &rest, piece)?;
        }
        Ok(true)
    }

    /// Removes the first game after offset `from` that has the same `Event`, `Round`, `White` and
    /// `Black` tags as the game `text`. Returns whether there was one.
    pub(crate) fn remove_earlier(&mut self, from: u64, text: &str) -> io::Result<bool> {
        let length = self.file.metadata()?.len();
        if !self.is_regular || from >= length {
            return Ok(false);
        }
        let mut rest = vec![0; (length - from) as usize];
        read_exact_at(&self.file, &mut rest, from)?;
        let line_begins = |&start: &usize| start == 0 || rest[start - 1] == b'\n';
        let begins: Vec<usize> = memmem::find_iter(&rest, BEGIN).filter(line_begins).collect();
        let ends = begins.iter().copied().skip(1).chain([rest.len()]);
        let own = identity(text.trim_start());
        let is_same =
            |game: &Range<usize>| identity(&String::from_utf8_lossy(&rest[game.clone()])).eq(&own);
        let games = begins.iter().zip(ends).map(|(&begin, end)| begin..end);
        let found = games.into_iter().find(is_same);
        found.clone().map_or(Ok(()), |game| self.cut(from, &rest, game))?;
        Ok(found.is_some())
    }

    /// Removes the first line after the line `earlier` that contains `part`.
    pub(crate) fn remove_line(&mut self, earlier: &str, part: &str) -> io::Result<()> {
        let length = self.file.metadata()?.len();
        if !self.is_regular {
            return Ok(());
        }
        let mut text = vec![0; length as usize];
        read_exact_at(&self.file, &mut text, 0)?;
        let Some(at) = memmem::rfind(&text, earlier.as_bytes()) else { return Ok(()) };
        let from = at + earlier.len();
        let Some(found) = memmem::find(&text[from..], part.as_bytes()) else { return Ok(()) };
        let rest = &text[from..];
        let begin = memchr::memrchr(b'\n', &rest[..found]).map_or(0, |at| at + 1);
        let end = memchr::memchr(b'\n', &rest[found..]).map_or(rest.len(), |at| found + at + 1);
        self.cut(from as u64, rest, begin..end)
    }

    fn holds(&self, text: &[u8]) -> io::Result<bool> {
        let length = self.file.metadata()?.len();
        let mut window = vec![0; SEARCHED_AT_ONCE + text.len()];
        let mut from = 0;
        while from < length {
            let size = window.len().min(usize::try_from(length - from).unwrap_or(usize::MAX));
            read_exact_at(&self.file, &mut window[..size], from)?;
            if memmem::find(&window[..size], text).is_some() {
                return Ok(true);
            }
            from += SEARCHED_AT_ONCE as u64;
        }
        Ok(false)
    }

    /// Removes the bytes in the range `piece` from the file. The range is relative to `rest`, which
    /// holds the content of the file from offset `from` onwards.
    fn cut(&mut self, from: u64, rest: &[u8], piece: Range<usize>) -> io::Result<()> {
        if piece.end == rest.len() {
            return set_len(&self.file, from + piece.start as u64);
        }
        // Other programs may have appended text after the removed part. Replacing the whole file
        // with a complete new one ensures that a crash cannot lose this text.
        let mut whole = std::fs::read(&self.path)?;
        let begin = usize::try_from(from).map_err(io::Error::other)?;
        whole.drain(begin + piece.start..begin + piece.end);
        write_whole(&self.path, &whole)?;
        self.file = open_locked(&self.path, false)?;
        Ok(())
    }
}

/// Returns the tags that identify a game of a match.
fn identity(text: &str) -> Vec<&str> {
    const TAGS: [&str; 4] = ["[Event ", "[Round ", "[White ", "[Black "];
    let tags = text.lines().take_while(|line| line.starts_with('['));
    tags.filter(|line| TAGS.iter().any(|tag| line.starts_with(tag))).collect()
}

/// Finds an incomplete copy of the game `text` in `rest`, either at the end of `rest` or directly
/// before another game.
fn torn_piece(rest: &[u8], text: &[u8]) -> Option<Range<usize>> {
    let line_begins = |&start: &usize| start == 0 || rest[start - 1] == b'\n';
    let starts = memmem::find_iter(rest, &text[..1]).filter(line_begins);
    for start in starts {
        let same = rest[start..].iter().zip(text).take_while(|(there, own)| there == own).count();
        if start + same == rest.len() {
            return Some(start..rest.len());
        }
        let mut nexts = memmem::find_iter(&rest[start + 1..], BEGIN).map(|next| start + 1 + next);
        let is_next =
            |&next: &usize| rest[next.min(start + same)..next].iter().all(u8::is_ascii_whitespace);
        if let Some(next) = nexts.next().filter(is_next) {
            return Some(start..next);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const OTHER: &str = "[Event \"a\"]\n[Site \"b\"]\n\n1. e4 *\n\n";
    const OWN: &str = "[Event \"a\"]\n[Site \"own\"]\n\n1. d4 d5 {x} *\n\n";

    /// Simulates a run that was interrupted while it was appending `OWN` to `before`, so that the
    /// file ends with `found` instead of `OWN`. Returns the content of the file after the next run
    /// has repaired it.
    fn settled(before: &str, found: &str) -> String {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("games.pgn");
        std::fs::write(&path, before).expect("written");
        let mut file = GamesFile::open(&path).expect("free");
        let last = file.entry(OWN.to_owned()).expect("an entry");
        std::fs::write(&path, format!("{before}{found}")).expect("written");
        file.settle(&last).expect("settled");
        std::fs::read_to_string(&path).expect("still there")
    }

    #[test]
    fn last_game_is_written_once_and_foreign_games_are_kept() {
        let whole = [OTHER, OWN].concat();
        assert_eq!(settled(OTHER, ""), whole);
        assert_eq!(settled(OTHER, OWN), whole);
        let followed = [OTHER, OWN, OTHER].concat();
        assert_eq!(settled(OTHER, &[OWN, OTHER].concat()), followed);
        let preceded = [OTHER, OTHER, OWN].concat();
        assert_eq!(settled(OTHER, OTHER), preceded);
        assert_eq!(settled("", ""), OWN);
        for torn in 1..OWN.len() {
            let piece = &OWN[..torn];
            assert_eq!(settled(OTHER, piece), whole, "{piece:?}");
            assert_eq!(settled("", piece), OWN, "{piece:?}");
            for parting in ["", "\n", "\n\n"] {
                let found = [piece, parting, OTHER, OTHER].concat();
                let left = match found.contains(OWN) {
                    true => [OTHER, &found].concat(),
                    false => [OTHER, OTHER, OTHER, OWN].concat(),
                };
                assert_eq!(settled(OTHER, &found), left, "{found:?}");
            }
            assert_eq!(settled(OTHER, &[OTHER, piece].concat()), preceded, "{piece:?}");
        }
    }

    #[test]
    fn last_game_is_written_once_to_a_truncated_file() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("games.pgn");
        std::fs::write(&path, [OTHER, OTHER].concat()).expect("written");
        let last = GamesFile::open(&path).expect("free").entry(OWN.to_owned()).expect("an entry");
        std::fs::write(&path, OTHER).expect("written");
        for _ in 0..3 {
            GamesFile::open(&path).expect("free").settle(&last).expect("settled");
            assert_eq!(std::fs::read_to_string(&path).expect("there"), [OTHER, OWN].concat());
        }
    }

    #[test]
    fn last_line_is_written_once_and_without_an_empty_line() {
        let (other, own) = ("w - - id \"game 1\";\n", "b - - id \"game 2\";\n");
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("final.epd");
        let whole = [other, own].concat();
        for length in other.len() - 1..=whole.len() {
            std::fs::write(&path, &whole[..length]).expect("written");
            let last = GameText { at: 0, text: own.to_owned() };
            GamesFile::open(&path).expect("free").settle_line(&last).expect("settled");
            let settled = std::fs::read_to_string(&path).expect("there");
            assert_eq!(settled, whole, "{length} bytes");
        }
    }

    #[test]
    fn game_is_separated_by_an_empty_line() {
        for (before, parting) in
            [("1. e4 *", "\n\n"), ("1. e4 *\n", "\n"), (OTHER, ""), ("\n", "\n")]
        {
            assert_eq!(settled(before, ""), [before, parting, OWN].concat());
        }
    }
}
