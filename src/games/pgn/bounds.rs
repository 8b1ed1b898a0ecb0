//! Finds where games begin and end in PGN text, and skips the text between them.

use std::ops::ControlFlow;

use super::parser::{ParseFlow, Parser};
use super::scan::{self, TokenKind};
use super::state::resolve;
use super::tree::OpeningCache;
use super::visitor::Visitor;
use super::{FaultReason, GameStatus};
use crate::chess::position::{Move, Replay, is_loose_san};

const BLACK_NUMBER: usize = "1..".len();

/// The number of plies to check before text without tags is accepted as a game.
const PROOF: usize = 2;

enum TextPart {
    Pass(usize),
    Move(Move, usize),
    End,
    /// A token that shows that the text is not a game.
    Foreign,
}

impl<V: Visitor> Parser<'_, V> {
    /// Returns true if the text at the current offset, which has no tags, is a game. The first ply
    /// must be legal in the start position. If there is a second ply, it must at least look like a
    /// move.
    pub(super) fn begins_game(&mut self) -> bool {
        let mut position = *self.state.tree.position(OpeningCache::ROOT);
        let mut at = self.at;
        let mut plies = 0;
        while plies < PROOF {
            at = match self.opening_step(at, &position, plies > 0) {
                TextPart::Pass(after) => after,
                TextPart::Move(mv, after) => {
                    position.play(mv);
                    plies += 1;
                    after
                }
                TextPart::End => break,
                TextPart::Foreign => return false,
            };
        }
        plies > 0
    }

    fn opening_step(&self, at: usize, position: &Replay, moved: bool) -> TextPart {
        let (at, empty_line) = scan::skip_blanks(self.text, at);
        let Some(&byte) = self.text.get(at) else { return TextPart::End };
        if moved && (empty_line || scan::result(&self.text[at..]).is_some()) {
            return TextPart::End;
        }
        let passed = |after: Option<usize>| after.map_or(TextPart::Foreign, TextPart::Pass);
        match (scan::kind(byte), byte) {
            (TokenKind::Digit, _) if moved && self.is_null_at(at) => TextPart::End,
            (TokenKind::Digit, _) => match number(self.text, at) {
                // This is the `1.` of another game, so the current game has only one ply.
                (1, after) if moved && after < at + BLACK_NUMBER => TextPart::End,
                (1, after) => TextPart::Pass(after),
                _ => TextPart::Foreign,
            },
            (TokenKind::Word, _) => {
                if moved && let Some((_, end)) = scan::glyph(self.text, at) {
                    return TextPart::Pass(end);
                }
                let end = scan::whole_word_end(self.text, at);
                let word = &self.text[at..end];
                match self.meant(position, word) {
                    Some(mv) => TextPart::Move(mv, end),
                    None if moved && self.is_null_at(at) => TextPart::End,
                    // The second ply is illegal, but looks like a move. The text counts as a game,
                    // so that the error is reported.
                    None if moved && self.is_like_move(word) => TextPart::End,
                    None => TextPart::Foreign,
                }
            }
            (_, b'{') => passed(scan::comment(self.text, at).map(|(_, after)| after)),
            (_, b'(') if moved => passed(scan::variation_end(self.text, at)),
            (_, b';') => TextPart::Pass(scan::line_end(self.text, at)),
            (_, b'!' | b'?') if moved => TextPart::Pass(at + 1),
            (_, b'$') if moved => TextPart::Pass(scan::whole_word_end(self.text, at + 1)),
            _ => TextPart::Foreign,
        }
    }

    fn is_null_at(&self, at: usize) -> bool {
        scan::is_null_move(&self.text[at..scan::whole_word_end(self.text, at)])
    }

    fn meant(&self, position: &Replay, word: &[u8]) -> Option<Move> {
        let english = self.state.language.translate(word)?;
        resolve(position, &english).ok()
    }

    fn is_like_move(&self, word: &[u8]) -> bool {
        let english = self.state.language.translate(word);
        english.is_some_and(|english| is_loose_san(&english))
    }

    /// Skips text that is not a game, up to the next offset at which a game may begin.
    pub(super) fn skip_text(&mut self) {
        let text = self.text;
        loop {
            let end = scan::line_end_outside_comments(text, self.at);
            let (next, empty_line) = scan::skip_blanks(text, end);
            self.at = next;
            let rest = &text[next..];
            let may_begin = empty_line || rest.starts_with(b"1.");
            if rest.is_empty() || scan::is_tag(rest) || may_begin && self.begins_game() {
                return;
            }
        }
    }

    pub(super) fn begins_another(&mut self) -> bool {
        !self.state.moves.is_empty() && self.begins_game()
    }

    /// Handles the end of a line of movetext. If an empty line follows, the game ends unless the
    /// text after the empty line continues it.
    pub(super) fn after_line(&mut self) -> ParseFlow {
        let begin = self.at;
        let (next, empty_line) = scan::skip_blanks(self.text, begin - 1);
        self.at = next;
        if !empty_line || next >= self.text.len() {
            return ControlFlow::Continue(());
        }
        // If the parser is skipping the rest of the game, it has also skipped the result on this
        // line, so search for it here.
        let ended = self.state.done && scan::final_result(&self.text[..begin]).is_some();
        let moved = !self.state.moves.is_empty() || self.state.done;
        if ended || moved && !self.continues_game() {
            return self.leave();
        }
        ControlFlow::Continue(())
    }

    /// Returns true if the text after an empty line belongs to the current game. Called only if the
    /// game has no result yet.
    fn continues_game(&mut self) -> bool {
        let rest = &self.text[self.at..];
        if scan::result(rest).is_some() {
            return true;
        }
        match scan::kind(rest[0]) {
            TokenKind::Digit => {
                let (next, _) = number(self.text, self.at);
                let last = self.number.map_or(0, |at| number(self.text, at).0);
                let fits = |last| next == last || next == last + 1;
                let first = next <= 1 && !self.state.moves.is_empty();
                !first && (self.state.done || fits(last) || fits(self.state.move_number()))
            }
            TokenKind::Word => {
                let word = &rest[..scan::whole_word_end(rest, 0)];
                if self.state.done {
                    return self.is_like_move(word);
                }
                scan::glyph(rest, 0).is_some() || self.meant(self.state.current(), word).is_some()
            }
            TokenKind::Bracket => false,
            TokenKind::Sign | TokenKind::Blank | TokenKind::LineEnd => true,
        }
    }

    /// Skips the rest of a game after reading has stopped early, at an error or at the visitor's
    /// request.
    pub(super) fn pass_over_rest(&mut self, status: &GameStatus) {
        if let GameStatus::Broken(fault) = status
            && matches!(fault.reason, FaultReason::OpenComment | FaultReason::OpenVariation)
        {
            self.at = scan::next_game(self.text, self.at + 1);
            return;
        }
        if self.state.token.is_some() {
            return self.skip_comments();
        }
        self.state.done = true;
        self.skip_movetext();
        if *status == GameStatus::Read {
            self.state.token = scan::final_result(&self.text[..self.at]);
        }
    }

    fn skip_comments(&mut self) {
        loop {
            let (next, empty_line) = scan::skip_blanks(self.text, self.at);
            let after = match self.text.get(next) {
                _ if empty_line => None,
                Some(b'{') => scan::comment(self.text, next).map(|(_, after)| after),
                Some(b'(') => scan::variation_end(self.text, next),
                Some(b';') => Some(scan::line_end(self.text, next)),
                Some(b'}' | b')' | b'!' | b'?' | b'$') => {
                    Some(scan::whole_word_end(self.text, next + 1))
                }
                _ => scan::result(&self.text[next..]).map(|(_, length)| next + length),
            };
            match after {
                Some(after) => self.at = after,
                None => return,
            }
        }
    }

    /// Skips to the end of the movetext line by line, which is faster than splitting it into words.
    fn skip_movetext(&mut self) {
        let line_sign = self.state.line_sign;
        while let Some(at) = memchr::memchr3(line_sign, b'{', b';', &self.text[self.at..]) {
            self.at += at;
            match self.text[self.at] {
                b'{' => match scan::comment(self.text, self.at) {
                    Some((_, after)) => self.at = after,
                    None => {
                        self.at = scan::next_game(self.text, self.at + 1);
                        return;
                    }
                },
                b';' => self.at = scan::line_end(self.text, self.at),
                _ => {
                    self.at += 1;
                    let ended = match self.text[self.at..] {
                        [b'\n' | b'\r' | b'%' | b' ' | b'\t', ..] => self.after_line().is_break(),
                        [b'[', ..] => scan::is_tag(&self.text[self.at..]),
                        [b'1', b'.', ..] => self.begins_another(),
                        _ => false,
                    };
                    if ended {
                        return;
                    }
                }
            }
        }
        self.at = self.text.len();
    }
}

fn number(text: &[u8], at: usize) -> (u32, usize) {
    let end = scan::digits_end(text, at);
    let number = text[at..end].iter().fold(0_u32, |number, digit| {
        number.saturating_mul(10).saturating_add(u32::from(digit - b'0'))
    });
    (number, end + text[end..].iter().take_while(|&&byte| byte == b'.').count())
}
