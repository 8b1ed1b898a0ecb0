//! Suggestions for misspelled words.

const SUGGESTIONS: usize = 3;

/// Returns a suggestion such as `; did you mean this or that?`, or an empty string if no known word
/// is similar.
pub(super) fn did_you_mean(word: &str, known: impl Iterator<Item = String>) -> String {
    let word = word.to_lowercase();
    // Allow one typo for every three letters, but at least one and at most two.
    let most = (word.chars().count() / 3).clamp(1, 2);
    let distance = |name: &str| {
        let name = name.to_lowercase();
        let begins = word.chars().count() >= 3 && name.starts_with(&word);
        if begins { 1 } else { strsim::damerau_levenshtein(&word, &name) }
    };
    let mut near: Vec<(usize, String)> = known
        .map(|name| (distance(&name), name))
        .filter(|(far, name)| *far <= most && *far < name.chars().count())
        .collect();
    near.sort();
    near.dedup();
    let names: Vec<String> =
        near.into_iter().take(SUGGESTIONS).map(|(_, name)| format!("`{name}`")).collect();
    match names.split_last() {
        None => String::new(),
        Some((last, [])) => format!("; did you mean {last}?"),
        Some((last, others)) => format!("; did you mean {} or {last}?", others.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn suggested(word: &str) -> String {
        did_you_mean(word, ["undo", "analyze", "go", "book", "Nf3"].map(str::to_owned).into_iter())
    }

    #[test]
    fn similar_names_are_suggested() {
        for (word, hint) in [
            ("udno", "; did you mean `undo`?"),
            ("anal", "; did you mean `analyze`?"),
            ("boook", "; did you mean `book`?"),
            ("Nf4", "; did you mean `Nf3`?"),
            ("castle", ""),
            ("x", ""),
        ] {
            assert_eq!(suggested(word), hint, "{word}");
        }
    }
}
