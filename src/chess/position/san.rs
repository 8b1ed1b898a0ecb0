//! Parses and formats standard algebraic notation (SAN).

use arrayvec::ArrayString;
use chess::{BitBoard, Piece};
use shakmaty::san::{San, SanPlus};
use thiserror::Error;

use super::moves::{file_letter, push_square, rank_digit};
use super::{Move, Position, Replay, attacks};

/// Number of characters in the longest SAN, such as `Qa1xb2#` or `exd8=Q+`.
pub(crate) const SAN_BYTES: usize = 7;
/// The null move, as most programs write it.
const SAN_NULL: &str = "--";

/// Why a string is not a legal move in SAN.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum SanError {
    /// The string does not look like SAN.
    #[error("not a move")]
    Malformed,
    /// No legal move matches.
    #[error("illegal move")]
    Illegal,
    /// More than one legal move matches.
    #[error("ambiguous move")]
    Ambiguous,
    /// The string is a null move such as `--`, which is not a legal move.
    #[error("null move")]
    Null,
}

/// Parses SAN without resolving it in a position. Accepts check and mate symbols, `!` and `?`, `0`
/// for `O`, and promotions without `=`.
pub(crate) fn read_san(text: &str) -> Option<San> {
    let bare = text.trim_end_matches(['!', '?']);
    let unsigned = bare.trim_end_matches(['+', '#']);
    let mended = match unsigned.as_bytes() {
        [b'0', b'-', b'0', ..] => Some(bare.replace('0', "O")),
        [stem @ .., b'1' | b'8', b'N' | b'B' | b'R' | b'Q'] => {
            let (square, piece) = unsigned.split_at(stem.len() + 1);
            Some(format!("{square}={piece}"))
        }
        _ => None,
    };
    let san = mended.as_deref().unwrap_or(bare);
    SanPlus::from_ascii(san.as_bytes()).ok().map(|plus| plus.san)
}

impl Position {
    /// Reads a move in SAN (`Nf3`, `exd8=Q+`, `O-O`) or coordinate notation (`g1f3`).
    ///
    /// # Errors
    /// If the text is not a move, if no legal move matches, or if several do.
    pub fn parse_move(&self, text: &str) -> Result<Move, SanError> {
        if let Ok(mv) = text.parse::<Move>() {
            return if self.is_legal(mv) { Ok(mv) } else { Err(SanError::Illegal) };
        }
        self.parse_san(text)
    }

    /// Reads a move in SAN. Accepts check and mate symbols, `!` and `?`, `0` for `O`, and
    /// promotions without `=`.
    ///
    /// # Errors
    /// See [`Position::parse_move`].
    pub fn parse_san(&self, text: &str) -> Result<Move, SanError> {
        self.resolve_san(read_san(text).ok_or(SanError::Malformed)?)
    }

    fn resolve_san(&self, san: San) -> Result<Move, SanError> {
        Replay::from(self).resolve_san(san)
    }

    /// Formats `mv` in SAN with check and mate symbols. `mv` must be legal in this position or a
    /// null move.
    pub fn san(&self, mv: Move) -> String {
        self.short_san(mv).to_string()
    }

    pub(crate) fn short_san(&self, mv: Move) -> ArrayString<SAN_BYTES> {
        let mut text = ArrayString::new();
        if mv.is_null() {
            text.push_str(SAN_NULL);
            return text;
        }
        self.push_san(mv, &mut text);
        if self.gives_check(mv) {
            text.push(if self.play(mv).has_no_moves() { '#' } else { '+' });
        }
        text
    }

    fn push_san(&self, mv: Move, text: &mut ArrayString<SAN_BYTES>) {
        let Some(piece) = self.piece_on(mv.from()) else { return text.push_str(&mv.uci()) };
        if self.is_castling(mv) {
            return text.push_str(if mv.to() > mv.from() { "O-O" } else { "O-O-O" });
        }
        let is_capture = self.is_capture(mv);
        match piece {
            Piece::Pawn if is_capture => text.push(file_letter(mv.from())),
            Piece::Pawn => {}
            _ => {
                text.push(letter(piece));
                self.push_origin(piece, mv, text);
            }
        }
        if is_capture {
            text.push('x');
        }
        push_square(text, mv.to());
        if let Some(promoted) = mv.promotion() {
            text.push('=');
            text.push(letter(promoted));
        }
    }

