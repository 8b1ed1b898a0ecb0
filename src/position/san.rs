//! Standard algebraic notation in and out.

use chess::{BitBoard, Color, EMPTY, Piece, Rank, Square, get_pawn_attacks};
use shakmaty::CastlingSide;
use shakmaty::san::{San, SanPlus};
use thiserror::Error;

use super::movegen::PROMOTION_RANKS;
use super::{Move, Position, attacks};

/// Why a SAN is no move here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum SanError {
    /// The text is not SAN at all.
    #[error("not a move")]
    Malformed,
    /// No legal move fits.
    #[error("illegal move")]
    Illegal,
    /// More than one legal move fits.
    #[error("ambiguous move")]
    Ambiguous,
    /// `--` and the like: a null move, which no game has.
    #[error("null move")]
    Null,
}

/// Reads SAN as far as it can be without a position. Check and mate signs, `!` and `?`, `0` for `O`,
/// and a promotion without its `=` are accepted.
pub fn read_san(text: &str) -> Option<San> {
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
    /// If the text is no move, or not exactly one legal move fits.
    pub fn parse_move(&self, text: &str) -> Result<Move, SanError> {
        if let Ok(mv) = text.parse::<Move>() {
            return if self.is_legal(mv) { Ok(mv) } else { Err(SanError::Illegal) };
        }
        self.parse_san(text)
    }

    /// Reads a move in SAN, as [`read_san`] does.
    ///
    /// # Errors
    /// As [`Position::parse_move`].
    pub fn parse_san(&self, text: &str) -> Result<Move, SanError> {
        self.resolve_san(read_san(text).ok_or(SanError::Malformed)?)
    }

    /// The legal move that a parsed SAN means here.
    ///
    /// # Errors
    /// As [`Position::parse_move`].
    pub fn resolve_san(&self, san: San) -> Result<Move, SanError> {
        match san {
            San::Normal { role, file, rank, capture, to, promotion } => {
                let to = chess::ALL_SQUARES[usize::from(to)];
                let piece = piece_of(role);
                let mut origins = self.origins(piece, to, capture);
                if let Some(file) = file {
                    origins &= BitBoard(0x0101_0101_0101_0101 << usize::from(file));
                }
                if let Some(rank) = rank {
                    origins &= BitBoard(0xff << (8 * usize::from(rank)));
                }
                self.only_legal(piece, origins, to, promotion.map(piece_of))
            }
            San::Castle(side) => {
                let king = self.king(self.side_to_move());
                let home =
                    if self.side_to_move() == Color::White { Square::E1 } else { Square::E8 };
                let to = match side {
                    CastlingSide::KingSide => king.uright().uright(),
                    CastlingSide::QueenSide => king.uleft().uleft(),
                };
                let mv = Move::new(king, to);
                if king == home && self.is_legal(mv) { Ok(mv) } else { Err(SanError::Illegal) }
            }
            San::Put { .. } => Err(SanError::Malformed),
            San::Null => Err(SanError::Null),
        }
    }

    /// Own men of a kind that reach `to`, pins and checks aside.
    #[inline]
    fn origins(&self, piece: Piece, to: Square, capture: bool) -> BitBoard {
        let us = self.side_to_move();
        let own = self.pieces(us, piece);
        if piece != Piece::Pawn {
            return own & attacks(piece, to, self.occupied());
        }
        if capture {
            return get_pawn_attacks(to, !us, own);
        }
        let behind = to.ubackward(us);
        let double_rank = if us == Color::White { Rank::Fourth } else { Rank::Fifth };
        let one = BitBoard::from_square(behind);
        if one & self.occupied() == EMPTY && to.get_rank() == double_rank {
            return own & BitBoard::from_square(behind.ubackward(us));
        }
        own & one
    }

    /// The only legal move from one of `origins` to `to`.
    #[inline]
    fn only_legal(
        &self,
        piece: Piece,
        origins: BitBoard,
        to: Square,
        promotion: Option<Piece>,
    ) -> Result<Move, SanError> {
        if let Some(mv) = self.plainly_legal(piece, origins, to, promotion) {
            return Ok(mv);
        }
        let mut found = Err(SanError::Illegal);
        for from in origins {
            let mv = match promotion {
                None => Move::new(from, to),
                Some(piece @ (Piece::Knight | Piece::Bishop | Piece::Rook | Piece::Queen)) => {
                    Move::promoting(from, to, piece)
                }
                Some(_) => return Err(SanError::Illegal),
            };
            if self.is_legal(mv) {
                if found.is_ok() {
                    return Err(SanError::Ambiguous);
                }
                found = Ok(mv);
            }
        }
        found
    }

    /// The move of a piece, if a single one can go to `to` and neither check nor pin can forbid
    /// it: nearly all moves of a game are of this kind, and need no further test.
    #[inline]
    fn plainly_legal(
        &self,
        piece: Piece,
        origins: BitBoard,
        to: Square,
        promotion: Option<Piece>,
    ) -> Option<Move> {
        let single = origins.0.is_power_of_two();
        if !single || promotion.is_some() || origins & self.pinned() != EMPTY || self.in_check() {
            return None;
        }
        let (from, target) = (origins.to_square(), BitBoard::from_square(to));
        let plain = match piece {
            Piece::King => false,
            Piece::Pawn if target & PROMOTION_RANKS != EMPTY => false,
            Piece::Pawn if from.get_file() == to.get_file() => target & self.occupied() == EMPTY,
            Piece::Pawn => target & self.by_color(!self.side_to_move()) != EMPTY,
            _ => target & self.by_color(self.side_to_move()) == EMPTY,
        };
        plain.then(|| Move::new(from, to))
    }

    /// `mv`, which must be legal here, in SAN with check and mate signs.
    pub fn san(&self, mv: Move) -> String {
        let mut text = self.san_body(mv);
        let next = self.play(mv);
        if next.in_check() {
            text.push(if next.has_no_moves() { '#' } else { '+' });
        }
        text
    }

    fn san_body(&self, mv: Move) -> String {
        let Some(piece) = self.piece_on(mv.from()) else { return mv.to_string() };
        if self.is_castling(mv) {
            return if mv.to() > mv.from() { "O-O" } else { "O-O-O" }.to_owned();
        }
        let capture = if self.is_capture(mv) { "x" } else { "" };
        let to = mv.to();
        match piece {
            Piece::Pawn => {
                let file = file_letter(mv.from());
                let from = if capture.is_empty() { String::new() } else { file.to_string() };
                let promotion =
                    mv.promotion().map_or(String::new(), |piece| format!("={}", letter(piece)));
                format!("{from}{capture}{to}{promotion}")
            }
            _ => format!("{}{}{capture}{to}", letter(piece), self.disambiguation(piece, mv)),
        }
    }

    /// What must be told of the origin where other men of the kind could go to the same square.
    fn disambiguation(&self, piece: Piece, mv: Move) -> String {
        let rivals = self.origins(piece, mv.to(), false) & !BitBoard::from_square(mv.from());
        let (mut same_file, mut same_rank, mut any) = (false, false, false);
        for rival in rivals {
            if self.is_legal(Move::new(rival, mv.to())) {
                any = true;
                same_file |= rival.get_file() == mv.from().get_file();
                same_rank |= rival.get_rank() == mv.from().get_rank();
            }
        }
        match (any, same_file, same_rank) {
            (false, ..) => String::new(),
            (true, false, _) => file_letter(mv.from()).to_string(),
            (true, true, false) => (mv.from().get_rank().to_index() + 1).to_string(),
            (true, true, true) => mv.from().to_string(),
        }
    }
}

