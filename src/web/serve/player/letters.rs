//! Reduces names to their letters, so that different spellings can be compared.

/// Latin letters with diacritics and ligatures, in lower case, with their usual replacement.
const REPLACEMENTS: [(&str, &str); 26] = [
    ("a", "àáâãäåāăąǎạảấầậắ"),
    ("ae", "æ"),
    ("c", "çćĉċč"),
    ("d", "ďđð"),
    ("e", "èéêëēĕėęěẹẽếềểễệə"),
    ("g", "ĝğġģǧ"),
    ("h", "ĥħ"),
    ("i", "ìíîïĩīĭįıǐịỉ"),
    ("j", "ĵ"),
    ("k", "ķ"),
    ("l", "ĺļľŀł"),
    ("n", "ñńņňŉŋ"),
    ("o", "òóôõöøōŏőǒơọốồổộớờ"),
    ("oe", "œ"),
    ("r", "ŕŗř"),
    ("s", "śŝşšș"),
    ("ss", "ß"),
    ("t", "ţťŧț"),
    ("th", "þ"),
    ("u", "ùúûüũūŭůűųưǔụứừữự"),
    ("w", "ŵ"),
    ("y", "ýÿŷỳỹ"),
    ("z", "źżž"),
    // Cyrillic letters that are often written without their diacritics.
    ("е", "ё"),
    ("и", "й"),
    ("г", "ґ"),
];

/// Returns the letters and digits of a name in lower case and without diacritics.
pub(super) fn letters(name: &str) -> String {
    let mut plain = String::with_capacity(name.len());
    // Combining diacritics are not alphanumeric, so they are left out.
    for letter in name.chars().flat_map(char::to_lowercase).filter(|sign| sign.is_alphanumeric()) {
        match REPLACEMENTS.iter().find(|(_, marked)| !letter.is_ascii() && marked.contains(letter))
        {
            Some((replacement, _)) => plain.push_str(replacement),
            None => plain.push(letter),
        }
    }
    plain
}

/// A name as it is compared with a part of a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PlainName {
    /// The letters of the name, twice in succession, so that its words can be read from any of them
    /// on.
    twice: String,
    /// The offset in `twice` of the first letter of each word.
    words: Vec<usize>,
}

impl PlainName {
    pub(super) fn new(name: &str) -> Self {
        let (mut once, mut words) = (String::new(), Vec::new());
        for word in name.split([' ', ',', '.']).map(letters).filter(|word| !word.is_empty()) {
            words.push(once.len());
            once += &word;
        }
        PlainName { twice: once.repeat(2), words }
    }

    fn once(&self) -> &str {
        &self.twice[..self.twice.len() / 2]
    }

    /// Returns true if the name begins with `part`, as written.
    pub(super) fn begins_with(&self, part: &str) -> bool {
        self.once().starts_with(part)
    }

    /// Returns true if the name contains `part`, as written or with the words before any word moved
    /// to the end, so that `Magnus Carlsen` is found in `Carlsen, Magnus`.
    pub(super) fn contains(&self, part: &str) -> bool {
        let length = self.once().len();
        let begins = |&word: &usize| self.twice[word..word + length].starts_with(part);
        self.once().contains(part) || self.words.iter().any(begins)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_lose_case_diacritics_and_punctuation() {
        for (name, plain) in [
            ("Polgár, Judit", "polgarjudit"),
            ("Polga\u{301}r", "polgar"),
            ("ŠIROV,  A. (LAT)", "sirovalat"),
            ("Großmann", "grossmann"),
            ("İpatov", "ipatov"),
            ("Алёхин", "алехин"),
            ("?", ""),
        ] {
            assert_eq!(letters(name), plain, "{name}");
        }
    }

    #[test]
    fn replacements_are_in_lower_case_and_unambiguous() {
        let all: Vec<char> = REPLACEMENTS.iter().flat_map(|(_, marked)| marked.chars()).collect();
        for (at, letter) in all.iter().enumerate() {
            assert!(!all[..at].contains(letter) && letter.is_lowercase(), "{letter}");
        }
    }
}
