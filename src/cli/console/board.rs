//! Draws the board as text.

use crate::chess::position::{Color, Move, Piece, Position, Square};
use crate::support::platform;

#[derive(Debug, Clone, Copy)]
pub(in crate::cli) struct BoardStyle {
    /// Whether to use chess symbols instead of letters. Symbols are off by default, because
    /// terminals disagree on their width.
    pub(in crate::cli) symbols: bool,
    pub(in crate::cli) colours: bool,
    pub(in crate::cli) coordinates: bool,
    pub(in crate::cli) below: Color,
}

impl BoardStyle {
    /// Returns the default style, which uses colours only if the output is a terminal that supports
    /// them and the user allows them.
    pub(in crate::cli) fn of_output(is_terminal: bool) -> Self {
        let able = is_terminal
            && std::env::var("TERM").is_ok_and(|name| !name.is_empty() && name != "dumb");
        BoardStyle {
            symbols: false,
            colours: able && colours_are_usable(),
            coordinates: true,
            below: Color::White,
        }
    }
}

/// Returns true unless the environment disables colours with `NO_COLOR` (<https://no-color.org>),
/// or the console window cannot show them.
pub(super) fn colours_are_usable() -> bool {
    std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()) && platform::enable_colours()
}

// Colours from the terminal's 256-colour palette. All squares have medium brightness, so that white
// and black pieces are equally visible. The `MARKED` colours are for the squares of the last move.
const LIGHT: u8 = 137;
const DARK: u8 = 94;
const MARKED_LIGHT: u8 = 71;
const MARKED_DARK: u8 = 65;
const WHITE_PIECE: u8 = 231;
const BLACK_PIECE: u8 = 16;

pub(in crate::cli) fn draw(position: &Position, last: Option<Move>, style: BoardStyle) -> String {
    let is_marked = |square: Square| last.is_some_and(|mv| [mv.from(), mv.to()].contains(&square));
    let ranks: Vec<usize> = match style.below {
        Color::White => (0..8).rev().collect(),
        Color::Black => (0..8).collect(),
    };
    let files: Vec<usize> = ranks.iter().rev().copied().collect();
    let mut text = String::new();
    for &rank in &ranks {
        if style.coordinates {
            text.push_str(&(rank + 1).to_string());
        }
        let squares = files.iter().map(|file| chess::ALL_SQUARES[8 * rank + file]);
        let row = match style.colours {
            true => coloured_row(position, squares, is_marked, style),
            false => plain_row(position, squares, is_marked, style),
        };
        text.push_str(row.trim_end());
        text.push('\n');
    }
    if style.coordinates {
        let gap = if style.colours { "  " } else { " " };
        let letters = files.iter().map(|&file| char::from(b"abcdefgh"[file]).to_string());
        let letters: Vec<String> = letters.collect();
        text.push_str(&format!(" {}{}\n", gap, letters.join(gap)));
    }
    text
}

/// Draws a rank without colours. The squares of the last move are in parentheses.
fn plain_row(
    position: &Position,
    squares: impl Iterator<Item = Square>,
    is_marked: impl Fn(Square) -> bool,
    style: BoardStyle,
) -> String {
    let mut row = String::new();
    let mut after_mark = false;
    for square in squares {
        row.push(match (is_marked(square), after_mark) {
            (true, _) => '(',
            (false, true) => ')',
            (false, false) => ' ',
        });
        row.push(piece_letter(position, square, style).unwrap_or('.'));
        after_mark = is_marked(square);
    }
    if after_mark {
        row.push(')');
    }
    row
}

fn coloured_row(
    position: &Position,
    squares: impl Iterator<Item = Square>,
    is_marked: impl Fn(Square) -> bool,
    style: BoardStyle,
) -> String {
    let mut row = " ".to_owned();
    for square in squares {
        let is_light = (square.get_rank().to_index() + square.get_file().to_index()) % 2 == 1;
        let ground = match (is_light, is_marked(square)) {
            (true, false) => LIGHT,
            (false, false) => DARK,
            (true, true) => MARKED_LIGHT,
            (false, true) => MARKED_DARK,
        };
        let is_white = position.board().color_on(square) == Some(Color::White);
        let ink = if is_white { WHITE_PIECE } else { BLACK_PIECE };
        let piece_letter = piece_letter(position, square, style).unwrap_or(' ');
        row.push_str(&format!("\x1b[1;38;5;{ink};48;5;{ground}m {piece_letter} "));
    }
    row.push_str("\x1b[0m");
    row
}

