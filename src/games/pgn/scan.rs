//! Finds the boundaries of tokens, lines, comments, tags and games in PGN text, without applying
//! the rules of chess.
//!
//! The text is a byte string in UTF-8, Latin-1 or another ASCII-compatible encoding. Lines end with
//! LF, CR LF or a single CR.

use std::ops::Range;

use memchr::{memchr, memchr2, memchr2_iter, memchr3, memrchr};

use super::wide::{wide_character, wide_glyph, wide_space};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TokenKind {
    /// A word, which may be a move.
    Word,
    /// A digit, which begins a number, a result, or castling written with zeros.
    Digit,
    Blank,
    LineEnd,
    /// `[`, which begins a tag if it is the first character of its line.
    Bracket,
    /// Any other character. It is a token by itself or the first character of one.
    Sign,
}

#[inline]
pub(super) fn kind(byte: u8) -> TokenKind {
    match byte {
        b' ' | b'\t' | 0x0b | 0x0c | b'\0' | b'.' => TokenKind::Blank,
        b'\n' | b'\r' => TokenKind::LineEnd,
        b'0'..=b'9' => TokenKind::Digit,
        b'[' => TokenKind::Bracket,
        b'{' | b'}' | b'(' | b')' | b'!' | b'?' | b'$' | b';' | b'*' => TokenKind::Sign,
        _ => TokenKind::Word,
    }
}

#[inline]
pub(super) fn ends_word(byte: u8) -> bool {
    matches!(kind(byte), TokenKind::Blank | TokenKind::LineEnd | TokenKind::Sign)
}

#[inline]
pub(super) fn word_end(text: &[u8], at: usize) -> usize {
    let mut end = at;
    while end < text.len() && !ends_word(text[end]) {
        end += 1;
    }
    end
}

#[inline]
pub(super) fn digits_end(text: &[u8], at: usize) -> usize {
    skip_while(text, at, |byte| byte.is_ascii_digit())
}

/// Returns the end of the word at `at`. Non-ASCII white space and annotation glyphs also end a
/// word.
pub(super) fn whole_word_end(text: &[u8], at: usize) -> usize {
    let end = word_end(text, at);
    let mut place = at;
    while place < end {
        let rest = &text[place..end];
        if wide_space(rest) > 0 || place > at && wide_glyph(rest).is_some() {
            return place;
        }
        place += wide_character(rest).map_or(1, char::len_utf8);
    }
    end
}

/// Splits `text` at non-ASCII white space and before annotation glyphs. `text` must not contain
/// ASCII white space.
pub(super) fn wide_words(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut at = 0;
    std::iter::from_fn(move || {
        while wide_space(&text[at..]) > 0 {
            at += wide_space(&text[at..]);
        }
        let begin = at;
        at = whole_word_end(text, begin);
        (at > begin).then(|| &text[begin..at])
    })
}

/// Removes trailing white space. Line ends are also removed if `lines` is set.
pub(super) fn trim_end(mut text: &[u8], lines: bool) -> &[u8] {
    loop {
        let wide = || {
            (2..=3).find(|&length| {
                text.len() >= length && wide_space(&text[text.len() - length..]) == length
            })
        };
        let length = match text.last() {
            Some(b'\n' | b'\r') => usize::from(lines),
            Some(b' ' | b'\t' | b'\x0b' | b'\x0c') => 1,
            Some(0x80..) => wide().unwrap_or(0),
            _ => 0,
        };
        if length == 0 {
            return text;
        }
        text = &text[..text.len() - length];
    }
}

/// Like [`whole_word_end`], but also includes a promotion piece in parentheses after the word and
/// the dots in `e.p.`.
pub(super) fn chunk_end(text: &[u8], at: usize) -> usize {
    let mut end = whole_word_end(text, at);
    if text[at..end].ends_with(b"e") && text[end..].starts_with(b".p") {
        end += 2;
        end += usize::from(text.get(end) == Some(&b'.'));
    } else if let [b'(', piece, b')', ..] = text[end..]
        && piece.is_ascii_alphabetic()
    {
        end += 3;
    }
    end
}

/// The number of bytes at the start of a text that are searched for a line ending, to determine
/// whether lines end with LF or CR.
const FIRST_LINE: usize = 64 << 10;

