//! What engines write, made fit to be shown: it may hold anything.

use std::borrow::Cow;
use std::fmt::Write;

/// How many characters of an engine's name are kept.
const LONGEST_NAME: usize = 100;

/// Whether a character does something to a terminal or a reader instead of being seen: control
/// characters, line and paragraph separators, and those that change the direction of writing or
/// have no width.
fn is_unseen(letter: char) -> bool {
    letter.is_control()
        || matches!(letter,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e0fff}')
}

/// A text with escapes, like `\u{1b}`, in place of the characters that are not seen.
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.contains(is_unseen) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 8);
    for letter in text.chars() {
        match is_unseen(letter) {
            // Writing into a string cannot fail.
            true => _ = write!(shown, "{}", letter.escape_default()),
            false => shown.push(letter),
        }
    }
    Cow::Owned(shown)
}

/// Lines of our own with texts of others in them: all but their ends is made visible.
pub fn visible_lines(text: &str) -> Cow<'_, str> {
    if !text.contains(|letter| is_unseen(letter) && letter != '\n') {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.split('\n').map(visible).collect::<Vec<_>>().join("\n"))
}

/// What an engine calls itself, as a name for tables and tags: visible, and not too long.
pub fn name(text: &str) -> String {
    let shown = visible(text.trim());
    match shown.char_indices().nth(LONGEST_NAME) {
        Some((end, _)) => format!("{}...", &shown[..end]),
        None => shown.into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_seen_is_escaped() {
        for (text, shown) in [
            ("Stockfish 17 – Müller ♞", "Stockfish 17 – Müller ♞"),
            ("\u{1b}[31mred\u{7}\r", "\\u{1b}[31mred\\u{7}\\r"),
            ("a\u{9b}2Jb\u{7f}", "a\\u{9b}2Jb\\u{7f}"),
            ("\u{202e}gnp\u{2066}.", "\\u{202e}gnp\\u{2066}."),
            ("a\nb\u{2028}c", "a\\nb\\u{2028}c"),
        ] {
            assert_eq!(visible(text), shown);
        }
        assert_eq!(visible_lines("a\u{7}\nb"), "a\\u{7}\nb");
    }

    #[test]
    fn names_are_not_endless() {
        assert_eq!(name(" Crafty 23 "), "Crafty 23");
        let long = name(&"é".repeat(LONGEST_NAME + 1));
        assert_eq!(long.chars().count(), LONGEST_NAME + 3);
    }
}