    /// Appends the file or rank of the origin square, or both, if another piece of this kind can
    /// legally move to the same square.
    fn push_origin(&self, piece: Piece, mv: Move, text: &mut ArrayString<SAN_BYTES>) {
        let own = self.pieces(self.side_to_move(), piece) & !BitBoard::from_square(mv.from());
        let rivals = own & attacks(piece, mv.to(), self.occupied());
        let (mut same_file, mut same_rank, mut any) = (false, false, false);
        for rival in rivals {
            if self.is_legal(Move::new(rival, mv.to())) {
                any = true;
                same_file |= rival.get_file() == mv.from().get_file();
                same_rank |= rival.get_rank() == mv.from().get_rank();
            }
        }
        match (any, same_file, same_rank) {
            (false, ..) => {}
            (true, false, _) => text.push(file_letter(mv.from())),
            (true, true, false) => text.push(rank_digit(mv.from())),
            (true, true, true) => push_square(text, mv.from()),
        }
    }
}

fn letter(piece: Piece) -> char {
    match piece {
        Piece::Pawn => 'P',
        Piece::Knight => 'N',
        Piece::Bishop => 'B',
        Piece::Rook => 'R',
        Piece::Queen => 'Q',
        Piece::King => 'K',
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn position(fen: &str) -> Position {
        Position::from_fen(fen).expect(fen)
    }

    #[test]
    fn san_matches_coordinate_notation() {
        for (fen, coordinates, san) in [
            ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", "g1f3", "Nf3"),
            ("4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1", "e5d6", "exd6"),
            ("r3k2r/8/8/8/8/8/8/R3K2R b KQkq - 0 1", "e8c8", "O-O-O"),
            ("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", "e1g1", "O-O"),
            ("3n3k/2P5/8/8/8/8/8/4K3 w - - 0 1", "c7d8n", "cxd8=N"),
            ("7k/2P5/8/8/8/8/8/4K3 w - - 0 1", "c7c8q", "c8=Q+"),
            ("k7/8/1K6/8/8/8/8/7R w - - 0 1", "h1h8", "Rh8#"),
            ("4k3/8/8/8/8/8/8/R3K2R w - - 0 1", "a1d1", "Rd1"),
            ("6k1/8/8/8/8/R7/4K3/R7 w - - 0 1", "a1a2", "R1a2"),
            ("6k1/8/8/8/8/8/4K3/R6R w - - 0 1", "a1d1", "Rad1"),
            ("6k1/8/8/8/Q7/8/7K/Q2Q4 w - - 0 1", "a1d4", "Qa1d4"),
            ("6k1/8/8/8/8/Q7/7K/Q3Q3 w - - 0 1", "a1c3", "Qa1c3"),
            ("6k1/8/8/8/8/Q7/7K/Q7 w - - 0 1", "a1c3", "Q1c3"),
        ] {
            let position = position(fen);
            let mv: Move = coordinates.parse().expect(coordinates);
            assert_eq!(position.san(mv), san, "{fen}");
            assert_eq!(position.parse_move(san), Ok(mv), "{fen}");
            assert_eq!(position.parse_move(coordinates), Ok(mv), "{fen}");
        }
    }

    #[test]
    fn promotion_is_accepted_without_equals_sign() {
        let position = position("3n3k/2P5/8/8/8/8/8/4K3 w - - 0 1");
        for (text, coordinates) in
            [("c8Q", "c7c8q"), ("c8Q+", "c7c8q"), ("cxd8N!", "c7d8n"), ("c7c8R+", "c7c8r")]
        {
            assert_eq!(position.parse_move(text).map(|mv| mv.to_string()), Ok(coordinates.into()));
        }
        assert_eq!(position.parse_move("c8K"), Err(SanError::Malformed));
    }

    #[test]
    fn pinned_piece_needs_no_disambiguation() {
        let position = position("4k3/8/8/8/1b6/8/3N4/4K1N1 w - - 0 1");
        assert_eq!(position.san("g1f3".parse().expect("a move")), "Nf3");
    }

    #[test]
    fn sloppy_unambiguous_san_is_accepted() {
        let castling = position("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1");
        assert_eq!(castling.parse_move("0-0"), castling.parse_move("O-O+"));
        assert_eq!(castling.parse_move("Ra1xa8+!?"), castling.parse_move("a1a8"));
    }

    #[test]
    fn each_invalid_san_has_its_own_error() {
        let start = Position::start();
        assert_eq!(start.parse_move("Nf4"), Err(SanError::Illegal));
        assert_eq!(start.parse_move("e2e5"), Err(SanError::Illegal));
        assert_eq!(start.parse_move("e9"), Err(SanError::Malformed));
        assert_eq!(start.parse_move("--"), Err(SanError::Null));
        assert_eq!(start.parse_move("O-O"), Err(SanError::Illegal));
        let two_rooks = position("6k1/8/8/8/8/8/4K3/R6R w - - 0 1");
        assert_eq!(two_rooks.parse_move("Rd1"), Err(SanError::Ambiguous));
    }
}