/// Returns the byte that marks the end of a line in `text`: LF (possibly after a CR), or CR if
/// lines end with a single CR.
pub(super) fn line_sign(text: &[u8]) -> u8 {
    let begin = &text[..text.len().min(FIRST_LINE)];
    if memchr(b'\n', begin).is_none() && memchr(b'\r', begin).is_some() { b'\r' } else { b'\n' }
}

pub(super) fn line_end(text: &[u8], at: usize) -> usize {
    memchr2(b'\n', b'\r', &text[at..]).map_or(text.len(), |length| at + length)
}

#[inline]
pub(super) fn after_line_end(text: &[u8], at: usize) -> usize {
    let double = text[at] == b'\r' && text.get(at + 1) == Some(&b'\n');
    at + 1 + usize::from(double)
}

/// The byte order mark. In concatenated files, it can also occur at the start of a later line.
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

fn begins_line(text: &[u8], at: usize) -> bool {
    let before = &text[..at];
    let before = before.strip_suffix(BYTE_ORDER_MARK).unwrap_or(before);
    before.last().is_none_or(|&byte| byte == b'\n' || byte == b'\r')
}

pub(super) fn is_first_in_line(text: &[u8], at: usize) -> bool {
    begins_line(text, trim_end(&text[..at], false).len())
}

pub(super) fn is_tag(text: &[u8]) -> bool {
    text.first() == Some(&b'[') && tag(text, 0).is_some()
}

/// Skips white space, line ends, and lines that start with `%`. Returns the offset of the next
/// token, and whether an empty line precedes it.
pub(super) fn skip_blanks(text: &[u8], mut at: usize) -> (usize, bool) {
    let mut ends = 0;
    let mut empty_line = false;
    while let Some(&byte) = text.get(at) {
        match kind(byte) {
            TokenKind::LineEnd => {
                ends += 1;
                empty_line |= ends > 1;
                at = after_line_end(text, at);
            }
            TokenKind::Blank => at += 1,
            _ if byte == b'%' && begins_line(text, at) => {
                ends = 0;
                at = line_end(text, at);
            }
            _ if byte < 0x80 => break,
            _ => match wide_space(&text[at..]) {
                0 => break,
                length => at += length,
            },
        }
    }
    (at, empty_line)
}

/// Whether a game definitely begins at this line, even if the line seems to be inside a comment.
/// This is the case for an `Event` tag, for a tag after an empty line, and for moves after a result
/// and an empty line.
fn is_certain_game(text: &[u8], at: usize) -> bool {
    let rest = &text[at..];
    match rest {
        [b'[', ..] => {
            tag(text, at).is_some_and(|(name, ..)| name == b"Event" || follows_empty_line(text, at))
        }
        [b'1', b'.', ..] => follows_empty_line(text, at) && final_result(&text[..at]).is_some(),
        _ => false,
    }
}

pub(super) fn follows_empty_line(text: &[u8], at: usize) -> bool {
    let before = &text[..at];
    let ends: [&[u8]; 3] = [b"\r\n", b"\n", b"\r"];
    let line = ends.iter().find_map(|end| before.strip_suffix(*end));
    line.is_some_and(|line| matches!(trim_end(line, false).last(), Some(b'\n' | b'\r')))
}

/// Returns the end of the line that contains `at`. Line ends inside a comment do not count,
/// provided the comment is closed.
pub(super) fn line_end_outside_comments(text: &[u8], mut at: usize) -> usize {
    while let Some(found) = memchr3(b'\n', b'\r', b'{', &text[at..]) {
        at += found;
        if text[at] != b'{' {
            return at;
        }
        at = comment(text, at).map_or(at + 1, |(_, after)| after);
    }
    text.len()
}

/// Returns the offset of the next line after `at` that clearly begins a game and is not inside a
/// closed comment, or the end of the text if there is none.
pub(super) fn next_game(text: &[u8], mut at: usize) -> usize {
    loop {
        at = line_end_outside_comments(text, at);
        if at == text.len() {
            return at;
        }
        at = after_line_end(text, at);
        let is_untagged = text[at..].starts_with(b"1.") && follows_empty_line(text, at);
        if is_untagged || is_certain_game(text, at) {
            return at;
        }
    }
}

