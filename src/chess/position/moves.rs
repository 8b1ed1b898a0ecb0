//! Moves encoded in sixteen bits, with the same layout as in Polyglot books, and their coordinate
//! notation.

use std::fmt;
use std::num::NonZeroU16;
use std::str::FromStr;

use arrayvec::ArrayString;
use chess::{ChessMove, Piece, Square};

use crate::support::error::ParseError;
/// A bit that is set in every move, so that the value is never zero and `Option<Move>` is no larger
/// than `Move`.
const MARK: NonZeroU16 = NonZeroU16::new(0x8000).expect("the mark is not zero");
const SQUARE_MASK: u16 = 0x3f;
const FROM_SHIFT: u32 = 6;
const PROMOTION_SHIFT: u32 = 12;
const PROMOTION_MASK: u16 = 0x7;

/// Promotion pieces, indexed by their Polyglot code. Code 0 means no promotion, and codes above 4
/// are not used.
const PROMOTIONS: [Option<Piece>; 8] = [
    None,
    Some(Piece::Knight),
    Some(Piece::Bishop),
    Some(Piece::Rook),
    Some(Piece::Queen),
    None,
    None,
    None,
];

/// A move: origin, destination and promotion. Castling is written as the king's move (`e1g1`).
///
/// The low fifteen bits are the same as in a Polyglot book entry (bits 0-5 destination, 6-11
/// origin, 12-14 promotion: 1 knight to 4 queen), so the search, its tables and books share one
/// encoding. Source: <http://hgm.nubati.net/book_format.html>.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Move(NonZeroU16);

impl Move {
    /// The null move, which only changes the side to move. It may occur in a game but is never
    /// legal.
    pub const NULL: Self = Move(MARK);

    /// Whether this is [`Move::NULL`].
    #[inline]
    pub fn is_null(self) -> bool {
        self == Self::NULL
    }

    /// Creates a move without promotion.
    #[inline]
    pub fn new(from: Square, to: Square) -> Self {
        Move(MARK | (from.to_int() as u16) << FROM_SHIFT | to.to_int() as u16)
    }

    /// Creates a promotion to `piece`, which must be a knight, bishop, rook or queen.
    #[inline]
    pub fn promoting(from: Square, to: Square, piece: Piece) -> Self {
        debug_assert!(!matches!(piece, Piece::Pawn | Piece::King));
        Move(Self::new(from, to).0 | (piece.to_index() as u16) << PROMOTION_SHIFT)
    }

    /// Decodes a Polyglot move. Returns `None` if the word is zero or the promotion is invalid.
    pub fn from_polyglot(word: u16) -> Option<Self> {
        let code = word >> PROMOTION_SHIFT;
        (word != 0 && code <= 4).then(|| Move(MARK | word))
    }

    /// Returns the fifteen bits that a Polyglot book entry uses for the move, except that castling
    /// is written as the king's move.
    #[inline]
    pub fn to_polyglot(self) -> u16 {
        self.0.get() & !MARK.get()
    }

    /// Returns the origin square.
    #[inline]
    pub fn from(self) -> Square {
        square(self.0.get() >> FROM_SHIFT)
    }

    /// Returns the destination square.
    #[inline]
    pub fn to(self) -> Square {
        square(self.0.get())
    }

    /// Returns the promotion piece, if any.
    #[inline]
    pub fn promotion(self) -> Option<Piece> {
        PROMOTIONS[(self.0.get() >> PROMOTION_SHIFT & PROMOTION_MASK) as usize]
    }
}

#[inline]
fn square(bits: u16) -> Square {
    chess::ALL_SQUARES[(bits & SQUARE_MASK) as usize]
}

impl From<Move> for ChessMove {
    #[inline]
    fn from(mv: Move) -> Self {
        ChessMove::new(mv.from(), mv.to(), mv.promotion())
    }
}

/// Length of the longest move in UCI notation, such as `e7e8q`.
pub(crate) const UCI_BYTES: usize = 5;
pub(crate) const UCI_NULL: &str = "0000";

