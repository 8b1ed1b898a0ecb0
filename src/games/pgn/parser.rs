//! Reads games from text in memory: the tags, and movetext that `pgn::plain` cannot read.
//!
//! Moves can be in SAN, in a different notation or in a different language. Tokens without meaning,
//! such as unmatched closing braces, are skipped. Reading the game stops with an error at any other
//! word that is not a legal move.

use std::ops::ControlFlow;

use pgn_reader::{Nag, RawTag};
use shakmaty::san::San;

use super::scan::{self, TokenKind};
use super::state::{ReaderState, resolve};
use super::tree::Word;
use super::visitor::{GamePly, VariationText, Visitor};
use super::wide::wide_space;
use super::{Fault, FaultReason, GameEnd, GameResult, GameStatus};
use crate::chess::position::SanError;

pub(super) struct Parser<'a, V> {
    pub text: &'a [u8],
    pub at: usize,
    pub state: &'a mut ReaderState,
    pub visitor: &'a mut V,
    /// The offset of the most recently read move number.
    pub number: Option<usize>,
    pub at_end: bool,
    /// The nesting depth of the variation that the text belongs to; 0 for the main line.
    pub depth: usize,
}

pub(super) struct Read {
    pub end: GameEnd,
    pub after: usize,
    pub fault: usize,
}

pub(super) type ParseFlow = ControlFlow<GameStatus>;

#[inline]
pub(super) fn read_game<V: Visitor>(
    text: &[u8],
    at: usize,
    plain: &mut pgn_reader::Reader<impl std::io::Read + std::io::Seek>,
    state: &mut ReaderState,
    visitor: &mut V,
) -> Option<Read> {
    let (at, _) = scan::skip_blanks(text, at);
    if at >= text.len() {
        return None;
    }
    state.reset();
    let mut parser = Parser { text, at, state, visitor, number: None, at_end: false, depth: 0 };
    let status = parser.game(plain);
    let fault = parser.at;
    if !parser.at_end {
        parser.pass_over_rest(&status);
    }
    let after = parser.at;
    if let GameStatus::Broken(found) = &status
        && found.san.is_some()
    {
        let rest = scan::without_result(&text[fault..after]);
        let language = parser.state.language;
        parser.visitor.unread(found, &VariationText { text: rest, language, depth: 0 });
    }
    let contradiction = (status == GameStatus::Read).then(|| state.contradiction()).flatten();
    let fault = match contradiction {
        Some(_) => scan::trim_end(&text[..after], true).len(),
        None => fault,
    };
    let end = GameEnd { result: state.result(), plies: state.moves.len(), status, contradiction };
    if state.accepted {
        visitor.end(&end);
    }
    Some(Read { end, after, fault })
}