/// Parses the comment whose opening brace is at `at`. Returns its text and the offset after its
/// closing brace, or `None` if the comment is not closed.
#[inline]
pub(super) fn comment(text: &[u8], at: usize) -> Option<(&[u8], usize)> {
    let begin = at + 1;
    let end = begin + memchr(b'}', &text[begin..])?;
    let close = match memrchr(b'{', &text[begin..end]) {
        None => end,
        Some(last) => closing_brace(text, begin, (begin + last, end))?,
    };
    Some((&text[begin..close], close + 1))
}

/// Returns the offset of the brace that closes a comment with opening braces inside it, or `None`
/// if the comment is not closed.
///
/// `end` is the offset of the first closing brace, and `last` is the offset of the last opening
/// brace before `end`. Braces do not nest in PGN. Nevertheless, if they balance before another game
/// begins, the comment ends at the brace that balances them. Otherwise, it ends at `end`, unless a
/// game begins before `last`, in which case it is not closed.
#[cold]
fn closing_brace(text: &[u8], begin: usize, (last, end): (usize, usize)) -> Option<usize> {
    let begins_game = |range: Range<usize>| {
        let mut lines = memchr2_iter(b'\n', b'\r', &text[range.clone()]);
        lines.any(|place| is_certain_game(text, range.start + place + 1))
    };
    let mut depth = 1;
    let mut from = begin;
    for brace in memchr2_iter(b'{', b'}', &text[begin..]).map(|brace| begin + brace) {
        depth = if text[brace] == b'{' { depth + 1 } else { depth - 1 };
        if brace > end && begins_game(from..brace) {
            break;
        }
        if depth == 0 {
            return Some(brace);
        }
        from = brace.max(end);
    }
    (!begins_game(begin..last)).then_some(end)
}

/// Returns the offset after the variation whose opening parenthesis is at `at`, or `None` if it is
/// not closed before the next game.
pub(super) fn variation_end(text: &[u8], mut at: usize) -> Option<usize> {
    let mut depth = 0_usize;
    while let Some(&byte) = text.get(at) {
        match byte {
            b'(' => depth += 1,
            b')' => depth -= 1,
            b'{' => {
                at = comment(text, at)?.1;
                continue;
            }
            b';' => {
                at = line_end(text, at);
                continue;
            }
            b'[' if is_first_in_line(text, at) && is_tag(&text[at..]) => return None,
            _ => {}
        }
        at += 1;
        if depth == 0 {
            return Some(at);
        }
    }
    None
}

