//! Parses FEN strictly, and formats it.
//!
//! `chess::Board` accepts invalid FENs, some of which corrupt memory, for example if one side has
//! more than sixteen pieces. Therefore, `shakmaty` first parses and validates every FEN. Each side
//! may have up to sixteen pieces, including one king and at most eight pawns. It may have more
//! promoted pieces than missing pawns, as in some composed problems.

use std::fmt;
use std::str::FromStr;

use super::Position;
use crate::support::error::ParseError;
use crate::support::words::{is_space, split_words};
use chess::{Board, BoardBuilder, CastleRights, Color, File, Piece, Square};
use shakmaty::fen::{Fen, ParseFenError};
use shakmaty::{
    CastlingMode, Chess, EnPassantMode, FromSetup, PositionError, PositionErrorKinds, Setup,
};

const FAULTS: [(PositionErrorKinds, &str); 7] = [
    (PositionErrorKinds::EMPTY_BOARD, "the board is empty"),
    (PositionErrorKinds::MISSING_KING, "a king is missing"),
    (PositionErrorKinds::TOO_MANY_KINGS, "a side has more than one king"),
    (PositionErrorKinds::PAWNS_ON_BACKRANK, "a pawn is on the first or last rank"),
    (
        PositionErrorKinds::INVALID_CASTLING_RIGHTS,
        "castling rights require king and rook on their original squares",
    ),
    (PositionErrorKinds::INVALID_EP_SQUARE, "no pawn has just passed the en passant square"),
    (PositionErrorKinds::OPPOSITE_CHECK, "the side that is not to move is in check"),
];

/// The maximum number of pieces per side. With more pieces, the move lists of the `chess` crate and
/// of this module could overflow (see [`super::MAX_MOVES`]).
const MAX_PIECES: usize = 16;
const MAX_PAWNS: usize = 8;

type Repair = fn(PositionError<Chess>) -> Result<Chess, PositionError<Chess>>;

const NOT_PLAYED: &str = "which Tabia does not support";

/// Maximum value of a FEN counter. Larger values, which no real game reaches, are capped.
const MAX_COUNTER: u32 = 9_999;

/// Initial capacity of the text of a FEN, in bytes. It is enough for every position without its
/// counters.
const USUAL_FEN_BYTES: usize = 96;

impl Position {
    /// Parses a FEN. The two counters at the end are optional, as in EPD.
    ///
    /// Two kinds of unreachable positions are also accepted, because they occur in problems and
    /// test suites: positions with an impossible check, and positions with more promoted pieces
    /// than missing pawns.
    ///
    /// # Errors
    /// If the text is malformed, if the position is otherwise illegal, or if a side has more than
    /// sixteen pieces or more than eight pawns.
    pub fn from_fen(text: &str) -> Result<Self, ParseError> {
        let fields: Vec<&str> = split_words(text).collect();
        if !(4..=6).contains(&fields.len()) {
            let found = match fields.len() {
                0 => "nothing".to_owned(),
                1 => "1 field".to_owned(),
                number => format!("{number} fields"),
            };
            return Err(invalid(&format!(
                "expected board, side to move, castling, en passant and two counters, found {found}"
            )));
        }
        check_board(fields[0])?;
        // Reject underscores, because `shakmaty` treats them as field separators, which would shift
        // the fields.
        if let Some(field) = fields[1..4].iter().find(|field| field.contains('_')) {
            return Err(invalid(&format!("unexpected '_' in {field:?}")));
        }
        for (field, name) in fields[4..].iter().zip(["halfmove clock", "move number"]) {
            if !field.bytes().all(|byte| byte.is_ascii_digit()) {
                return Err(invalid(&format!("the {name} must be a number")));
            }
        }
        let fen: Fen = fields.join(" ").parse().map_err(|error| invalid(&words_for(error)))?;
        let setup = fen.into_setup();
        // Reject duplicate castling rights, which are probably typos for other rights.
        if fields[2] != "-" && setup.castling_rights.count() != fields[2].len() {
            return Err(invalid("castling names a right more than once"));
        }
        Self::from_setup(setup, &[])
    }

    /// Reads a FEN leniently, like the Lichess opening explorer.
    ///
    /// Drops castling rights and en passant squares that are impossible in the position, fills in
    /// missing fields (White to move, no castling, `- 0 1`), and treats underscores as spaces.
    pub(crate) fn from_fen_repaired(text: &str) -> Result<Self, ParseError> {
        let separates = |letter: char| is_space(letter) || letter == '_';
        let fields: Vec<&str> = text.split(separates).filter(|field| !field.is_empty()).collect();
        check_board(fields.first().copied().unwrap_or_default())?;
        let fen: Fen = fields.join(" ").parse().map_err(|error| invalid(&words_for(error)))?;
        let repairs: [Repair; 2] = [
            PositionError::ignore_invalid_castling_rights,
            PositionError::ignore_invalid_ep_square,
        ];
        Self::from_setup(fen.into_setup(), &repairs)
    }

