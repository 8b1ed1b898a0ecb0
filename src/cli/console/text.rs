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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

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
