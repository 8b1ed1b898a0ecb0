//! Arrows and marked squares ("shapes") in PGN comments, in the format of Lichess and ChessBase.

/// The colours of shapes: green, red, yellow and blue.
const COLORS: &str = "GRYB";
/// The PGN comment commands for squares and for arrows, each with the length in bytes of one shape.
const COMMANDS: [(&str, usize); 2] = [("csl", 3), ("cal", 5)];

/// Splits a comment into its text and its shapes, such as `Gd4` and `Re2e4`. Other `[%…]` commands
/// are dropped.
pub(super) fn split(comment: &str) -> (String, Vec<String>) {
    let (mut text, mut shapes, mut rest) = (String::new(), Vec::new(), comment);
    while let Some((before, after)) = rest.split_once("[%") {
        let Some((command, end)) = after.split_once(']') else { break };
        text.push_str(before);
        rest = end;
        let (name, list) = command.split_once(' ').unwrap_or((command, ""));
        if COMMANDS.iter().any(|(known, _)| *known == name) {
            shapes.extend(
                list.split(',').map(str::trim).filter(|shape| is_shape(shape)).map(str::to_owned),
            );
        }
    }
    text.push_str(rest);
    (text.split_whitespace().collect::<Vec<_>>().join(" "), shapes)
}

/// Joins shapes and text into a comment.
pub(super) fn join(text: &str, shapes: &[String]) -> String {
    let mut comment = String::new();
    for (name, length) in COMMANDS {
        let own: Vec<&str> =
            shapes.iter().map(String::as_str).filter(|shape| shape.len() == length).collect();
        if !own.is_empty() {
            comment += &format!("[%{name} {}] ", own.join(","));
        }
    }
    (comment + text).trim().to_owned()
}

/// Returns whether a text is a shape: a colour followed by one or two squares.
pub(super) fn is_shape(text: &str) -> bool {
    let is_square = |square: &[u8]| matches!(square, [file, rank] if (b'a'..=b'h').contains(file) && (b'1'..=b'8').contains(rank));
    match text.as_bytes() {
        [color, squares @ ..] => {
            COLORS.contains(char::from(*color))
                && COMMANDS.iter().any(|&(_, length)| text.len() == length)
                && squares.chunks(2).all(is_square)
        }
        [] => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_are_split_and_joined() {
        for (comment, text, shapes) in [
            ("plain", "plain", &[][..]),
            ("[%csl Gd4,Re5][%cal Ge2e4] good  move", "good move", &["Gd4", "Re5", "Ge2e4"]),
            ("a [%eval 0.3] b [%cal Yh1h8, Bz1a2]", "a b", &["Yh1h8"]),
            ("open [%cal Ge2e4", "open [%cal Ge2e4", &[]),
        ] {
            let (found, found_shapes) = split(comment);
            assert_eq!(
                (found.as_str(), found_shapes.as_slice()),
                (text, shapes.iter().map(|&shape| shape.to_owned()).collect::<Vec<_>>().as_slice()),
                "{comment}"
            );
            assert_eq!(split(&join(&found, &found_shapes)).1, found_shapes);
        }
    }

    #[test]
    fn shapes_are_colours_and_squares() {
        assert!(["Ge2e4", "Ra1", "Yh8a1", "Bd5"].into_iter().all(is_shape));
        let wrong = ["", "G", "Ge", "e2e4", "Pe2e4", "Gi1", "Ga9", "Ga1b2c3", "Gé2", "G]]]]"];
        assert!(!wrong.into_iter().any(is_shape));
    }
}
