//! One game after the other out of a text in memory.
//!
//! `pgn-reader`, whose tokens' decoding is used here, passes over what it does not understand, ends
//! a game at an empty line, and lets an unclosed brace swallow the games after it. So the text is
//! cut into tokens here, and no token of a main line is passed over: it is a move, it is known to
//! mean nothing, or it ends its game. A word of up to six bytes is looked up in the tree of
//! beginnings as it stands; only where that fails it is read as SAN, and only where that fails, too,
//! by what other notations and languages have.

use std::ops::ControlFlow;

use pgn_reader::{Nag, RawTag};

use super::language::Language;
use super::scan::{self, TokenKind};
use super::state::ReaderState;
use super::tree::Word;
use super::visitor::{GamePly, Visitor};
use super::wide::wide_space;
use super::{Fate, Fault, FaultReason, GameEnd, GameResult};
use crate::position::SanError;

/// Reads one game.
pub(super) struct Parser<'a, V> {
    pub text: &'a [u8],
    pub at: usize,
    pub state: &'a mut ReaderState,
    visitor: &'a mut V,
    /// Where the last move number stands.
    pub number: Option<usize>,
    /// What comes now belongs to another game.
    at_end: bool,
}

/// A game that was read, the place after it, and that of its fault, if it has one.
pub(super) struct Read {
    pub end: GameEnd,
    pub after: usize,
    pub fault: usize,
}

/// Goes on, or ends the game.
pub(super) type ParseFlow = ControlFlow<Fate>;

/// The next game of a text from `at` on; `None` if there is none.
#[inline]
pub(super) fn read_game<V: Visitor>(
    text: &[u8],
    at: usize,
    state: &mut ReaderState,
    visitor: &mut V,
) -> Option<Read> {
    let (at, _) = scan::skip_blanks(text, at);
    if at >= text.len() {
        return None;
    }
    state.reset();
    let mut parser = Parser { text, at, state, visitor, number: None, at_end: false };
    let fate = parser.game();
    let fault = parser.at;
    if !parser.at_end {
        parser.pass_over_rest(&fate);
    }
    let after = parser.at;
    let contradiction = (fate == Fate::Read).then(|| state.contradiction()).flatten();
    let fault = match contradiction {
        Some(_) => scan::trim_end(&text[..after], true).len(),
        None => fault,
    };
    let end = GameEnd { result: state.result(), plies: state.moves.len(), fate, contradiction };
    if state.accepted {
        visitor.end(&end);
    }
    Some(Read { end, after, fault })
}