impl<V: Visitor> Parser<'_, V> {
    fn game(
        &mut self,
        plain: &mut pgn_reader::Reader<impl std::io::Read + std::io::Seek>,
    ) -> GameStatus {
        if !self.tags() && !self.begins_game() {
            self.skip_text();
            self.at_end = true;
            return GameStatus::Text;
        }
        if let Err(status) = self.state.set_up() {
            return status;
        }
        if self.visitor.begin(&self.state.tags, &self.state.start).is_break() {
            return GameStatus::Declined;
        }
        self.state.accepted = true;
        match self.plain_movetext(plain).map_or_else(|| self.movetext(), ControlFlow::Break) {
            ControlFlow::Break(status) => status,
            ControlFlow::Continue(()) => {
                self.at_end = true;
                GameStatus::Read
            }
        }
    }

    pub(super) fn leave(&mut self) -> ParseFlow {
        self.at_end = true;
        ControlFlow::Break(GameStatus::Read)
    }

    fn tags(&mut self) -> bool {
        let begin = self.at;
        let mut tagged = false;
        while self.text.get(self.at) == Some(&b'[') {
            let tag = scan::tag(self.text, self.at);
            if let Some((name, value, _)) = tag {
                let wanted = matches!(name, b"Result" | b"FEN" | b"Variant");
                if wanted || self.visitor.wants_tag(name) {
                    self.state.tags.push(name, RawTag(value));
                }
                tagged = true;
            }
            // If a line begins with `[` but does not contain a valid tag, skip the whole line.
            let after = tag.map_or_else(|| scan::line_end(self.text, self.at), |tag| tag.2);
            let (next, empty_line) = scan::skip_blanks(self.text, after);
            self.at = next;
            // An `Event` tag after an empty line begins another game, so the current game has no
            // movetext.
            if tag.is_some() && empty_line && self.text[next..].starts_with(b"[Event ") {
                break;
            }
        }
        if !tagged {
            self.at = begin;
        }
        tagged
    }

    pub(super) fn movetext(&mut self) -> ParseFlow {
        loop {
            self.skip_gap();
            let Some(&byte) = self.text.get(self.at) else { return ControlFlow::Continue(()) };
            match scan::kind(byte) {
                TokenKind::Blank => self.at += 1,
                TokenKind::Digit => self.digit()?,
                TokenKind::LineEnd => self.line_end()?,
                TokenKind::Bracket if self.begins_tag() => return self.leave(),
                TokenKind::Bracket if self.state.done => self.at += 1,
                TokenKind::Word | TokenKind::Bracket => self.word()?,
                TokenKind::Sign => self.sign(byte)?,
            }
        }
    }

    /// Skips text between moves: blanks, move numbers, and line ends after which the game clearly
    /// continues.
    #[inline]
    pub(super) fn skip_gap(&mut self) {
        while let Some(&byte) = self.text.get(self.at) {
            match scan::kind(byte) {
                TokenKind::Blank => self.at += 1,
                TokenKind::Digit => {
                    let end = scan::digits_end(self.text, self.at);
                    // Do not skip a number that begins with a zero: it may be a null move such as
                    // `0000`.
                    if byte == b'0' || !matches!(self.text.get(end), Some(b'.' | b' ')) {
                        return;
                    }
                    self.number = Some(self.at);
                    self.at = end + 1;
                }
                TokenKind::LineEnd => {
                    let after = scan::after_line_end(self.text, self.at);
                    match self.text[after..] {
                        [b'1', b'.', ..] => return,
                        [b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z', ..] => self.at = after,
                        _ => return,
                    }
                }
                _ => return,
            }
        }
    }

    fn word(&mut self) -> ParseFlow {
        let rest = &self.text[self.at..];
        if let Some((result, length)) = scan::result(rest) {
            return self.ended(result, length);
        }
        let space = wide_space(rest);
        if space > 0 || self.state.done {
            let end = scan::whole_word_end(self.text, self.at);
            self.at = if space > 0 { self.at + space } else { end };
            return ControlFlow::Continue(());
        }
        let end = scan::word_end(self.text, self.at);
        match self.play_word(end) {
            Ok(ply) => self.played(&ply, end),
            Err(error) => self.unusual(error),
        }
    }

    /// Handles a word that is not a legal move in SAN. `error` is the reason why it is not.
    #[cold]
    fn unusual(&mut self, error: SanError) -> ParseFlow {
        if let Some((number, end)) = scan::glyph(self.text, self.at) {
            if number > 0 {
                self.visitor.nag(number);
            }
            self.at = end;
            return ControlFlow::Continue(());
        }
        let end = scan::chunk_end(self.text, self.at);
        let played = match scan::is_null_move(&self.text[self.at..end]) {
            true => self.state.play_null(),
            false => self.play_word(end),
        };
        match played {
            Ok(ply) => self.played(&ply, end),
            Err(other) if error == SanError::Malformed => self.broken(end, other),
            Err(_) => self.broken(end, error),
        }
    }

    fn play_word(&mut self, end: usize) -> Result<GamePly, SanError> {
        let word = &self.text[self.at..end];
        let english = self.state.language.translate(word).ok_or(SanError::Malformed)?;
        let bare = english.strip_suffix(b"+").or(english.strip_suffix(b"#")).unwrap_or(&english);
        let word = San::from_ascii(bare).ok().and_then(Word::of);
        self.state.play(word, |position| resolve(position, bare))
    }

    /// Passes a move to the visitor. The text of the move ends at `end`. If the visitor needs no
    /// more moves, reading stops if the `Result` tag contains the result. Otherwise, reading
    /// continues up to the result in the movetext.
    #[inline]
    pub(super) fn played(&mut self, ply: &GamePly, end: usize) -> ParseFlow {
        self.at = end;
        self.state.moves.push(ply.mv);
        if self.visitor.played(ply).is_continue() {
            return ControlFlow::Continue(());
        }
        self.state.done = true;
        match self.state.tags.result() {
            Some(_) => ControlFlow::Break(GameStatus::Read),
            None => ControlFlow::Continue(()),
        }
    }

    #[cold]
    fn broken(&mut self, end: usize, error: SanError) -> ParseFlow {
        let reason = match error {
            SanError::Malformed => FaultReason::Token,
            error => FaultReason::Move(error),
        };
        let token = &self.text[self.at..end];
        let shown = &token[..token.len().min(LONGEST_SHOWN)];
        ControlFlow::Break(GameStatus::Broken(Box::new(Fault {
            line: 0,
            fen: Some(self.state.full_position().fen()),
            san: Some(super::tags::text(shown).into_owned()),
            reason,
        })))
    }

    /// Handles a token that begins with a digit: a move number, a result, castling written with
    /// zeros, or a null move.
    fn digit(&mut self) -> ParseFlow {
        let digits = scan::digits_end(self.text, self.at);
        let end = scan::whole_word_end(self.text, self.at);
        let is_null = !self.state.done && scan::is_null_move(&self.text[self.at..end]);
        // A move number without a dot is valid if it is a whole word, or if a letter or `…` follows
        // it directly, as in `1e4`.
        let letter = self.text.get(digits).is_some_and(u8::is_ascii_alphabetic);
        let points = "…".as_bytes();
        let has_points = self.text[digits..].starts_with(points);
        if is_null || !(end == digits || letter || has_points) {
            return self.word();
        }
        self.number = Some(self.at);
        self.at = if has_points { digits + points.len() } else { digits };
        ControlFlow::Continue(())
    }

    fn ended(&mut self, result: GameResult, length: usize) -> ParseFlow {
        self.state.token = Some(result);
        self.at += length;
        ControlFlow::Break(GameStatus::Read)
    }

    fn line_end(&mut self) -> ParseFlow {
        self.at = scan::after_line_end(self.text, self.at);
        match self.text[self.at..] {
            [b'\n' | b'\r' | b'%' | b' ' | b'\t', ..] => self.after_line(),
            [b'1', b'.', ..] if self.begins_another() => self.leave(),
            _ => ControlFlow::Continue(()),
        }
    }

    fn begins_tag(&self) -> bool {
        scan::is_first_in_line(self.text, self.at) && scan::is_tag(&self.text[self.at..])
    }

    pub(super) fn sign(&mut self, sign: u8) -> ParseFlow {
        match sign {
            b'{' => match scan::comment(self.text, self.at) {
                Some((text, after)) => {
                    self.visitor.comment(text);
                    self.at = after;
                }
                None => return ControlFlow::Break(GameStatus::broken(FaultReason::OpenComment)),
            },
            b'(' => match scan::variation_end(self.text, self.at) {
                Some(after) => {
                    let text = &self.text[self.at + 1..after - 1];
                    let (language, depth) = (self.state.language, self.depth);
                    self.visitor.variation(&VariationText { text, language, depth });
                    self.at = after;
                }
                None => return ControlFlow::Break(GameStatus::broken(FaultReason::OpenVariation)),
            },
            b'$' | b'!' | b'?' => {
                let end = match (sign, self.text.get(self.at + 1)) {
                    (b'$', _) => scan::whole_word_end(self.text, self.at + 1),
                    (_, Some(b'!' | b'?')) => self.at + 2,
                    _ => self.at + 1,
                };
                if let Ok(nag) = Nag::from_ascii(&self.text[self.at..end]) {
                    self.visitor.nag(nag.0);
                }
                self.at = end;
            }
            b';' => {
                let end = scan::line_end(self.text, self.at);
                self.visitor.comment(&self.text[self.at + 1..end]);
                self.at = end;
            }
            b'*' => return self.ended(GameResult::Undecided, 1),
            // Ignore an unmatched closing brace or parenthesis.
            _ => self.at += 1,
        }
        ControlFlow::Continue(())
    }
}

const LONGEST_SHOWN: usize = 24;