fn file_letter(square: Square) -> char {
    (b'a' + square.get_file().to_index() as u8) as char
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

#[inline]
pub(super) fn piece_of(role: shakmaty::Role) -> Piece {
    chess::ALL_PIECES[usize::from(role) - 1]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn position(fen: &str) -> Position {
        Position::from_fen(fen).expect(fen)
    }

    #[test]
    fn san_and_coordinates_agree() {
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
    fn a_promotion_needs_no_equals_sign() {
        let position = position("3n3k/2P5/8/8/8/8/8/4K3 w - - 0 1");
        for (text, coordinates) in
            [("c8Q", "c7c8q"), ("c8Q+", "c7c8q"), ("cxd8N!", "c7d8n"), ("c7c8R+", "c7c8r")]
        {
            assert_eq!(position.parse_move(text).map(|mv| mv.to_string()), Ok(coordinates.into()));
        }
        assert_eq!(position.parse_move("c8K"), Err(SanError::Malformed));
    }

    #[test]
    fn a_pinned_rival_needs_no_disambiguation() {
        let position = position("4k3/8/8/8/1b6/8/3N4/4K1N1 w - - 0 1");
        assert_eq!(position.san("g1f3".parse().expect("a move")), "Nf3");
    }

    #[test]
    fn sloppy_but_clear_texts_are_read() {
        let castling = position("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1");
        assert_eq!(castling.parse_move("0-0"), castling.parse_move("O-O+"));
        assert_eq!(castling.parse_move("Ra1xa8+!?"), castling.parse_move("a1a8"));
    }

    #[test]
    fn what_is_no_move_is_told_apart() {
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