impl<V: Visitor> Parser<'_, V> {
    fn game(&mut self) -> Fate {
        if !self.tags() && !self.begins_game() {
            self.pass_over_text();
            self.at_end = true;
            return Fate::Text;
        }
        if let Err(fate) = self.state.set_up() {
            return fate;
        }
        if self.visitor.begin(&self.state.tags, &self.state.start).is_break() {
            return Fate::Declined;
        }
        self.state.accepted = true;
        match self.movetext() {
            ControlFlow::Break(fate) => fate,
            ControlFlow::Continue(()) => {
                self.at_end = true;
                Fate::Read
            }
        }
    }

    /// Another game begins here.
    pub(super) fn leave(&mut self) -> ParseFlow {
        self.at_end = true;
        ControlFlow::Break(Fate::Read)
    }

    /// Reads the tags; tells whether there are any.
    fn tags(&mut self) -> bool {
        let begin = self.at;
        let mut tagged = false;
        while self.text.get(self.at) == Some(&b'[') {
            let Some((name, value, after)) = scan::tag(self.text, self.at) else {
                // A tag without a value.
                let end = scan::line_end(self.text, self.at);
                self.at = scan::skip_blanks(self.text, end).0;
                continue;
            };
            let wanted = matches!(name, b"Result" | b"FEN" | b"Variant")
                || self.visitor.wants_tags() && self.visitor.wants_tag(name);
            if wanted {
                self.state.tags.push(name, RawTag(value));
            }
            tagged = true;
            let (next, empty_line) = scan::skip_blanks(self.text, after);
            self.at = next;
            // A game without movetext: what comes are the tags of the next.
            if empty_line && self.text[next..].starts_with(b"[Event ") {
                break;
            }
        }
        if !tagged {
            self.at = begin;
        }
        tagged
    }

    /// Reads the movetext to its end.
    #[inline]
    fn movetext(&mut self) -> ParseFlow {
        while let Some(&byte) = self.text.get(self.at) {
            match scan::kind(byte) {
                TokenKind::Blank => self.at += 1,
                TokenKind::Word => self.word()?,
                TokenKind::Digit => self.digit()?,
                TokenKind::LineEnd => self.line_end()?,
                TokenKind::Bracket => self.bracket()?,
                TokenKind::Sign => self.sign(byte)?,
            }
        }
        ControlFlow::Continue(())
    }

    /// A word, which should be a move.
    #[inline]
    fn word(&mut self) -> ParseFlow {
        let end = scan::word_end(self.text, self.at);
        if self.state.done {
            return self.unwanted(end);
        }
        if self.state.language != Language::ENGLISH {
            return self.foreign(end);
        }
        let bare = without_check(&self.text[self.at..end]);
        let word = Word::at(self.text, self.at, bare.len());
        let ply = match self.state.play_remembered(word) {
            Some(ply) => ply,
            None => match self.state.play_anew(bare, word) {
                Ok(ply) => ply,
                Err(error) => return self.unusual(error),
            },
        };
        self.at = end;
        self.played(&ply)
    }

    /// A move was played.
    #[inline]
    fn played(&mut self, ply: &GamePly) -> ParseFlow {
        self.state.moves.push(ply.mv);
        match self.visitor.played(ply) {
            ControlFlow::Continue(()) => ControlFlow::Continue(()),
            ControlFlow::Break(()) => self.finish(),
        }
    }

    /// Ends the game at once if its result is known, else once it is.
    fn finish(&mut self) -> ParseFlow {
        self.state.done = true;
        match self.state.tags.result() {
            Some(_) => ControlFlow::Break(Fate::Read),
            None => ControlFlow::Continue(()),
        }
    }

    /// A word after all that the visitor wants: only a result is looked for.
    fn unwanted(&mut self, end: usize) -> ParseFlow {
        if let Some((result, length)) = scan::result(&self.text[self.at..]) {
            return self.ended(result, length);
        }
        let space = wide_space(&self.text[self.at..]);
        let word_end = scan::whole_word_end(self.text, self.at);
        self.at = if space > 0 { self.at + space } else { word_end.min(end) };
        ControlFlow::Continue(())
    }

    /// A word in a text with letters of another language.
    fn foreign(&mut self, end: usize) -> ParseFlow {
        let Some(english) = self.state.language.translate(&self.text[self.at..end]) else {
            return self.unusual(SanError::Malformed);
        };
        match self.play_english(&english) {
            Ok(ply) => {
                self.at = end;
                self.played(&ply)
            }
            Err(error) => self.unusual(error),
        }
    }

    fn play_english(&mut self, english: &[u8]) -> Result<GamePly, SanError> {
        let bare = without_check(english);
        let word = Word::at(bare, 0, bare.len());
        match self.state.play_remembered(word) {
            Some(ply) => Ok(ply),
            None => self.state.play_anew(bare, word),
        }
    }

    /// A word that is no SAN of a legal move.
    #[cold]
    fn unusual(&mut self, error: SanError) -> ParseFlow {
        let rest = &self.text[self.at..];
        if let Some((result, length)) = scan::result(rest) {
            return self.ended(result, length);
        }
        let space = wide_space(rest);
        if space > 0 {
            self.at += space;
            return ControlFlow::Continue(());
        }
        if let Some((number, end)) = scan::glyph(self.text, self.at) {
            if number > 0 {
                self.visitor.nag(number);
            }
            self.at = end;
            return ControlFlow::Continue(());
        }
        let end = scan::chunk_end(self.text, self.at);
        let word = &self.text[self.at..end];
        if scan::is_null_move(word) {
            return match self.state.play_null() {
                Ok(ply) => {
                    self.at = end;
                    self.played(&ply)
                }
                Err(error) => self.broken(end, error),
            };
        }
        let english = self.state.language.translate(word);
        match english.map(|english| self.play_english(&english)) {
            Some(Ok(ply)) => {
                self.at = end;
                self.played(&ply)
            }
            Some(Err(other)) if error == SanError::Malformed => self.broken(end, other),
            _ => self.broken(end, error),
        }
    }

    /// The game stops at a token that cannot be played.
    #[cold]
    fn broken(&mut self, end: usize, error: SanError) -> ParseFlow {
        let reason = match error {
            SanError::Malformed => FaultReason::Token,
            error => FaultReason::Move(error),
        };
        let token = &self.text[self.at..end];
        let shown = &token[..token.len().min(LONGEST_SHOWN)];
        ControlFlow::Break(Fate::Broken(Box::new(Fault {
            line: 0,
            fen: Some(self.state.full_position().fen()),
            san: Some(super::tags::text(shown).into_owned()),
            reason,
        })))
    }

    /// A move number, a result, or castling with zeros.
    #[inline]
    fn digit(&mut self) -> ParseFlow {
        let begin = self.at;
        let mut at = begin + 1;
        while self.text.get(at).is_some_and(u8::is_ascii_digit) {
            at += 1;
        }
        match self.text.get(at) {
            // A zero may begin a null move.
            Some(b'.' | b' ') if self.text[begin] != b'0' => {
                self.number = Some(begin);
                self.at = at + 1;
                ControlFlow::Continue(())
            }
            _ => self.no_plain_number(at),
        }
    }

    /// What begins with a digit and has neither a point nor a blank after it.
    fn no_plain_number(&mut self, digits: usize) -> ParseFlow {
        let begin = self.at;
        if let Some((result, length)) = scan::result(&self.text[begin..]) {
            return self.ended(result, length);
        }
        let end = scan::whole_word_end(self.text, begin);
        if scan::is_null_move(&self.text[begin..end]) && !self.state.done {
            return self.unusual(SanError::Malformed);
        }
        // A number without a point right before its move, or at the end of a line.
        let letter = self.text.get(digits).is_some_and(u8::is_ascii_alphabetic);
        if end == digits || letter || self.text[digits..].starts_with("…".as_bytes()) {
            self.number = Some(begin);
            self.at = digits;
            if end > digits && !letter {
                self.at += "…".len();
            }
            return ControlFlow::Continue(());
        }
        if self.state.done {
            self.at = end;
            return ControlFlow::Continue(());
        }
        self.unusual(SanError::Malformed)
    }

    /// The result that ends the movetext.
    fn ended(&mut self, result: GameResult, length: usize) -> ParseFlow {
        self.state.token = Some(result);
        self.at += length;
        ControlFlow::Break(Fate::Read)
    }

    #[inline]
    fn line_end(&mut self) -> ParseFlow {
        self.at = scan::after_line_end(self.text, self.at);
        match self.text[self.at..] {
            [b'\n' | b'\r' | b'%' | b' ' | b'\t', ..] => self.after_line(),
            [b'1', b'.', ..] if self.begins_another() => self.leave(),
            _ => ControlFlow::Continue(()),
        }
    }

    /// A bracket: the tags of the next game, if it stands first in its line.
    fn bracket(&mut self) -> ParseFlow {
        if scan::is_first_in_line(self.text, self.at) && scan::is_tag(&self.text[self.at..]) {
            return self.leave();
        }
        if self.state.done {
            self.at += 1;
            return ControlFlow::Continue(());
        }
        self.unusual(SanError::Malformed)
    }

    /// What is not a word.
    #[inline]
    fn sign(&mut self, sign: u8) -> ParseFlow {
        match sign {
            b'{' => match scan::comment(self.text, self.at) {
                Some((text, after)) => {
                    self.visitor.comment(text);
                    self.at = after;
                }
                None => return ControlFlow::Break(Fate::broken(FaultReason::OpenComment)),
            },
            b'(' => match scan::variation_end(self.text, self.at) {
                Some(after) => {
                    self.visitor.variation(&self.text[self.at + 1..after - 1]);
                    self.at = after;
                }
                None => return ControlFlow::Break(Fate::broken(FaultReason::OpenVariation)),
            },
            b'$' => {
                let end = scan::whole_word_end(self.text, self.at + 1);
                if let Ok(nag) = Nag::from_ascii(&self.text[self.at..end]) {
                    self.visitor.nag(nag.0);
                }
                self.at = end;
            }
            b'!' | b'?' => {
                let double = matches!(self.text.get(self.at + 1), Some(b'!' | b'?'));
                let end = self.at + 1 + usize::from(double);
                if let Ok(nag) = Nag::from_ascii(&self.text[self.at..end]) {
                    self.visitor.nag(nag.0);
                }
                self.at = end;
            }
            b';' => self.at = scan::line_end(self.text, self.at),
            b'*' => return self.ended(GameResult::Undecided, 1),
            // A brace or parenthesis too many is no token of the game.
            _ => self.at += 1,
        }
        ControlFlow::Continue(())
    }
}

/// Bytes of a token that a fault quotes.
const LONGEST_SHOWN: usize = 24;

/// A move without its sign of check or mate.
#[inline]
fn without_check(word: &[u8]) -> &[u8] {
    match word {
        [bare @ .., b'+' | b'#'] => bare,
        _ => word,
    }
}