    /// Like [`Position::from_fen`], but for FENs from programs that may play Chess960.
    ///
    /// Rejects positions that are legal only in Chess960. Also rejects castling rights given as the
    /// files of the rooks (`HAha`), because programs that write them also write castling moves in
    /// Chess960 notation.
    pub(crate) fn from_orthodox_fen(text: &str) -> Result<Self, ParseError> {
        let castling = split_words(text).nth(2).unwrap_or_default();
        let names_file = |letter: char| ('a'..='h').contains(&letter.to_ascii_lowercase());
        if castling.chars().any(names_file) {
            let why = format!("castling rights {castling:?} are those of Chess960, {NOT_PLAYED}");
            return Err(invalid(&why));
        }
        Self::from_fen(text).map_err(|error| match is_chess960(text) {
            true => ParseError(format!("{error}; it is legal only in Chess960, {NOT_PLAYED}")),
            false => error,
        })
    }

    /// Validates a setup. If it is invalid, applies the `repairs` in order until it is valid.
    fn from_setup(setup: Setup, repairs: &[Repair]) -> Result<Self, ParseError> {
        check_pieces(&setup.board)?;
        let counters = (setup.halfmoves, u32::from(setup.fullmoves));
        let mut judged = Chess::from_setup(setup, CastlingMode::Standard)
            .or_else(PositionError::ignore_impossible_check)
            .or_else(PositionError::ignore_too_much_material);
        for &repair in repairs {
            judged = judged.or_else(repair);
        }
        let judged = judged.map_err(|error| {
            let kinds = error.kinds();
            let faults: Vec<&str> = FAULTS
                .iter()
                .filter_map(|&(kind, words)| kinds.contains(kind).then_some(words))
                .collect();
            invalid(&faults.join("; "))
        })?;
        let legal = shakmaty::Position::to_setup(&judged, EnPassantMode::PseudoLegal);
        let board = board_of(&legal)?;
        let cut = |counter: u32| counter.min(MAX_COUNTER) as u16;
        Ok(Self::from_board(board, cut(counters.0), cut(counters.1)))
    }

    /// Returns the FEN, which contains an en passant square only if a pawn can legally capture
    /// there.
    pub fn fen(&self) -> String {
        self.to_string()
    }

    /// Returns the first four fields of the FEN, which describe the position without its counters.
    pub fn epd(&self) -> String {
        let mut text = placement(self);
        text.push_str(if self.side_to_move() == Color::White { " w " } else { " b " });
        text.push_str(&castling(self));
        text.push(' ');
        match self.en_passant_target() {
            Some(square) => text.push_str(&square.to_string()),
            None => text.push('-'),
        }
        text
    }
}

/// Returns true if a FEN that is invalid in orthodox chess is a valid Chess960 position.
pub(crate) fn is_chess960(fen: &str) -> bool {
    let Ok(fen) = fen.parse::<Fen>() else { return false };
    Chess::from_setup(fen.into_setup(), CastlingMode::Chess960).is_ok()
}

/// Rejects board syntax that `shakmaty` accepts for chess variants: pockets, promoted-piece
/// markers, and a ninth rank.
fn check_board(board: &str) -> Result<(), ParseError> {
    let ranks = board.split('/').count();
    if ranks != 8 {
        return Err(invalid(&format!("expected 8 ranks on the board, found {ranks}")));
    }
    let is_known = |letter: char| {
        matches!(letter.to_ascii_lowercase(), 'p' | 'n' | 'b' | 'r' | 'q' | 'k' | '1'..='8' | '/')
    };
    match board.chars().find(|&letter| !is_known(letter)) {
        Some(letter) => Err(invalid(&format!("unexpected {letter:?} on the board"))),
        None => Ok(()),
    }
}

fn check_pieces(board: &shakmaty::Board) -> Result<(), ParseError> {
    for pieces in shakmaty::Color::ALL.map(|color| board.by_color(color)) {
        let fault = match (pieces.count(), (pieces & board.pawns()).count()) {
            (count, _) if count > MAX_PIECES => format!("{count} pieces, more than {MAX_PIECES}"),
            (_, pawns) if pawns > MAX_PAWNS => format!("{pawns} pawns, more than {MAX_PAWNS}"),
            _ => continue,
        };
        return Err(invalid(&format!("a side has {fault}")));
    }
    Ok(())
}