/// Returns the symbol or letter of a piece. In colour, the symbols of both sides are filled,
/// because the colour shows the side.
fn piece_letter(position: &Position, square: Square, style: BoardStyle) -> Option<char> {
    let piece = position.piece_on(square)?;
    let is_white = position.board().color_on(square) == Some(Color::White);
    let (letter, outlined, filled) = match piece {
        Piece::Pawn => ('P', '♙', '♟'),
        Piece::Knight => ('N', '♘', '♞'),
        Piece::Bishop => ('B', '♗', '♝'),
        Piece::Rook => ('R', '♖', '♜'),
        Piece::Queen => ('Q', '♕', '♛'),
        Piece::King => ('K', '♔', '♚'),
    };
    Some(match (style.symbols, is_white) {
        (true, true) if !style.colours => outlined,
        (true, _) => filled,
        (false, true) => letter,
        (false, false) => letter.to_ascii_lowercase(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: BoardStyle =
        BoardStyle { symbols: false, colours: false, coordinates: true, below: Color::White };

    fn lines(position: &Position, last: Option<Move>, style: BoardStyle) -> Vec<String> {
        draw(position, last, style).lines().map(str::to_owned).collect()
    }

    #[test]
    fn board_is_drawn_from_whites_side_by_default() {
        let lines = lines(&Position::start(), None, PLAIN);
        assert_eq!(lines[0], "8 r n b q k b n r");
        assert_eq!(lines[4], "4 . . . . . . . .");
        assert_eq!(lines[7], "1 R N B Q K B N R");
        assert_eq!(lines[8], "  a b c d e f g h");
        let style = BoardStyle { symbols: true, coordinates: false, ..PLAIN };
        assert!(draw(&Position::start(), None, style).ends_with("♖ ♘ ♗ ♕ ♔ ♗ ♘ ♖\n"));
    }

    #[test]
    fn board_is_flipped_for_black() {
        let lines = lines(&Position::start(), None, BoardStyle { below: Color::Black, ..PLAIN });
        assert_eq!(lines[0], "1 R N B K Q B N R");
        assert_eq!(lines[7], "8 r n b k q b n r");
        assert_eq!(lines[8], "  h g f e d c b a");
    }

    #[test]
    fn last_move_is_marked() {
        let mv = "h2h4".parse().expect("a move");
        let after = Position::start().play(mv);
        let shown = lines(&after, Some(mv), PLAIN);
        assert_eq!(shown[4], "4 . . . . . . .(P)");
        assert_eq!(shown[6], "2 P P P P P P P(.)");
        let colours = lines(&after, Some(mv), BoardStyle { colours: true, ..PLAIN });
        let marked = |line: &str| {
            line.contains(&format!("48;5;{MARKED_DARK}m"))
                || line.contains(&format!("48;5;{MARKED_LIGHT}m"))
        };
        let rows: Vec<usize> = (0..8).filter(|&row| marked(&colours[row])).collect();
        assert_eq!(rows, [4, 6]);
    }

    fn seen(line: &str) -> String {
        let mut parts = line.split('\x1b');
        let first = parts.next().unwrap_or_default().to_owned();
        parts.fold(first, |seen, part| seen + part.split_once('m').map_or("", |(_, text)| text))
    }

    #[test]
    fn columns_are_aligned_with_and_without_colours() {
        let after =
            Position::from_fen("r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq - 2 3");
        let after = after.expect("legal");
        for colours in [false, true] {
            let text = draw(&after, None, BoardStyle { colours, ..PLAIN });
            assert!(text.is_ascii(), "{text}");
            let place = |line: &str, letter| seen(line).find(letter);
            let lines: Vec<&str> = text.lines().collect();
            // The knight on f3 must be above the label f, and the king on e8 above the label e.
            assert_eq!(place(lines[5], 'N'), place(lines[8], 'f'), "{text}");
            assert_eq!(place(lines[0], 'k'), place(lines[8], 'e'), "{text}");
        }
    }
}
