//! Text formatting shared by all commands of the console.

use std::error::Error;
use std::io;
use std::time::Duration;

use textwrap::{Options, WordSplitter, WrapAlgorithm};

pub(super) fn failed(why: impl Into<Box<dyn Error + Send + Sync>>) -> io::Error {
    io::Error::other(why)
}

pub(super) fn seconds(time: Duration) -> String {
    format!("{} s", (time.as_secs_f64() * 100.0).round() / 100.0)
}

/// The minimum terminal width at which lines are wrapped. In narrower terminals, wrapping is left
/// to the terminal.
const NARROWEST: usize = 20;
const INDENT: usize = 4;

/// Wraps lines between words. If a line has a second column, its continuation lines are aligned
/// with that column.
pub(super) fn fold(text: &str, width: usize) -> String {
    if width < NARROWEST {
        return text.to_owned();
    }
    let folded = text.split('\n').map(|line| {
        let indent =
            " ".repeat(column(line).filter(|&column| column <= width / 2).unwrap_or(INDENT));
        let options = Options::new(width)
            .subsequent_indent(&indent)
            .word_splitter(WordSplitter::NoHyphenation)
            .wrap_algorithm(WrapAlgorithm::FirstFit)
            .break_words(false);
        match line.chars().count() <= width {
            true => line.to_owned(),
            false => textwrap::fill(line, options),
        }
    });
    folded.collect::<Vec<_>>().join("\n")
}

/// Returns the offset of the second column in a line. The second column starts after two or more
/// spaces.
fn column(line: &str) -> Option<usize> {
    let gap = line.trim_end().find("  ")?;
    Some(gap + line[gap..].chars().take_while(|&letter| letter == ' ').count())
}

const SUGGESTIONS: usize = 3;

/// Returns a suggestion such as `; did you mean this or that?`, or an empty string if no known word
/// is similar.
pub(in crate::cli) fn did_you_mean(word: &str, known: impl Iterator<Item = String>) -> String {
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
    use proptest::prelude::*;

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

    #[test]
    fn folded_text_keeps_its_indentation() {
        let folded = fold("undo [N]    take back one move, or the last N", 31);
        assert_eq!(folded, "undo [N]    take back one move,\n            or the last N");
        assert_eq!(fold("a line\nand another", 20), "a line\nand another");
    }

    proptest! {
        #[test]
        fn folded_lines_fit_the_width(words in prop::collection::vec("[a-z]{1,9}", 1..40), width in 20_usize..90) {
            let text = words.join(" ");
            let folded = fold(&text, width);
            prop_assert!(folded.lines().all(|line| line.len() <= width), "{}", folded);
            let again: Vec<&str> = folded.split_whitespace().collect();
            prop_assert_eq!(again, words);
        }
    }
}