fn invalid(reason: &str) -> ParseError {
    ParseError(format!("invalid FEN: {reason}"))
}

fn words_for(error: ParseFenError) -> String {
    match error {
        ParseFenError::InvalidBoard => "a rank of the board does not have 8 squares",
        ParseFenError::InvalidTurn => "the side to move must be w or b",
        ParseFenError::InvalidCastling => "castling must be - or some of KQkq",
        ParseFenError::InvalidEpSquare => "en passant must be - or a square",
        other => return other.to_string(),
    }
    .to_owned()
}

/// Converts a setup that `shakmaty` has validated into a board of the `chess` crate.
fn board_of(setup: &Setup) -> Result<Board, ParseError> {
    let mut builder = BoardBuilder::new();
    for (square, standing) in &setup.board {
        let piece = chess::ALL_PIECES[usize::from(standing.role) - 1];
        builder.piece(chess::ALL_SQUARES[usize::from(square)], piece, color_of(standing.color));
    }
    builder.side_to_move(color_of(setup.turn));
    for color in [shakmaty::Color::White, shakmaty::Color::Black] {
        let rank = color.backrank();
        let has = |file| setup.castling_rights.contains(shakmaty::Square::from_coords(file, rank));
        let rights = match (has(shakmaty::File::H), has(shakmaty::File::A)) {
            (true, true) => CastleRights::Both,
            (true, false) => CastleRights::KingSide,
            (false, true) => CastleRights::QueenSide,
            (false, false) => CastleRights::NoRights,
        };
        builder.castle_rights(color_of(color), rights);
    }
    builder.en_passant(setup.ep_square.map(|square| File::from_index(usize::from(square.file()))));
    Board::try_from(&builder).map_err(|_| invalid("this position cannot be set up"))
}

fn color_of(color: shakmaty::Color) -> Color {
    match color {
        shakmaty::Color::White => Color::White,
        shakmaty::Color::Black => Color::Black,
    }
}

fn placement(position: &Position) -> String {
    let mut text = String::with_capacity(USUAL_FEN_BYTES);
    for rank in (0..8).rev() {
        let mut empty = 0;
        for file in 0..8 {
            match letter(position, chess::ALL_SQUARES[rank * 8 + file]) {
                None => empty += 1,
                Some(letter) => {
                    push_count(&mut text, std::mem::take(&mut empty));
                    text.push(letter);
                }
            }
        }
        push_count(&mut text, empty);
        if rank > 0 {
            text.push('/');
        }
    }
    text
}

fn push_count(text: &mut String, empty: u32) {
    text.extend((empty > 0).then(|| char::from_digit(empty, 10)).flatten());
}

fn letter(position: &Position, square: Square) -> Option<char> {
    let letter = match position.piece_on(square)? {
        Piece::Pawn => 'p',
        Piece::Knight => 'n',
        Piece::Bishop => 'b',
        Piece::Rook => 'r',
        Piece::Queen => 'q',
        Piece::King => 'k',
    };
    let white = position.board().color_on(square) == Some(Color::White);
    Some(if white { letter.to_ascii_uppercase() } else { letter })
}

fn castling(position: &Position) -> String {
    let mut text = String::new();
    for (color, letters) in [(Color::White, ['K', 'Q']), (Color::Black, ['k', 'q'])] {
        let rights = position.castle_rights(color);
        text.extend(rights.has_kingside().then_some(letters[0]));
        text.extend(rights.has_queenside().then_some(letters[1]));
    }
    if text.is_empty() { "-".to_owned() } else { text }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.epd(), self.halfmove_clock(), self.fullmove_number())
    }
}

impl fmt::Debug for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Position({self})")
    }
}

impl FromStr for Position {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Position::from_fen(text)
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn fen_round_trips() {
        for fen in [
            "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
            "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R b Kq - 3 17",
            "4k3/8/8/8/3pP3/8/8/4K3 b - e3 0 1",
            "8/8/8/8/8/8/6k1/4K2R w K - 99 120",
        ] {
            assert_eq!(Position::from_fen(fen).expect(fen).fen(), fen);
        }
        assert_eq!(
            Position::start().fen(),
            "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
        );
    }

    #[test]
    fn counters_are_optional() {
        let position = Position::from_fen("4k3/8/8/8/8/8/8/4K3 w - -").expect("an EPD");
        assert_eq!(position.fen(), "4k3/8/8/8/8/8/8/4K3 w - - 0 1");
    }

    #[test]
    fn unusable_en_passant_square_is_dropped() {
        let fen = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 1";
        let position = Position::from_fen(fen).expect(fen);
        assert_eq!(position.en_passant_target(), None);
        assert!(position.fen().contains(" KQkq - 0 1"));
    }

