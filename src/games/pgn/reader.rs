use std::io::{self, Read};

use super::GameEnd;
use super::chunks::Blocks;
use super::detect::language_of;
use super::language::Language;
use super::text_reader::TextReader;
use super::tree::OpeningCache;
use super::visitor::Visitor;

/// Reads games from a stream of PGN text.
pub struct Reader<R> {
    blocks: Blocks<R>,
    games: TextReader<Vec<u8>>,
    begin: usize,
    forced_language: Option<Language>,
    error: Option<io::Error>,
}

impl<R: Read> Reader<R> {
    /// Creates a reader that detects the language of the piece letters.
    pub fn new(input: R) -> Self {
        let openings = OpeningCache::default();
        let games = TextReader::new(Vec::new(), 1, openings, Language::ENGLISH);
        Reader { blocks: Blocks::new(input), games, begin: 0, forced_language: None, error: None }
    }

    /// Sets the language of the piece letters. If it is `None`, the language is detected.
    #[must_use]
    pub fn in_language(mut self, language: Option<Language>) -> Self {
        self.forced_language = language;
        self
    }

    /// Reads the next game. Returns `None` at the end of the input.
    ///
    /// # Errors
    /// If the input cannot be read. Errors in a game are not returned here; they are reported as
    /// [`GameStatus::Broken`](super::GameStatus::Broken).
    pub fn read_game(&mut self, visitor: &mut impl Visitor) -> io::Result<Option<GameEnd>> {
        loop {
            self.begin = self.games.place();
            let game = self.games.read_game(visitor);
            if game.is_some() {
                return Ok(game);
            }
            if let Some(error) = self.error.take() {
                return Err(error);
            }
            let line = self.games.line_at(self.games.text.len());
            if !self.blocks.next(&mut self.games.text) {
                self.games.restart(line, self.language());
                return self.blocks.take_error().map_or(Ok(None), Err);
            }
            self.error = self.blocks.take_error();
            let language = self.forced_language.unwrap_or_else(|| language_of(&self.games.text));
            self.games.restart(line, language);
        }
    }

    /// Returns the text of the last game read, including the blank lines around it.
    pub(crate) fn game_text(&self) -> &[u8] {
        &self.games.text[self.begin..self.games.place()]
    }

    /// Returns the language of the piece letters in the current block of text.
    pub fn language(&self) -> Language {
        self.games.state.language
    }
}
