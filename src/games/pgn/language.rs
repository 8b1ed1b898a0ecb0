//! The piece letters of various languages, and the translation of moves to English letters.

use std::fmt;
use std::str::FromStr;

use arrayvec::ArrayVec;
use serde::{Deserialize, Serialize};

use crate::support::error::ParseError;
struct Alphabet {
    codes: &'static [&'static str],
    letters: [&'static str; 5],
}

/// The piece letters of all supported languages, starting with English. Languages with the same
/// letters share an entry.
const ALPHABETS: [Alphabet; 15] = [
    Alphabet { codes: &["en"], letters: ["K", "Q", "R", "B", "N"] },
    Alphabet { codes: &["de", "da", "no", "sl", "sv"], letters: ["K", "D", "T", "L", "S"] },
    Alphabet { codes: &["fr"], letters: ["R", "D", "T", "F", "C"] },
    Alphabet { codes: &["es", "it", "ca"], letters: ["R", "D", "T", "A", "C"] },
    Alphabet { codes: &["pt"], letters: ["R", "D", "T", "B", "C"] },
    Alphabet { codes: &["nl"], letters: ["K", "D", "T", "L", "P"] },
    Alphabet { codes: &["pl"], letters: ["K", "H", "W", "G", "S"] },
    Alphabet { codes: &["cs", "sk"], letters: ["K", "D", "V", "S", "J"] },
    Alphabet { codes: &["hu"], letters: ["K", "V", "B", "F", "H"] },
    Alphabet { codes: &["ro"], letters: ["R", "D", "T", "N", "C"] },
    Alphabet { codes: &["fi"], letters: ["K", "D", "T", "L", "R"] },
    Alphabet { codes: &["et"], letters: ["K", "L", "V", "O", "R"] },
    Alphabet { codes: &["is"], letters: ["K", "D", "H", "B", "R"] },
    Alphabet { codes: &["ru"], letters: ["Кр", "Ф", "Л", "С", "К"] },
    Alphabet { codes: &["uk"], letters: ["Кр", "Ф", "Т", "С", "К"] },
];

/// The English letters, in the order of [`Alphabet::letters`].
const ENGLISH: &[u8; 5] = b"KQRBN";
const FIGURINES: [[char; 2]; 5] = [['♔', '♚'], ['♕', '♛'], ['♖', '♜'], ['♗', '♝'], ['♘', '♞']];

/// An upper bound on the length of a move after translation to English letters, such as
/// `Qa1-b2=Q+e.p.`, in bytes.
const LONGEST: usize = 16;

pub(super) type EnglishWord = ArrayVec<u8, LONGEST>;

/// The language of the piece letters in PGN text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Language(u8);

impl Language {
    /// English, whose letters the PGN standard uses.
    pub const ENGLISH: Language = Language(0);

    /// Iterates over all known languages.
    pub fn all() -> impl Iterator<Item = Language> {
        (0..ALPHABETS.len()).map(|index| Language(index as u8))
    }

