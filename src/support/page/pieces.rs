//! Draws the pieces for pages without scripts. The shapes come from the JavaScript module
//! `pieces.js`.

use std::fmt::Write;

use serde_json::Value;

use super::PIECES_JS;

/// The piece letters used in FEN.
const KINDS: &str = "kqrbnp";

/// Returns an SVG symbol of 48 by 48 units for each piece in `letters`, with the ids `piece-K`,
/// `piece-k` and so on.
pub(crate) fn piece_symbols(letters: impl Iterator<Item = char>) -> String {
    let mut out = String::new();
    for letter in letters {
        let side = if letter.is_ascii_uppercase() { "white" } else { "black" };
        // Writing to a string cannot fail, here and below.
        let _ = writeln!(
            out,
            "<symbol id=\"piece-{letter}\" viewBox=\"0 0 48 48\"><g class=\"piece {side}\">{}</g></symbol>",
            drawing(letter.to_ascii_lowercase())
        );
    }
    out
}

/// Returns the shapes of a piece, the same as those drawn by the function `piece` in `pieces.js`.
fn drawing(kind: char) -> String {
    debug_assert!(KINDS.contains(kind));
    let mut out = String::new();
    let dots = entry("const DOTS", kind);
    let circles = |out: &mut String, class: &str| {
        for dot in dots.as_array().into_iter().flatten() {
            let _ = write!(
                out,
                "<circle cx=\"{}\" cy=\"{}\" r=\"{}\" class=\"{class}\"/>",
                dot[0], dot[1], dot[2]
            );
        }
    };
    if kind == 'q' {
        circles(&mut out, "body");
    }
    let foot = PIECES_JS.split("const FOOT = \"").nth(1).and_then(|rest| rest.split('"').next());
    let body = entry("const BODIES", kind);
    let mut path = |d: &str, class: &str| {
        let _ = write!(out, "<path d=\"{d}\" class=\"{class}\"/>");
    };
    path(foot.unwrap_or_default(), "body");
    body[0].as_str().into_iter().for_each(|d| path(d, "body"));
    body[1].as_str().into_iter().for_each(|d| path(d, "lines"));
    if kind == 'n' {
        circles(&mut out, "dot");
    }
    out
}

/// Returns the list for the piece `kind` from an object in `pieces.js`, which has one list per
/// line.
fn entry(object: &str, kind: char) -> Value {
    let lines = PIECES_JS.split(object).nth(1).unwrap_or_default().lines();
    let mut lines = lines.take_while(|line| *line != "};");
    let found = lines.find_map(|line| line.trim().strip_prefix(kind)?.strip_prefix(": "));
    let list = found.map(|list| list.trim_end_matches(','));
    list.and_then(|list| serde_json::from_str(list).ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_piece_has_a_foot_and_a_body() {
        for kind in KINDS.chars() {
            let drawing = drawing(kind);
            assert_eq!(drawing.matches("class=\"body\"").count(), if kind == 'q' { 7 } else { 2 });
            assert_eq!(
                drawing.matches("class=\"lines\"").count(),
                usize::from(kind != 'p'),
                "{kind}"
            );
            assert_eq!(
                drawing.matches("class=\"dot\"").count(),
                usize::from(kind == 'n'),
                "{kind}"
            );
            assert!(!drawing.contains("d=\"\"") && !drawing.contains("null"), "{drawing}");
        }
        let symbols = piece_symbols("Kk".chars());
        assert!(symbols.contains("id=\"piece-K\"") && symbols.contains("piece black"), "{symbols}");
    }
}