    #[test]
    fn underscore_is_rejected_as_separator() {
        for fields in ["w KQ _", "w KQ _-", "_w KQ -", "w_KQ - -", "w KQ_- 0"] {
            let fen = format!("4k3/8/8/8/8/8/8/R3K2R {fields} 0 1");
            let error = Position::from_fen(&fen).expect_err(&fen).to_string();
            assert!(error.contains("'_'"), "{fen}: {error}");
        }
    }

    proptest! {
        #[test]
        fn impossible_castling_and_en_passant_rights_are_dropped(
            choices in vec(any::<usize>(), 0..60), claimed in 0_u8..16, square in 0_u32..64,
        ) {
            let position = choices.iter().fold(Position::start(), |position, choice| {
                let moves: Vec<_> = position.legal_moves().iter().collect();
                if moves.is_empty() { position } else { position.play(moves[choice % moves.len()]) }
            });
            let fields: Vec<String> = position.fen().split(' ').map(str::to_owned).collect();
            let castling: String =
                "KQkq".chars().enumerate().filter(|(bit, _)| claimed >> bit & 1 == 1).map(|(_, side)| side).collect();
            let castling = if castling.is_empty() { "-".to_owned() } else { castling };
            let square = shakmaty::Square::new(square);
            let space = ["_", "\u{a0}", "\u{2009}\u{2003}", " \t"][choices.len() % 4];
            let text = [&fields[0], &fields[1], &castling, &square.to_string()].map(String::as_str).join(space);
            let repaired = Position::from_fen_repaired(&text).expect(&text);
            let found: Vec<String> = repaired.fen().split(' ').map(str::to_owned).collect();
            prop_assert_eq!(&found[..2], &fields[..2]);
            // Castling rights and en passant squares that are kept must be legal and must occur in
            // the text.
            prop_assert_eq!(Position::from_fen(&repaired.fen()).expect("legal").key(), repaired.key());
            prop_assert!(found[2] == "-" || found[2].chars().all(|side| castling.contains(side)));
            prop_assert!(found[3] == "-" || found[3] == square.to_string());
            for (side, king, rook) in [('K', "e1", "h1"), ('Q', "e1", "a1"), ('k', "e8", "h8"), ('q', "e8", "a8")] {
                let stands = |square: &str, wanted: char| {
                    letter(&repaired, square.parse().expect("a square")) == Some(wanted)
                };
                let [own_king, own_rook] = if side.is_uppercase() { ['K', 'R'] } else { ['k', 'r'] };
                let is_due = castling.contains(side) && stands(king, own_king) && stands(rook, own_rook);
                prop_assert_eq!(found[2].contains(side), is_due, "{}", text);
            }
        }
    }

    #[test]
    fn each_illegal_position_has_its_own_error() {
        for (fen, words) in [
            ("", "found nothing"),
            ("startpos", "found 1 field"),
            ("8/8/8/8/8/8/8/8 w - - 0 1", "the board is empty"),
            ("8/8/8/8/8/8/8/K7 w - - 0 1", "a king is missing"),
            ("kk6/8/8/8/8/8/8/K7 w - - 0 1", "more than one king"),
            ("k6P/8/8/8/8/8/8/K7 w - - 0 1", "first or last rank"),
            ("4k3/8/8/8/8/8/8/4K3 w K - 0 1", "castling rights"),
            ("4k3/8/8/8/8/8/8/4K3 w - e6 0 1", "en passant"),
            ("4k3/8/8/8/8/8/4R3/4K3 w - - 0 1", "not to move is in check"),
            ("4k3/pppppppp/p7/8/8/8/8/4K3 w - - 0 1", "9 pawns"),
            ("nnnnknnn/nnnnnnnn/n7/8/8/8/8/4K3 w - - 0 1", "17 pieces"),
            ("4k3/8/8/8/8/8/8/R3K2R w KKQQ - 0 1", "more than once"),
            ("4k4/8/8/8/8/8/8/4K3 w - - 0 1", "board"),
            ("4k3/8/8/8/8/8/4K3 w - - 0 1", "board"),
            ("4k3/8/8/8/8/8/8/8/4K3 w - - 0 1", "board"),
            ("4k3/8/8/8/8/8/8/4K3 x - - 0 1", "side to move"),
            ("4k3/8/8/8/8/8/8/4K3 w - - x 1", "halfmove"),
        ] {
            let error = Position::from_fen(fen).expect_err(fen).to_string();
            assert!(error.contains(words), "{fen}: {error}");
        }
    }
}
