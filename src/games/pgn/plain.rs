//! Reads the movetext of plain games with `pgn-reader`.
//!
//! `pgn-reader` skips text that it does not recognise, ends a game at an empty line, and treats all
//! games after an unclosed brace as part of the comment. It reports none of these cases. Therefore
//! each token that it returns is compared with the text. If there is anything but blanks and move
//! numbers between two tokens, or if a move is illegal, the tolerant parser takes over.

use std::io::{self, Read, Seek, SeekFrom};
use std::ops::ControlFlow;

use pgn_reader::{Nag, RawComment, SanPlus, Skip};
use shakmaty::Outcome;

use super::GameStatus;
use super::language::Language;
use super::parser::Parser;
use super::scan;
use super::tree::Word;
use super::visitor::{GamePly, Visitor};

/// The number of bytes that `pgn-reader` reads at a time. It is small because `pgn-reader` copies
/// each block, including any text in it after the end of the movetext.
const BLOCK: usize = 1 << 10;

pub(super) type PlainReader<T> = pgn_reader::Reader<Blocks<T>>;

pub(super) struct Blocks<T>(pub T, pub usize);

impl<T: AsRef<[u8]>> Read for Blocks<T> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let wanted = buffer.len().min(BLOCK);
        let read = (&self.0.as_ref()[self.1..]).read(&mut buffer[..wanted])?;
        self.1 += read;
        Ok(read)
    }
}

impl<T> Seek for Blocks<T> {
    fn seek(&mut self, place: SeekFrom) -> io::Result<u64> {
        let SeekFrom::Start(at) = place else { return Err(io::ErrorKind::Unsupported.into()) };
        self.1 = at as usize;
        Ok(at)
    }
}

/// The result of one step of reading with `pgn-reader`. Breaks with the status of the game, or with
/// `None` if the tolerant parser must take over.
type PlainFlow = ControlFlow<Option<GameStatus>>;

const HAND_OVER: PlainFlow = ControlFlow::Break(None);

impl<V: Visitor> Parser<'_, V> {
    /// Reads the movetext of a game with `plain`, a `pgn-reader` reader over the same text. Returns
    /// `None` if the tolerant parser must read the rest of the game.
    #[inline]
    pub(super) fn plain_movetext(
        &mut self,
        plain: &mut pgn_reader::Reader<impl Read + Seek>,
    ) -> Option<GameStatus> {
        if self.state.language != Language::ENGLISH {
            return None;
        }
        if let ControlFlow::Break(status) = self.cached_moves() {
            return status;
        }
        // If the previous game was not read to its end, `pgn-reader` would first skip the rest of
        // it. Seek to the end of the text, so that there is nothing to skip.
        plain.seek(SeekFrom::Start(self.text.len() as u64)).ok()?;
        plain.has_more().ok()?;
        plain.seek(SeekFrom::Start(self.at as u64)).ok()?;
        plain.read_game(self).ok()??
    }

    #[inline]
    fn cached_moves(&mut self) -> PlainFlow {
        loop {
            self.skip_gap();
            let end = scan::word_end(self.text, self.at);
            let word = Word::between(self.text, self.at, end);
            match word.and_then(|word| self.state.play_cached(word)) {
                Some(ply) => self.plain_move(&ply, end)?,
                None => return ControlFlow::Continue(()),
            }
        }
    }

    /// Passes a move to the visitor. The text of the move ends at `end`. If the visitor needs no
    /// more moves but the result is still unknown, hands over to the tolerant parser, which
    /// searches for the result.
    #[inline]
    fn plain_move(&mut self, ply: &GamePly, end: usize) -> PlainFlow {
        match self.played(ply, end) {
            ControlFlow::Continue(()) if self.state.done => HAND_OVER,
            flow => flow.map_break(Some),
        }
    }

    fn token(&mut self, signs: &[u8]) -> PlainFlow {
        self.skip_gap();
        match self.text.get(self.at) {
            Some(&byte) if signs.contains(&byte) => self.sign(byte).map_break(Some),
            _ => HAND_OVER,
        }
    }
}

impl<V: Visitor> pgn_reader::Visitor for Parser<'_, V> {
    type Tags = ();
    type Movetext = ();
    type Output = Option<GameStatus>;

    fn begin_tags(&mut self) -> PlainFlow {
        ControlFlow::Continue(())
    }

    fn begin_movetext(&mut self, (): ()) -> PlainFlow {
        ControlFlow::Continue(())
    }

    #[inline]
    fn san(&mut self, (): &mut (), SanPlus { san, .. }: SanPlus) -> PlainFlow {
        self.skip_gap();
        let Some(word) = Word::of(san) else { return HAND_OVER };
        let Some(end) = word.end(self.text, self.at) else { return HAND_OVER };
        let has_check = matches!(self.text.get(end), Some(b'+' | b'#'));
        let end = end + usize::from(has_check);
        if !self.text.get(end).is_none_or(|&byte| scan::ends_word(byte)) {
            return HAND_OVER;
        }
        match self.state.play(Some(word), |position| position.resolve_san(san)) {
            Ok(ply) => self.plain_move(&ply, end),
            Err(_) => HAND_OVER,
        }
    }

    fn nag(&mut self, (): &mut (), _: Nag) -> PlainFlow {
        self.token(b"$!?")
    }

    fn comment(&mut self, (): &mut (), _: RawComment<'_>) -> PlainFlow {
        self.token(b"{")
    }

    fn begin_variation(&mut self, (): &mut ()) -> ControlFlow<Option<GameStatus>, Skip> {
        self.token(b"(").map_continue(|()| Skip(true))
    }

    fn outcome(&mut self, (): &mut (), _: Outcome) -> PlainFlow {
        HAND_OVER
    }

    fn end_game(&mut self, (): ()) -> Option<GameStatus> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::position::Position;
    use crate::games::pgn::collect::Collector;
    use crate::games::pgn::state::ReaderState;
    use crate::games::pgn::tree::OpeningCache;

    #[test]
    fn plain_reader_leaves_only_the_result_to_the_parser() {
        let text =
            "1. e4 {a} e5 $1 2.Nf3! (2. d4 {)} exd4 (2... d5)) 2... Nc6\r\n3. Bb5 a6 4. O-O *";
        let state = &mut ReaderState::new(OpeningCache::default(), Language::ENGLISH, b'\n');
        let visitor = &mut Collector::new(Position::start());
        let text_bytes = text.as_bytes();
        let (at, number, at_end, depth) = (0, None, false, 0);
        let mut parser = Parser { text: text_bytes, at, state, visitor, number, at_end, depth };
        assert_eq!(parser.plain_movetext(&mut PlainReader::new(Blocks(text, 0))), None);
        assert_eq!(text[parser.at..].trim(), "*");
        assert_eq!((parser.state.moves.len(), parser.visitor.game.moves.len()), (7, 7));
    }
}
