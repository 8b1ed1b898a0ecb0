//! The board as people see it.

use crate::position::{Color, Piece, Position};

/// How the board is drawn.
#[derive(Debug, Clone, Copy)]
pub(super) struct Look {
    /// Chess symbols instead of letters.
    pub(super) unicode: bool,
    /// Coloured squares.
    pub(super) colours: bool,
    /// Letters and numbers at the edge.
    pub(super) coordinates: bool,
}

impl Look {
    /// What the terminal can show, or plain text for anything else.
    pub(super) fn of_output(is_terminal: bool) -> Self {
        let set = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(set).unwrap_or_default();
        let locale = locale.to_ascii_lowercase();
        let is_utf8 = locale.contains("utf-8") || locale.contains("utf8");
        let able = is_terminal && set("TERM").is_some_and(|name| name != "dumb");
        Look {
            unicode: able && is_utf8,
            colours: able && is_utf8 && colours_are_wanted(),
            coordinates: true,
        }
    }
}

/// Whether the user has not asked all programs for no colours (<https://no-color.org>).
pub(super) fn colours_are_wanted() -> bool {
    std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// Terminal colours (ANSI, 256-colour palette): the piece on a light and on a dark square.
const LIGHT: &str = "\x1b[30;48;5;180m";
const DARK: &str = "\x1b[30;48;5;137m";

/// Draws a position, White below.
pub(super) fn draw(position: &Position, look: Look) -> String {
    let mut text = String::new();
    for rank in (0..8).rev() {
        if look.coordinates {
            text.push_str(&format!("{} ", rank + 1));
        }
        for file in 0..8 {
            let square = chess::ALL_SQUARES[8 * rank + file];
            let symbol = position.piece_on(square).map_or(empty(look), |piece| {
                symbol(piece, position.board().color_on(square), look)
            });
            match look.colours {
                true if (rank + file) % 2 == 1 => text.push_str(&format!("{LIGHT}{symbol} ")),
                true => text.push_str(&format!("{DARK}{symbol} ")),
                false => text.push_str(&format!("{symbol} ")),
            }
        }
        text.truncate(text.trim_end().len());
        text.push_str(if look.colours { " \x1b[0m\n" } else { "\n" });
    }
    if look.coordinates {
        text.push_str("  a b c d e f g h\n");
    }
    text
}

fn empty(look: Look) -> char {
    if look.colours { ' ' } else { '.' }
}

fn symbol(piece: Piece, color: Option<Color>, look: Look) -> char {
    let white = color == Some(Color::White);
    let (letter, white_symbol, black_symbol) = match piece {
        Piece::Pawn => ('P', '♙', '♟'),
        Piece::Knight => ('N', '♘', '♞'),
        Piece::Bishop => ('B', '♗', '♝'),
        Piece::Rook => ('R', '♖', '♜'),
        Piece::Queen => ('Q', '♕', '♛'),
        Piece::King => ('K', '♔', '♚'),
    };
    match (look.unicode, white) {
        (true, true) => white_symbol,
        (true, false) => black_symbol,
        (false, true) => letter,
        (false, false) => letter.to_ascii_lowercase(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_board_is_drawn_from_whites_side() {
        let look = Look { unicode: false, colours: false, coordinates: true };
        let text = draw(&Position::start(), look);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "8 r n b q k b n r");
        assert_eq!(lines[4], "4 . . . . . . . .");
        assert_eq!(lines[7], "1 R N B Q K B N R");
        assert_eq!(lines[8], "  a b c d e f g h");
        let unicode = draw(&Position::start(), Look { unicode: true, coordinates: false, ..look });
        assert_eq!(unicode.lines().last(), Some("♖ ♘ ♗ ♕ ♔ ♗ ♘ ♖"));
    }
}
