use super::language::Language;
use super::parser;
use super::plain::{Blocks, PlainReader};
use super::scan::{count_lines, line_sign};
use super::state::ReaderState;
use super::tree::OpeningCache;
use super::visitor::Visitor;
use super::{GameEnd, GameStatus};

pub(crate) struct TextReader<T> {
    pub(super) text: T,
    plain: PlainReader<T>,
    at: usize,
    line: u64,
    counted: usize,
    pub(super) state: ReaderState,
}

impl<T: AsRef<[u8]> + Clone> TextReader<T> {
    /// Creates a reader for text that begins on line `line` of the input. To reuse a cache, pass
    /// the `openings` of an earlier reader.
    pub(crate) fn new(text: T, line: u64, openings: OpeningCache, language: Language) -> Self {
        let plain = PlainReader::new(Blocks(text.clone(), 0));
        let state = ReaderState::new(openings, language, line_sign(text.as_ref()));
        TextReader { text, plain, at: 0, line, counted: 0, state }
    }

    pub(super) fn restart(&mut self, line: u64, language: Language) {
        self.plain = PlainReader::new(Blocks(self.text.clone(), 0));
        (self.at, self.line, self.counted) = (0, line, 0);
        self.state.line_sign = line_sign(self.text.as_ref());
        self.state.language = language;
    }

    #[inline]
    pub(crate) fn read_game(&mut self, visitor: &mut impl Visitor) -> Option<GameEnd> {
        let TextReader { text, plain, at, state, .. } = self;
        let mut read = parser::read_game(text.as_ref(), *at, plain, state, visitor)?;
        self.at = read.after;
        if let GameStatus::Broken(fault) = &mut read.end.status {
            fault.line = self.line_at(read.fault);
        }
        if let Some(fault) = &mut read.end.contradiction {
            fault.line = self.line_at(read.fault);
        }
        Some(read.end)
    }

    #[cold]
    pub(super) fn line_at(&mut self, at: usize) -> u64 {
        self.line += count_lines(&self.text.as_ref()[self.counted..at]);
        self.counted = at;
        self.line
    }

    pub(crate) fn into_openings(self) -> OpeningCache {
        self.state.tree
    }

    pub(crate) fn place(&self) -> usize {
        self.at
    }
}