    fn alphabet(self) -> &'static Alphabet {
        &ALPHABETS[usize::from(self.0)]
    }

    /// Returns the letters for king, queen, rook, bishop and knight, separated by spaces, such as
    /// `K D T L S`.
    pub fn letters(self) -> String {
        self.alphabet().letters.join(" ")
    }

    /// Translates the piece letters of a move to English, and replaces figurines and typographic
    /// characters with ASCII. Returns `None` if the word contains an invalid character, such as an
    /// English piece letter that this language does not use.
    pub(super) fn translate(self, word: &[u8]) -> Option<EnglishWord> {
        let mut rest = str::from_utf8(word).ok()?;
        let mut english = EnglishWord::new();
        while let Some(sign) = rest.chars().next() {
            let mut length = sign.len_utf8();
            let last = english.last().copied();
            // A piece letter can occur only at the beginning of a move or as a promotion piece.
            let is_piece_due =
                last.is_none_or(|last| matches!(last, b'1'..=b'8' | b'=' | b'/' | b'('));
            // In Estonian, `O` is the letter for a bishop, so check for castling first.
            let letter = || if is_castling(rest) { None } else { self.letter(rest) };
            if let Some(piece) = FIGURINES.iter().position(|both| both.contains(&sign)) {
                english.try_push(ENGLISH[piece]).ok()?;
            } else if let Some((piece, spelt)) = is_piece_due.then(letter).flatten() {
                english.try_push(ENGLISH[piece]).ok()?;
                length = spelt;
            } else if let Some(ascii) = plain(sign)? {
                // An English piece letter that reaches this point is invalid, because this language
                // does not use it.
                let foreign = ENGLISH.contains(&ascii);
                (!foreign).then(|| english.try_push(ascii).ok())??;
            }
            rest = &rest[length..];
        }
        Some(english)
    }

    fn letter(self, text: &str) -> Option<(usize, usize)> {
        let letters = self.alphabet().letters;
        let found = (0..letters.len()).filter(|&piece| text.starts_with(letters[piece]));
        // Prefer the longest match: `Кр` before `К`.
        let piece = found.max_by_key(|&piece| letters[piece].len())?;
        Some((piece, letters[piece].len()))
    }
}

fn is_castling(word: &str) -> bool {
    ["O-O", "O–O", "OO"].iter().any(|castling| word.starts_with(castling))
}

/// Returns the ASCII form of a character in a move other than a piece letter, `Some(None)` if the
/// character should be skipped, or `None` if it is invalid.
fn plain(sign: char) -> Option<Option<u8>> {
    Some(match sign {
        '–' | '—' | '−' | '‐' | '‑' => Some(b'-'),
        '×' => Some(b'x'),
        // Pawn symbols, variation selectors and soft hyphens can be skipped, because they do not
        // change the meaning of a move.
        '♙' | '♟' | '\u{fe0e}' | '\u{fe0f}' | '\u{ad}' => None,
        'О' | 'о' => Some(b'O'),
        sign if sign.is_ascii() => Some(sign as u8),
        _ => return None,
    })
}

impl fmt::Display for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.alphabet().codes.join("/"))
    }
}

impl From<Language> for String {
    fn from(language: Language) -> Self {
        language.alphabet().codes[0].to_owned()
    }
}

impl TryFrom<String> for Language {
    type Error = ParseError;

    fn try_from(code: String) -> Result<Self, ParseError> {
        code.parse()
    }
}

impl FromStr for Language {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let lower = text.to_lowercase();
        let knows = |language: &Language| language.alphabet().codes.contains(&lower.as_str());
        Language::all().find(knows).ok_or_else(|| {
            let names: Vec<String> = Language::all().map(String::from).collect();
            ParseError(format!("unknown language {text:?}: expected one of {}", names.join(", ")))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn english(code: &str, word: &str) -> Option<String> {
        let language: Language = code.parse().expect(code);
        let word = language.translate(word.as_bytes())?;
        Some(String::from_utf8(word.to_vec()).expect("ASCII"))
    }

    #[test]
    fn piece_letters_are_translated_in_piece_positions() {
        for (code, word, expected) in [
            ("de", "Sf3", Some("Nf3")),
            ("de", "e8D+", Some("e8Q+")),
            ("fr", "Rf1", Some("Kf1")),
            ("ru", "Крf1", Some("Kf1")),
            ("ru", "Кf3", Some("Nf3")),
            ("de", "Nf3", None),
            ("en", "♘f3", Some("Nf3")),
            ("hu", "♞xf3", Some("Nxf3")),
            ("es", "O–O", Some("O-O")),
            ("en", "Sf3", Some("Sf3")),
        ] {
            assert_eq!(english(code, word).as_deref(), expected, "{code} {word}");
        }
    }

    #[test]
    fn language_codes_are_unique() {
        let codes: Vec<&str> =
            ALPHABETS.iter().flat_map(|alphabet| alphabet.codes).copied().collect();
        for code in &codes {
            assert_eq!(codes.iter().filter(|other| other == &code).count(), 1, "{code}");
        }
        assert!("xx".parse::<Language>().is_err());
    }
}