impl Move {
    pub(crate) fn uci(self) -> ArrayString<UCI_BYTES> {
        let mut text = ArrayString::new();
        if self.is_null() {
            text.push_str(UCI_NULL);
            return text;
        }
        push_square(&mut text, self.from());
        push_square(&mut text, self.to());
        match self.promotion() {
            Some(Piece::Knight) => text.push('n'),
            Some(Piece::Bishop) => text.push('b'),
            Some(Piece::Rook) => text.push('r'),
            Some(_) => text.push('q'),
            None => {}
        }
        text
    }
}

/// Appends the name of a square. Panics if `text` has no room for it.
pub(super) fn push_square<const BYTES: usize>(text: &mut ArrayString<BYTES>, square: Square) {
    text.push(file_letter(square));
    text.push(rank_digit(square));
}

pub(super) fn file_letter(square: Square) -> char {
    (b'a' + square.get_file().to_index() as u8) as char
}

pub(super) fn rank_digit(square: Square) -> char {
    (b'1' + square.get_rank().to_index() as u8) as char
}

impl fmt::Display for Move {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.uci())
    }
}

impl fmt::Debug for Move {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Move({self})")
    }
}

/// Parses coordinate notation. The promotion letter may be upper or lower case.
impl FromStr for Move {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (from, to, promotion) = match *text.as_bytes() {
            [a, b, c, d] => ([a, b], [c, d], None),
            [a, b, c, d, p] => ([a, b], [c, d], Some(p)),
            _ => return Err(not_a_move()),
        };
        let (from, to) = (parse_square(from)?, parse_square(to)?);
        if from == to {
            return Err(not_a_move());
        }
        match promotion.map(|letter| letter.to_ascii_lowercase()) {
            None => Ok(Move::new(from, to)),
            Some(b'n') => Ok(Move::promoting(from, to, Piece::Knight)),
            Some(b'b') => Ok(Move::promoting(from, to, Piece::Bishop)),
            Some(b'r') => Ok(Move::promoting(from, to, Piece::Rook)),
            Some(b'q') => Ok(Move::promoting(from, to, Piece::Queen)),
            Some(_) => Err(not_a_move()),
        }
    }
}

fn not_a_move() -> ParseError {
    let message = "not a move in coordinate notation (expected something like e2e4 or e7e8q)";
    ParseError(message.to_owned())
}

fn parse_square([file, rank]: [u8; 2]) -> Result<Square, ParseError> {
    match (file, rank) {
        (b'a'..=b'h', b'1'..=b'8') => {
            Ok(chess::ALL_SQUARES[((rank - b'1') * 8 + (file - b'a')) as usize])
        }
        _ => Err(not_a_move()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn option_of_move_takes_two_bytes() {
        assert_eq!(size_of::<Option<Move>>(), 2);
    }

    #[test]
    fn every_move_round_trips_through_text_and_polyglot() {
        for from in chess::ALL_SQUARES {
            for to in chess::ALL_SQUARES.into_iter().filter(|&to| to != from) {
                let pieces = [Piece::Knight, Piece::Bishop, Piece::Rook, Piece::Queen];
                let promotions = pieces.map(|piece| Move::promoting(from, to, piece));
                for mv in promotions.into_iter().chain([Move::new(from, to)]) {
                    assert_eq!(mv.to_string().parse(), Ok(mv));
                    assert_eq!(Move::from_polyglot(mv.to_polyglot()), Some(mv));
                    assert_eq!((mv.from(), mv.to()), (from, to));
                }
            }
        }
    }

    #[test]
    fn invalid_move_text_is_rejected() {
        for text in ["", "e2", "e2e2", "e2e9", "i2e4", "e7e8k", "e7e8qq", "0000", "é2e4"] {
            assert_eq!(text.parse::<Move>(), Err(not_a_move()), "{text}");
        }
    }
}
