//! Escapes and shortens untrusted text for display or output.

use std::borrow::Cow;

fn is_control(letter: char) -> bool {
    letter.is_control() || matches!(letter, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Whether a character is invisible (for example, a control or zero-width character).
fn is_unseen(letter: char) -> bool {
    is_control(letter)
        || matches!(letter,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2060}'..='\u{206f}'
            | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}

/// Replaces invisible characters with escapes such as `\u{1b}`.
pub(crate) fn visible(text: &str) -> Cow<'_, str> {
    if !text.contains(is_unseen) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 8);
    for letter in text.chars() {
        match is_unseen(letter) {
            true => shown.extend(letter.escape_default()),
            false => shown.push(letter),
        }
    }
    Cow::Owned(shown)
}

/// Like [`visible`], but keeps line breaks, for output that quotes several lines of text.
pub(crate) fn visible_lines(text: &str) -> Cow<'_, str> {
    if !text.contains(|letter| is_unseen(letter) && letter != '\n') {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.split('\n').map(visible).collect::<Vec<_>>().join("\n"))
}

/// Prepares text for a single line by replacing line breaks and control characters with spaces.
/// Zero-width characters are kept, because many writing systems need them.
pub(crate) fn one_line(text: &str) -> String {
    text.chars().map(|letter| if is_control(letter) { ' ' } else { letter }).collect()
}

/// Escapes text for use in XML or HTML, either as content or in a double-quoted attribute value.
pub(crate) fn xml(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

const QUOTE: usize = 100;

/// Shortens `text` to 100 characters followed by `...` if it is longer, to keep messages that quote
/// it short.
pub(crate) fn clip(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(QUOTE) {
        None => Cow::Borrowed(text),
        Some((end, _)) => Cow::Owned(format!("{}...", &text[..end])),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_escaped() {
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
    fn one_line_replaces_line_breaks_and_control_characters() {
        assert_eq!(one_line("a\nb\u{2028}c\u{1b}[1m\u{202e}d\u{200c}e"), "a b c [1m d\u{200c}e");
    }

    #[test]
    fn clip_limits_the_length() {
        assert_eq!(clip("Crafty 23"), "Crafty 23");
        assert_eq!(clip(&"é".repeat(QUOTE + 1)).chars().count(), QUOTE + 3);
    }
}
