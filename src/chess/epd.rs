//! Parses lines that describe positions in FEN or in EPD, including EPD operations. EPD is defined
//! in section 16.2 of "Standard: Portable Game Notation Specification and Implementation Guide".

use crate::chess::position::{Move, Position};
use crate::support::error::ParseError;
use crate::support::words::{is_space, split_words};

/// Number of fields in an EPD position, which is a FEN without its two move counters.
const FIELDS: usize = 4;
/// Number of move counters at the end of a FEN. Many EPD files also contain them.
const COUNTERS: usize = 2;

/// Iterates over the lines that are neither empty nor `#` comments, with their 1-based line
/// numbers.
pub(crate) fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let numbered = (1..).zip(text.lines().map(|line| line.trim_matches(is_space)));
    numbered.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
}

/// Parses the position at the start of a line. Returns the position and the rest of the line.
pub(crate) fn position(line: &str) -> Result<(Position, &str), ParseError> {
    let fen = after_words(line, FIELDS);
    let with_counters = after_words(line, FIELDS + COUNTERS);
    let counters: Vec<&str> = split_words(&line[fen..with_counters]).map(bare).collect();
    let are_numbers = counters.iter().all(|word| word.parse::<u16>().is_ok());
    let (end, fields) = if counters.len() == COUNTERS && are_numbers {
        (with_counters, bare(&line[..with_counters]))
    } else {
        (fen, bare(&line[..fen]))
    };
    Ok((Position::from_fen(fields)?, line[end..].trim_matches(is_space)))
}

/// Reads the positions in a text, one per line, ignoring operations. Errors contain the line
/// number.
pub(crate) fn positions(text: &str) -> Result<Vec<Position>, (usize, ParseError)> {
    lines(text)
        .map(|(number, line)| match position(line) {
            Ok((position, _)) => Ok(position),
            Err(error) => Err((number, error)),
        })
        .collect()
}

/// Returns every move to avoid (`am`) in a text, paired with its position. Errors contain the line
/// number.
pub(crate) fn moves_to_avoid(text: &str) -> Result<Vec<(Position, Move)>, (usize, String)> {
    let mut found = Vec::new();
    for (number, line) in lines(text) {
        let (position, rest) = position(line).map_err(|error| (number, error.to_string()))?;
        for (code, operand) in operations(rest).into_iter().filter(|(code, _)| *code == "am") {
            let moves = moves(&position, code, operand).map_err(|error| (number, error))?;
            found.extend(moves.into_iter().map(|mv| (position, mv)));
        }
    }
    Ok(found)
}

/// Parses the operand of an operation that lists moves, such as `am`. Fails if a move is illegal.
pub(crate) fn moves(position: &Position, code: &str, operand: &str) -> Result<Vec<Move>, String> {
    let parse =
        |text: &str| position.parse_move(text).map_err(|error| format!("{code} {text}: {error}"));
    split_words(operand).map(|word| parse(word.trim_end_matches(','))).collect()
}

/// Removes the semicolon that some files place directly after the position.
fn bare(text: &str) -> &str {
    text.trim_end_matches(is_space).trim_end_matches(';')
}

fn after_words(line: &str, count: usize) -> usize {
    let words = split_words(line).take(count);
    // The words are slices of the line, so their addresses give their offsets.
    words.last().map_or(0, |word| word.as_ptr() as usize - line.as_ptr() as usize + word.len())
}

/// Splits the operations of an EPD line into opcodes and operands. Quotation marks around operands
/// are removed.
pub(crate) fn operations(text: &str) -> Vec<(&str, &str)> {
    let mut quoted = false;
    let parts = text.split(|letter| {
        quoted ^= letter == '"';
        letter == ';' && !quoted
    });
    parts
        .map(|part| part.trim_matches(is_space))
        .filter(|part| !part.is_empty())
        .map(|part| {
            let (code, operand) = part.split_once(is_space).unwrap_or((part, ""));
            (code, operand.trim_matches(is_space).trim_matches('"'))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOARD: &str = "8/8/p1p5/1p5p/1P5p/8/PPP2K1p/4R1rk w - -";

    #[test]
    fn counters_are_accepted_before_operations() {
        for (counters, operations) in
            [("", "bm Rf1; id \"a; b\";"), (" 0 1", "bm Rf1;"), (" 3 40;", ""), ("", "")]
        {
            let line = format!("{BOARD}{counters} {operations}");
            let (read, rest) = position(&line).expect("a position");
            assert_eq!((read.epd().as_str(), rest), (BOARD, operations), "{line}");
        }
        assert!(position("").is_err() && position("x y z").is_err());
    }

    #[test]
    fn semicolons_within_quotes_do_not_end_an_operation() {
        let found = operations("bm Rf1 Ke2;id \"a; b\"; dm 3");
        assert_eq!(found, [("bm", "Rf1 Ke2"), ("id", "a; b"), ("dm", "3")]);
        assert!(operations(" ; ").is_empty());
    }

    #[test]
    fn comments_and_empty_lines_are_skipped() {
        let found: Vec<_> = lines("# a\n\n x \ny").collect();
        assert_eq!(found, [(3, "x"), (4, "y")]);
    }

    #[test]
    fn moves_to_avoid_are_read_and_illegal_ones_reported() {
        let text = format!("{BOARD} bm Rf1; am Re2, Re3;\n{BOARD} id \"none\";\n");
        let read = moves_to_avoid(&text).expect("two moves");
        let names: Vec<_> = read.iter().map(|(position, mv)| position.san(*mv)).collect();
        assert_eq!(names, ["Re2", "Re3"]);
        let (line, error) =
            moves_to_avoid(&format!("\n{text}{BOARD} am Re9;")).expect_err("illegal");
        assert_eq!((line, error.split_once(':')), (4, Some(("am Re9", " not a move"))));
    }

    #[test]
    fn error_has_the_number_of_the_bad_line() {
        let text = format!("# a comment\n\n{BOARD} bm Rf1;\nnonsense\n");
        let (line, _) = positions(&text).expect_err("no position");
        assert_eq!(line, 4);
        assert_eq!(positions(&text.replace("nonsense", "")).expect("one").len(), 1);
    }
}
