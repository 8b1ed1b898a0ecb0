//! Splits inputs into chunks at game boundaries, so that several threads can parse an input.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use memchr::memmem::FinderRev;
use memchr::memrchr2;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::Xxh3Default;

use super::PgnInput;
use super::scan::{comment, count_lines, is_tag, line_sign, trim_end};

/// The size of a chunk in bytes. It is small enough for a chunk to stay in the CPU cache between
/// reading and parsing.
const CHUNK: usize = 256 << 10;
/// The maximum size of a chunk in bytes. A larger game is split at the end of a line.
const LARGEST_CHUNK: usize = 16 << 20;
/// A line ending followed by an empty line.
const EMPTY_LINES: [&[u8]; 3] = [b"\n\n", b"\n\r\n", b"\r\r"];

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Chunk {
    pub input: usize,
    pub number: usize,
    pub line: u64,
    pub offset: u64,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ReadSoFar {
    pub next: Chunk,
    /// A hash of the input's text before the next chunk, or 0 if that chunk is the first of its
    /// input.
    pub check: u64,
}

#[derive(Debug)]
pub(crate) struct BrokenInput {
    pub input: usize,
    /// The number of the first line that could not be read.
    pub line: u64,
    pub error: io::Error,
}

/// Splits the text of inputs into chunks of whole games. The boundaries depend only on the text, so
/// that an interrupted run can be resumed at a chunk.
pub(crate) struct Chunks {
    inputs: Vec<PgnInput>,
    progress: Arc<AtomicU64>,
    current: Option<(Blocks<Box<dyn Read + Send>>, Chunk)>,
    next_input: usize,
    broken: Vec<BrokenInput>,
    text_hash: Xxh3Default,
    is_broken: bool,
    /// The index of each completely read input, with a hash of its text.
    whole: Vec<(usize, u64)>,
}

impl Chunks {
    /// Creates an iterator over the chunks of all inputs, in order. Adds the number of bytes read
    /// to `progress`.
    pub(crate) fn new(inputs: Vec<PgnInput>, progress: Arc<AtomicU64>) -> Self {
        Chunks {
            inputs,
            progress,
            current: None,
            next_input: 0,
            broken: Vec::new(),
            text_hash: Xxh3Default::new(),
            is_broken: false,
            whole: Vec::new(),
        }
    }

    pub(crate) fn so_far(&self) -> ReadSoFar {
        let beginning = Chunk { input: self.next_input, number: 0, line: 1, offset: 0 };
        let next = self.current.as_ref().map_or(beginning, |(_, next)| *next);
        let check = if next.number > 0 { self.text_hash.digest() } else { 0 };
        ReadSoFar { next, check }
    }

    /// Skips the text that an earlier run has already read, up to `place`. Returns false if this
    /// text has changed since then.
    pub(crate) fn go_to(&mut self, place: &ReadSoFar) -> bool {
        self.next_input = place.next.input;
        let mut text = Vec::new();
        while self.so_far().next.number < place.next.number {
            let is_there =
                self.next(&mut text).is_some_and(|chunk| chunk.input == place.next.input);
            if !is_there {
                return false;
            }
        }
        self.so_far() == *place
    }

    /// Returns the inputs that could not be opened or could not be read completely, since the last
    /// call.
    pub(crate) fn take_broken(&mut self) -> Vec<BrokenInput> {
        std::mem::take(&mut self.broken)
    }

    /// Returns the index and the XXH3 hash of each input that has been read completely since the
    /// last call.
    pub(crate) fn take_checksums(&mut self) -> Vec<(usize, u64)> {
        std::mem::take(&mut self.whole)
    }

    pub(crate) fn next(&mut self, text: &mut Vec<u8>) -> Option<Chunk> {
        loop {
            if self.current.is_none() && !self.open_next() {
                return None;
            }
            if let Some(chunk) = self.fill(text) {
                return Some(chunk);
            }
            self.current = None;
            if !self.is_broken {
                self.whole.push((self.next_input - 1, self.text_hash.digest()));
            }
        }
    }

    fn open_next(&mut self) -> bool {
        while let Some(input) = self.inputs.get(self.next_input) {
            let chunk = Chunk { input: self.next_input, number: 0, line: 1, offset: 0 };
            self.next_input += 1;
            match input.open(&self.progress) {
                Ok(reader) => {
                    self.current = Some((Blocks::new(reader), chunk));
                    self.text_hash.reset();
                    self.is_broken = false;
                    return true;
                }
                Err(error) => {
                    self.broken.push(BrokenInput { input: chunk.input, line: chunk.line, error });
                }
            }
        }
        false
    }

    fn fill(&mut self, text: &mut Vec<u8>) -> Option<Chunk> {
        let (blocks, next) = self.current.as_mut()?;
        let filled = blocks.next(text);
        let chunk = *next;
        next.number += 1;
        next.line += count_lines(text);
        next.offset += text.len() as u64;
        self.text_hash.update(text);
        if let Some(error) = blocks.take_error() {
            self.is_broken = true;
            self.broken.push(BrokenInput { input: next.input, line: next.line, error });
        }
        filled.then_some(chunk)
    }
}

pub(super) struct Blocks<R> {
    input: R,
    /// The text that was read after the last whole game of the current block. The next block begins
    /// with this text.
    carry: Vec<u8>,
    ended: bool,
    error: Option<io::Error>,
}

impl<R: Read> Blocks<R> {
    pub(super) fn new(input: R) -> Self {
        Blocks { input, carry: Vec::new(), ended: false, error: None }
    }

    pub(super) fn next(&mut self, text: &mut Vec<u8>) -> bool {
        text.clear();
        text.append(&mut self.carry);
        let mut wanted = CHUNK;
        while !self.ended {
            let missing = wanted.saturating_sub(text.len()) as u64;
            let read = self.input.by_ref().take(missing).read_to_end(text);
            self.ended = read.is_err() || text.len() < wanted;
            self.error = read.err();
            let large = wanted >= LARGEST_CHUNK;
            let cut = if self.ended { text.len() } else { last_game(text, !large) };
            if cut > 0 || large {
                let cut = if cut > 0 { cut } else { last_line(text) };
                self.carry.extend_from_slice(&text[cut..]);
                text.truncate(cut);
                break;
            }
            wanted *= 2;
        }
        !text.is_empty()
    }

    pub(super) fn take_error(&mut self) -> Option<io::Error> {
        self.error.take()
    }
}

/// Returns the start of the last game in `text`, or 0 if none was found. If `more_follows`, an
/// unclosed opening brace and everything after it are ignored, because the comment may be closed in
/// text that has not been read yet.
fn last_game(text: &[u8], more_follows: bool) -> usize {
    let mut end = memrchr2(b'{', b'}', text)
        .filter(|&brace| more_follows && text[brace] == b'{')
        .unwrap_or(text.len());
    loop {
        let at = last_boundary(&text[..end]);
        match enclosing_comment(text, at) {
            Some(brace) => end = brace,
            None => return at,
        }
    }
}

/// Returns the last offset in `text` at which a game probably starts, or 0 if there is none. A game
/// starts with a tag (usually `Event`) after an empty line, or with the move number 1 if it has no
/// tags.
fn last_boundary(text: &[u8]) -> usize {
    let is_untagged = |at: usize| !trim_end(&text[..at], true).ends_with(b"]");
    let is_apart = |at: usize| EMPTY_LINES.iter().any(|end| text[..at].ends_with(end));
    last_line_with(text, b"[Event ", is_apart)
        .or_else(|| last_line_with(text, b"[", |at| is_apart(at) && is_tag(&text[at..])))
        .or_else(|| last_line_with(text, b"1.", |at| is_apart(at) && is_untagged(at)))
        .or_else(|| last_line_with(text, b"[Event", is_untagged))
        .unwrap_or(0)
}

/// If `at` is inside a comment that has a closing brace, returns the offset of the opening brace.
fn enclosing_comment(text: &[u8], at: usize) -> Option<usize> {
    let brace = memrchr2(b'{', b'}', &text[..at]).filter(|&brace| text[brace] == b'{')?;
    comment(text, brace).is_some_and(|(_, after)| after > at).then_some(brace)
}

fn last_line_with(text: &[u8], beginning: &[u8], is_one: impl Fn(usize) -> bool) -> Option<usize> {
    let needle = [&[line_sign(text)], beginning].concat();
    let finder = FinderRev::new(&needle);
    finder.rfind_iter(text).map(|at| at + 1).find(|&at| is_one(at))
}

/// Returns the offset after the last complete line in `text`, or the end of `text` if there is no
/// complete line.
fn last_line(text: &[u8]) -> usize {
    memrchr2(b'\n', b'\r', text).map_or(text.len(), |end| end + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chunks_of(text: &str) -> Vec<(Chunk, String)> {
        let input = PgnInput::Text("test".to_owned(), text.as_bytes().into());
        let mut chunks = Chunks::new(vec![input], Arc::default());
        let mut all = Vec::new();
        let mut buffer = Vec::new();
        while let Some(chunk) = chunks.next(&mut buffer) {
            all.push((chunk, String::from_utf8(buffer.clone()).expect("as it was")));
        }
        all
    }

    #[test]
    fn chunks_are_whole_games_and_cover_the_input() {
        for newline in ["\n", "\r\n"] {
            let game = |n| format!("[Event \"{n}\"]\n[Site \"?\"]\n\n1. e4 {{[Event }} *\n\n");
            let text: String = (0..20_000).map(game).collect::<String>().replace('\n', newline);
            let chunks = chunks_of(&text);
            assert!(chunks.len() > 2);
            let mut line = 1;
            for (number, (chunk, part)) in chunks.iter().enumerate() {
                assert_eq!((chunk.input, chunk.number, chunk.line), (0, number, line));
                assert!(part.starts_with("[Event \""), "{}", &part[..20]);
                line += count_lines(part.as_bytes());
            }
            assert_eq!(chunks.iter().map(|(_, part)| part.as_str()).collect::<String>(), text);
        }
    }

    #[test]
    fn reading_resumes_where_it_stopped() {
        let text = |games: usize| -> Arc<[u8]> {
            let game = |n| format!("[Event \"{n}\"]\n\n1. e4 e5 2. Nf3 *\n\n");
            (0..games).map(game).collect::<String>().into_bytes().into()
        };
        let inputs = |second: usize| {
            let names = [("one", 30_000), ("two", second)];
            names.map(|(name, games)| PgnInput::Text(name.to_owned(), text(games))).to_vec()
        };
        let all = |chunks: &mut Chunks| {
            let mut parts = Vec::new();
            let mut buffer = Vec::new();
            while let Some(chunk) = chunks.next(&mut buffer) {
                parts.push((chunk, buffer.clone(), chunks.so_far()));
            }
            parts
        };
        let whole = all(&mut Chunks::new(inputs(40_000), Arc::default()));
        assert!(whole.len() > 4);
        for (done, (_, _, place)) in whole.iter().enumerate() {
            let mut again = Chunks::new(inputs(40_000), Arc::default());
            assert!(again.go_to(place));
            assert_eq!(all(&mut again), whole[done + 1..]);
        }
        let (_, _, late) = &whole[whole.len() - 2];
        let mut shorter = Chunks::new(inputs(20_000), Arc::default());
        assert!(late.next.input == 1 && !shorter.go_to(late));
    }

    #[test]
    fn text_without_games_is_one_chunk() {
        let text = "x".repeat(3 * CHUNK);
        let chunks = chunks_of(&text);
        assert_eq!(chunks.len(), 1);
        assert_eq!(chunks[0].1, text);
        assert!(chunks_of("").is_empty());
    }
}
