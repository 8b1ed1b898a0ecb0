//! Cuts inputs between games, so that threads can share them.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use memchr::memmem::rfind;

use super::Input;
use super::reader::count_lines;

/// Bytes of text that a thread takes at a time: it stays in the cache from reading to parsing.
const CHUNK: usize = 256 << 10;
/// A chunk in which no game ends grows up to this size and is then cut where it is.
const LARGEST_CHUNK: usize = 64 << 20;

/// What a chunk of text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Chunk {
    /// The number of the input.
    pub input: usize,
    /// The number of the chunk in its input, from 0.
    pub number: usize,
    /// The line of the input on which it begins, from 1.
    pub line: u64,
}

/// An input that could not be read to its end.
#[derive(Debug)]
pub struct BrokenInput {
    /// The number of the input.
    pub input: usize,
    /// The line after all that could be read.
    pub line: u64,
    /// What went wrong.
    pub error: io::Error,
}

/// Hands out the text of inputs in chunks of whole games. Where they are cut depends on the text
/// alone.
pub struct Chunks {
    inputs: Vec<Input>,
    progress: Arc<AtomicU64>,
    /// The input being read, with the place of its next chunk.
    current: Option<(Box<dyn Read + Send>, Chunk)>,
    next_input: usize,
    /// The beginning of the next chunk: what came after the last whole game.
    carry: Vec<u8>,
    broken: Vec<BrokenInput>,
}

impl Chunks {
    /// All inputs, one after the other. `progress` is raised as in [`Input::open`].
    pub fn new(inputs: Vec<Input>, progress: Arc<AtomicU64>) -> Self {
        let (carry, broken) = (Vec::new(), Vec::new());
        Chunks { inputs, progress, current: None, next_input: 0, carry, broken }
    }

    /// Inputs that could not be opened or read to their end.
    pub fn into_broken(self) -> Vec<BrokenInput> {
        self.broken
    }

    /// Fills `text` with the next chunk; `None` when all inputs are read.
    pub fn next(&mut self, text: &mut Vec<u8>) -> Option<Chunk> {
        loop {
            if self.current.is_none() && !self.open_next() {
                return None;
            }
            if let Some(chunk) = self.fill(text) {
                return Some(chunk);
            }
            self.current = None;
        }
    }

    /// Opens the next input that can be opened.
    fn open_next(&mut self) -> bool {
        while let Some(input) = self.inputs.get(self.next_input) {
            let chunk = Chunk { input: self.next_input, number: 0, line: 1 };
            self.next_input += 1;
            match input.open(&self.progress) {
                Ok(reader) => {
                    self.current = Some((reader, chunk));
                    return true;
                }
                Err(error) => {
                    self.broken.push(BrokenInput { input: chunk.input, line: chunk.line, error });
                }
            }
        }
        false
    }

    /// The next chunk of the current input; `None` at its end.
    fn fill(&mut self, text: &mut Vec<u8>) -> Option<Chunk> {
        let (reader, next) = self.current.as_mut()?;
        text.clear();
        text.append(&mut self.carry);
        let mut wanted = CHUNK;
        loop {
            let missing = wanted.saturating_sub(text.len()) as u64;
            let at_end = match reader.by_ref().take(missing).read_to_end(text) {
                Ok(_) => text.len() < wanted,
                Err(error) => {
                    let line = next.line + count_lines(text);
                    self.broken.push(BrokenInput { input: next.input, line, error });
                    // What came before the fault is read; then the input counts as ended.
                    *reader = Box::new(io::empty());
                    true
                }
            };
            let cut = if at_end { text.len() } else { last_game(text) };
            if cut > 0 || wanted >= LARGEST_CHUNK {
                let cut = if cut > 0 { cut } else { text.len() };
                self.carry.extend_from_slice(&text[cut..]);
                text.truncate(cut);
                break;
            }
            if at_end {
                return None;
            }
            wanted *= 2;
        }
        let chunk = *next;
        next.number += 1;
        next.line += count_lines(text);
        Some(chunk)
    }
}

/// Where the last game of a text begins, or 0 if no boundary is to be seen. A game begins with a
/// tag after a blank line; `Event` comes first in all but homemade files.
fn last_game(text: &[u8]) -> usize {
    let boundary = |unix: &[u8], dos: &[u8]| {
        let unix = rfind(text, unix).map(|at| at + 2);
        // Only what comes after the first hit can be later: the rest need not be searched.
        let from = unix.unwrap_or(0);
        rfind(&text[from..], dos).map(|at| from + at + 3).or(unix)
    };
    boundary(b"\n\n[Event ", b"\n\r\n[Event ")
        .or_else(|| boundary(b"\n\n[", b"\n\r\n["))
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chunks_of(text: &str) -> Vec<(Chunk, String)> {
        let input = Input::Text("test".to_owned(), text.as_bytes().into());
        let mut chunks = Chunks::new(vec![input], Arc::default());
        let mut all = Vec::new();
        let mut buffer = Vec::new();
        while let Some(chunk) = chunks.next(&mut buffer) {
            all.push((chunk, String::from_utf8(buffer.clone()).expect("as it was")));
        }
        all
    }

    #[test]
    fn chunks_are_whole_games_and_lose_nothing() {
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
    fn a_text_without_games_comes_in_one_piece() {
        let text = "x".repeat(3 * CHUNK);
        let chunks = chunks_of(&text);
        assert_eq!(chunks.len(), 1);
        assert_eq!(chunks[0].1, text);
        assert!(chunks_of("").is_empty());
    }
}