/// Parses the tag whose opening bracket is at `at`. Returns its name, its raw value and the offset
/// after it. The value ends at the quotation mark before the closing bracket, and can contain other
/// quotation marks.
#[inline]
pub(super) fn tag(text: &[u8], at: usize) -> Option<(&[u8], &[u8], usize)> {
    let name = skip_spaces(text, at + 1);
    let name_end = skip_while(text, name, |byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let quote = skip_spaces(text, name_end);
    if name == name_end || text.get(quote) != Some(&b'"') {
        return None;
    }
    let name = &text[name..name_end];
    let begin = quote + 1;
    let mut from = begin;
    while let Some(found) = memchr3(b'"', b'\\', b'\n', &text[from..]) {
        let place = from + found;
        match text[place] {
            b'"' => {
                let close = skip_spaces(text, place + 1);
                if text.get(close) == Some(&b']') {
                    return Some((name, &text[begin..place], close + 1));
                }
                from = place + 1;
            }
            b'\\' if place + 1 < text.len() => from = place + 2,
            _ => break,
        }
    }
    // The closing quotation mark or bracket is missing. The value ends at the end of the line.
    let end = line_end(text, begin);
    let line = trim_end(&text[begin..end], false);
    let line = trim_end(line.strip_suffix(b"]").unwrap_or(line), false);
    let value = line.strip_suffix(b"\"").unwrap_or(line);
    Some((name, value, end))
}

#[inline]
fn skip_spaces(text: &[u8], at: usize) -> usize {
    let mut at = skip_while(text, at, |byte| matches!(byte, b' ' | b'\t'));
    while text.get(at).is_some_and(|byte| !byte.is_ascii()) {
        match wide_space(&text[at..]) {
            0 => break,
            length => at = skip_while(text, at + length, |byte| matches!(byte, b' ' | b'\t')),
        }
    }
    at
}

#[inline]
fn skip_while(text: &[u8], at: usize, passes: impl Fn(u8) -> bool) -> usize {
    let mut at = at;
    while at < text.len() && passes(text[at]) {
        at += 1;
    }
    at
}

const RESULTS: [(&[u8], super::GameResult); 15] = {
    use super::GameResult::{Black, Draw, Undecided, White};
    [
        (b"1/2-1/2", Draw),
        ("1/2–1/2".as_bytes(), Draw),
        (b"1/2:1/2", Draw),
        (b"1/2", Draw),
        ("½-½".as_bytes(), Draw),
        ("½–½".as_bytes(), Draw),
        ("½:½".as_bytes(), Draw),
        (b"\xbd-\xbd", Draw),
        (b"1-0", White),
        ("1–0".as_bytes(), White),
        (b"1:0", White),
        (b"0-1", Black),
        ("0–1".as_bytes(), Black),
        (b"0:1", Black),
        (b"*", Undecided),
    ]
};

pub(super) fn result(text: &[u8]) -> Option<(super::GameResult, usize)> {
    let (token, result) = RESULTS.iter().find(|(token, _)| text.starts_with(token))?;
    let after = &text[token.len()..];
    let ends = after.first().is_none_or(|&byte| ends_word(byte) || byte == b'[');
    (ends || wide_space(after) > 0).then_some((*result, token.len()))
}

pub(super) fn final_result(text: &[u8]) -> Option<super::GameResult> {
    split_result(text).map(|(_, result)| result)
}

/// Returns movetext without the result at its end.
pub(super) fn without_result(text: &[u8]) -> &[u8] {
    trim_end(split_result(text).map_or(text, |(before, _)| before), true)
}

fn split_result(text: &[u8]) -> Option<(&[u8], super::GameResult)> {
    let text = trim_end(text, true);
    let before = |token: &[u8]| {
        let before = text.strip_suffix(token)?;
        let is_apart = before.last().is_none_or(|&byte| ends_word(byte))
            || trim_end(before, false).len() < before.len();
        is_apart.then_some(before)
    };
    RESULTS.iter().find_map(|(token, result)| Some((before(token)?, *result)))
}

/// ASCII annotation glyphs that occur as words between moves, with their NAG numbers; 0 if they
/// have none.
const GLYPHS: [(&[u8], u8); 19] = [
    (b"+-", 18),
    (b"-+", 19),
    (b"+/-", 16),
    (b"-/+", 17),
    (b"+=", 14),
    (b"=+", 15),
    (b"+/=", 14),
    (b"=/+", 15),
    (b"=", 10),
    (b"N", 146),
    (b"TN", 146),
    (b"+", 0),
    (b"++", 0),
    (b"#", 0),
    (b"D", 0),
    (b"ep", 0),
    (b"mate", 0),
    (b"ch", 0),
    (b"e.p.", 0),
];

/// Parses the annotation glyph at `at`. Returns its NAG number (0 if it has none) and the offset
/// after it.
pub(super) fn glyph(text: &[u8], at: usize) -> Option<(u8, usize)> {
    if let Some((number, length)) = wide_glyph(&text[at..]) {
        return Some((number, at + length));
    }
    let end = chunk_end(text, at);
    let (_, number) = GLYPHS.iter().find(|(glyph, _)| *glyph == &text[at..end])?;
    Some((*number, end))
}

/// Returns true if a word is a null move in any of the spellings used by chess programs.
pub(super) fn is_null_move(word: &[u8]) -> bool {
    const WORDS: [&[u8]; 7] = [b"--", b"Z0", b"@@@@", b"0000", b"<>", b"null", b"pass"];
    WORDS.iter().any(|null| word.eq_ignore_ascii_case(null))
}

/// Counts the line ends in `text`: LF characters or, if there are none, CR characters.
pub(super) fn count_lines(text: &[u8]) -> u64 {
    match memchr::memchr_iter(b'\n', text).count() {
        0 => memchr::memchr_iter(b'\r', text).count() as u64,
        lines => lines as u64,
    }
}
