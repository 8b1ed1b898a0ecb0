//! Reads games from a text in memory.

use super::language::Language;
use super::parser;
use super::scan::{count_lines, line_sign};
use super::state::ReaderState;
use super::tree::Tree;
use super::visitor::Visitor;
use super::{Fate, GameEnd};

/// Reads games from a text in memory, which may be a part of a larger input.
pub(crate) struct TextReader<'t> {
    text: &'t [u8],
    place: TextPlace,
    state: ReaderState,
}

impl<'t> TextReader<'t> {
    /// A reader of a text that begins on `line` of its input, with what the reader of another part
    /// has learned, and with the language whose letters the pieces have: see
    /// [`language_of`](super::language_of).
    pub(crate) fn new(
        text: &'t [u8],
        line: u64,
        experience: OpeningCache,
        language: Language,
    ) -> Self {
        let mut state = ReaderState::new(experience.0, language);
        state.line_sign = line_sign(text);
        TextReader { text, place: TextPlace::beginning(line), state }
    }

    /// Reads the next game; `None` at the end of the text.
    #[inline]
    pub(crate) fn read_game(&mut self, visitor: &mut impl Visitor) -> Option<GameEnd> {
        self.place.read_game(self.text, &mut self.state, visitor)
    }

    /// What the reader has learned, for the next.
    pub(crate) fn into_experience(self) -> OpeningCache {
        OpeningCache(self.state.tree)
    }

    /// The bytes of the text that are read.
    pub(crate) fn place(&self) -> usize {
        self.place.at
    }
}

/// A place in a text, and the lines up to another one.
#[derive(Debug)]
pub(super) struct TextPlace {
    pub(super) at: usize,
    /// The line of the input at `counted`.
    line: u64,
    counted: usize,
}

impl TextPlace {
    /// The beginning of a text, which is on `line` of its input.
    pub(super) fn beginning(line: u64) -> Self {
        TextPlace { at: 0, line, counted: 0 }
    }

    #[inline]
    pub(super) fn read_game(
        &mut self,
        text: &[u8],
        state: &mut ReaderState,
        visitor: &mut impl Visitor,
    ) -> Option<GameEnd> {
        let mut read = parser::read_game(text, self.at, state, visitor)?;
        self.at = read.after;
        if let Fate::Broken(fault) = &mut read.end.fate {
            fault.line = self.line_at(text, read.fault);
        }
        if let Some(fault) = &mut read.end.contradiction {
            fault.line = self.line_at(text, read.fault);
        }
        Some(read.end)
    }

    /// The line at a later place.
    #[cold]
    pub(super) fn line_at(&mut self, text: &[u8], at: usize) -> u64 {
        self.line += count_lines(&text[self.counted..at]);
        self.counted = at;
        self.line
    }
}

/// The openings that a reader has met, which it need not resolve move by move again.
pub(crate) struct OpeningCache(Tree);

impl Default for OpeningCache {
    fn default() -> Self {
        OpeningCache(Tree::new())
    }
}
