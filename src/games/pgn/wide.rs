//! Non-ASCII white space and glyphs.

use crate::support::words::is_space;

/// Returns the first character of `text` if it is a non-ASCII character in UTF-8.
pub(super) fn wide_character(text: &[u8]) -> Option<char> {
    let length = match text.first()? {
        0xc2..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf4 => 4,
        _ => return None,
    };
    str::from_utf8(text.get(..length)?).ok()?.chars().next()
}

const LATIN_1_SPACE: u8 = 0xa0;

/// Returns the length in bytes of the non-ASCII white space character at the start of `text`, or 0.
pub(super) fn wide_space(text: &[u8]) -> usize {
    if text.first() == Some(&LATIN_1_SPACE) {
        return 1;
    }
    wide_character(text).filter(|&sign| is_space(sign)).map_or(0, char::len_utf8)
}

/// The non-ASCII annotation glyphs with their NAG numbers. No space is required between a move and
/// such a glyph.
const WIDE_GLYPHS: [(char, u8); 26] = [
    ('！', 1),
    ('❗', 1),
    ('❕', 1),
    ('？', 2),
    ('❓', 2),
    ('❔', 2),
    ('‼', 3),
    ('⁇', 4),
    ('⁉', 5),
    ('⁈', 6),
    ('□', 7),
    ('∞', 13),
    ('⩲', 14),
    ('⩱', 15),
    ('±', 16),
    ('∓', 17),
    ('⨀', 22),
    ('○', 26),
    ('⟳', 32),
    ('↑', 36),
    ('→', 40),
    ('⇆', 132),
    ('⊕', 138),
    ('∆', 140),
    ('Δ', 140),
    ('⌓', 142),
];

const VARIATION_SELECTORS: [char; 2] = ['\u{fe0e}', '\u{fe0f}'];

/// Parses the non-ASCII annotation glyph at the start of `text`. Returns its NAG number and its
/// length in bytes.
pub(super) fn wide_glyph(text: &[u8]) -> Option<(u8, usize)> {
    let sign = wide_character(text)?;
    let (_, number) = WIDE_GLYPHS.iter().find(|(glyph, _)| *glyph == sign)?;
    let length = sign.len_utf8();
    let selector =
        wide_character(&text[length..]).filter(|next| VARIATION_SELECTORS.contains(next));
    Some((*number, length + selector.map_or(0, char::len_utf8)))
}
