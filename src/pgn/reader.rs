//! Reads games from a stream.

use std::io::{self, Read};

use super::GameEnd;
use super::chunks::Blocks;
use super::detect::language_of;
use super::language::Language;
use super::scan::line_sign;
use super::state::ReaderState;
use super::text_reader::TextPlace;
use super::tree::Tree;
use super::visitor::Visitor;

/// Reads games from a stream of PGN text.
pub struct Reader<R> {
    blocks: Blocks<R>,
    /// The games that wait to be read.
    text: Vec<u8>,
    place: TextPlace,
    /// Where the game that was read last begins.
    begin: usize,
    state: ReaderState,
    told: Option<Language>,
    error: Option<io::Error>,
}

impl<R: Read> Reader<R> {
    /// A reader at the beginning of an input. It buffers by itself, and finds out whose letters
    /// the pieces have.
    pub fn new(input: R) -> Self {
        Reader {
            blocks: Blocks::new(input),
            text: Vec::new(),
            place: TextPlace::beginning(1),
            begin: 0,
            state: ReaderState::new(Tree::new(), Language::ENGLISH),
            told: None,
            error: None,
        }
    }

    /// Reads the letters of the pieces in a language, whatever they look like; `None` finds it out.
    #[must_use]
    pub fn in_language(mut self, language: Option<Language>) -> Self {
        self.told = language;
        self
    }

    /// Reads the next game; `None` at the end of the input.
    ///
    /// # Errors
    /// Only if the input cannot be read on. Whatever is wrong with the text itself is a
    /// [`Fate::Broken`](super::Fate::Broken).
    pub fn read_game(&mut self, visitor: &mut impl Visitor) -> io::Result<Option<GameEnd>> {
        loop {
            self.begin = self.place.at;
            let game = self.place.read_game(&self.text, &mut self.state, visitor);
            if game.is_some() {
                return Ok(game);
            }
            if let Some(error) = self.error.take() {
                return Err(error);
            }
            let line = self.place.line_at(&self.text, self.text.len());
            if !self.blocks.next(&mut self.text) {
                return self.blocks.take_error().map_or(Ok(None), Err);
            }
            self.error = self.blocks.take_error();
            self.place = TextPlace::beginning(line);
            self.state.line_sign = line_sign(&self.text);
            self.state.language = self.told.unwrap_or_else(|| language_of(&self.text));
        }
    }

    /// The text of the game that was read last, with the blank lines around it.
    pub(crate) fn game_text(&self) -> &[u8] {
        &self.text[self.begin..self.place.at]
    }

    /// Whose letters the pieces have where the reader has come to.
    pub fn language(&self) -> Language {
        self.state.language
    }
}
