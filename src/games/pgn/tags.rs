//! The tags of one game.

use std::borrow::Cow;
use std::ops::Range;

use pgn_reader::RawTag;

use super::GameResult;
use crate::support::words::is_space;

/// The maximum size of a game's tags in bytes. Further tags are ignored, so that a malicious file
/// cannot exhaust memory.
const MAX_BYTES: usize = 1 << 20;

/// The tags of one game, stored as raw bytes in a buffer that is reused for all games.
#[derive(Debug, Clone, Default)]
pub struct Tags {
    bytes: Vec<u8>,
    spans: Vec<(Range<usize>, Range<usize>)>,
}

impl Tags {
    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.spans.clear();
    }

    pub(super) fn push(&mut self, name: &[u8], value: RawTag<'_>) {
        if self.bytes.len() + name.len() + value.as_bytes().len() > MAX_BYTES {
            return;
        }
        let name = self.append(name);
        let value = self.append(&value.decode());
        self.spans.push((name, value));
    }

    fn append(&mut self, text: &[u8]) -> Range<usize> {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(text);
        start..self.bytes.len()
    }

    /// Returns the bytes of a tag's value, with escapes resolved. If the tag occurs more than once,
    /// returns the first value.
    pub fn raw(&self, name: &str) -> Option<&[u8]> {
        let (_, value) =
            self.spans.iter().find(|(span, _)| &self.bytes[span.clone()] == name.as_bytes())?;
        Some(&self.bytes[value.clone()])
    }

    /// Returns the value of a tag as text. A value that is not valid UTF-8 is decoded as Latin-1,
    /// the encoding prescribed by the PGN standard.
    pub fn get(&self, name: &str) -> Option<Cow<'_, str>> {
        self.raw(name).map(text)
    }

    /// Returns the trimmed value of a tag, or `None` if the value is unknown, that is, missing,
    /// empty, `?` or `-`.
    pub(crate) fn known(&self, name: &str) -> Option<Cow<'_, str>> {
        let value = match self.get(name)? {
            Cow::Borrowed(value) => Cow::Borrowed(value.trim_matches(is_space)),
            Cow::Owned(value) => Cow::Owned(value.trim_matches(is_space).to_owned()),
        };
        (!["", "?", "-"].contains(&value.as_ref())).then_some(value)
    }

    /// Iterates over the names and values of all tags, in file order.
    pub fn iter(&self) -> impl Iterator<Item = (Cow<'_, str>, Cow<'_, str>)> {
        self.spans.iter().map(|(name, value)| {
            (text(&self.bytes[name.clone()]), text(&self.bytes[value.clone()]))
        })
    }

    /// Returns the result in the `Result` tag, or `None` if the tag is missing, invalid or `*`.
    pub fn result(&self) -> Option<GameResult> {
        let result = GameResult::from_token(self.raw("Result")?.trim_ascii());
        result.filter(|&result| result != GameResult::Undecided)
    }
}

/// Decodes text as UTF-8 or, if it is not valid UTF-8, as Latin-1, in which each byte is a code
/// point.
pub(crate) fn text(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => Cow::Owned(bytes.iter().copied().map(char::from).collect()),
    }
}
