//! White space, as understood by all parsers of games and positions.

/// Whether a character separates words. This includes Unicode white space, zero-width characters,
/// and marks for the text direction.
pub(crate) fn is_space(sign: char) -> bool {
    sign.is_whitespace()
        || matches!(sign, '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
            | '\u{2060}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

pub(crate) fn split_words(text: &str) -> impl Iterator<Item = &str> {
    text.split(is_space).filter(|word| !word.is_empty())
}
