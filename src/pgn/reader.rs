//! Games out of a stream, one after the other, with every move checked.

use std::io::{self, Read};
use std::ops::ControlFlow;

use super::chunks::Blocks;
use super::language::{self, Language};
use super::parser;
use super::scan::{count_lines, line_sign};
use super::state::State;
use super::tree::Tree;
use super::{Fate, GameEnd, Tags};
use crate::position::{Move, Position, Replay};

/// What is done with the games that a [`Reader`] finds.
pub trait Visitor {
    /// Whether [`Visitor::begin`] looks at tags. If not, it gets only those that the reader itself
    /// needs (`Result`, `FEN`, `Variant`), which is faster.
    fn wants_tags(&self) -> bool {
        true
    }
    /// A game begins at `start`. `Break` declines it: nothing else of it is handed over.
    fn begin(&mut self, tags: &Tags, start: &Position) -> ControlFlow<()>;
    /// A legal move of the main line. `Break`: no more moves of this game are wanted.
    fn played(&mut self, ply: &Ply) -> ControlFlow<()>;
    /// A comment (or a part of a long one) on the move before.
    fn comment(&mut self, text: &[u8]) {
        let _ = text;
    }
    /// A numeric annotation glyph on the move before.
    fn nag(&mut self, nag: u8) {
        let _ = nag;
    }
    /// The game that [`Visitor::begin`] accepted is over, one way or another.
    fn end(&mut self, end: &GameEnd);
}

/// A move of a game and the position that it led to, as far as counting needs it: whoever wants the
/// whole position plays the move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ply {
    /// The move, which is legal.
    pub mv: Move,
    /// The key of the position after it, see [`Position::key`].
    pub key: u64,
    /// The key of its pawns.
    pub pawn_key: u64,
    /// Plies since the last capture or pawn move, this one included.
    pub halfmove_clock: u16,
}

impl Ply {
    #[inline]
    pub(super) fn new(mv: Move, after: &Replay) -> Self {
        let (key, pawn_key, halfmove_clock) =
            (after.key(), after.pawn_key(), after.halfmove_clock());
        Ply { mv, key, pawn_key, halfmove_clock }
    }
}

/// Reads games from a stream of PGN text.
pub struct Reader<R> {
    blocks: Blocks<R>,
    /// The games that wait to be read.
    text: Vec<u8>,
    place: Place,
    state: State,
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
            place: Place { at: 0, line: 1, counted: 0 },
            state: State::new(Tree::new(), Language::ENGLISH),
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
    /// [`Fate::Broken`].
    pub fn read_game(&mut self, visitor: &mut impl Visitor) -> io::Result<Option<GameEnd>> {
        loop {
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
            self.place = Place { at: 0, line, counted: 0 };
            self.state.line_sign = line_sign(&self.text);
            self.state.language = self.told.unwrap_or_else(|| language::detect(&self.text));
        }
    }

    /// Whose letters the pieces have where the reader has come to.
    pub fn language(&self) -> Language {
        self.state.language
    }
}

/// Reads games from a text in memory, which may be a part of a larger input.
pub struct TextReader<'t> {
    text: &'t [u8],
    place: Place,
    state: State,
}

impl<'t> TextReader<'t> {
    /// A reader of a text that begins on `line` of its input, with what the reader of another part
    /// has learned. Without a language it finds out whose letters the pieces have.
    pub fn new(
        text: &'t [u8],
        line: u64,
        experience: Experience,
        language: Option<Language>,
    ) -> Self {
        let language = language.unwrap_or_else(|| language::detect(text));
        let mut state = State::new(experience.0, language);
        state.line_sign = line_sign(text);
        TextReader { text, place: Place { at: 0, line, counted: 0 }, state }
    }

    /// Reads the next game; `None` at the end of the text.
    #[inline]
    pub fn read_game(&mut self, visitor: &mut impl Visitor) -> Option<GameEnd> {
        self.place.read_game(self.text, &mut self.state, visitor)
    }

    /// Whose letters the pieces have.
    pub fn language(&self) -> Language {
        self.state.language
    }

    /// What the reader has learned, for the next.
    pub fn into_experience(self) -> Experience {
        Experience(self.state.tree)
    }

    /// The bytes of the text that are read.
    pub(super) fn place(&self) -> usize {
        self.place.at
    }
}

/// A place in a text, and the lines up to another one.
#[derive(Debug)]
struct Place {
    at: usize,
    /// The line of the input at `counted`.
    line: u64,
    counted: usize,
}

impl Place {
    #[inline]
    fn read_game(
        &mut self,
        text: &[u8],
        state: &mut State,
        visitor: &mut impl Visitor,
    ) -> Option<GameEnd> {
        let mut read = parser::read_game(text, self.at, state, visitor)?;
        self.at = read.after;
        if let Fate::Broken(fault) = &mut read.end.fate {
            fault.line = self.line_at(text, read.fault);
        }
        Some(read.end)
    }

    /// The line at a later place.
    #[cold]
    fn line_at(&mut self, text: &[u8], at: usize) -> u64 {
        self.line += count_lines(&text[self.counted..at]);
        self.counted = at;
        self.line
    }
}

/// The openings that a reader has met, which it need not resolve move by move again.
pub struct Experience(Tree);

impl Default for Experience {
    fn default() -> Self {
        Experience(Tree::new())
    }
}
