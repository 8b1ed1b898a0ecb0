//! Tests of rules, keys and notation in random games. Incrementally updated data is compared with
//! data computed from scratch, and everything is compared with `shakmaty`, an independent
//! implementation.

use std::collections::{BTreeSet, HashMap};

use chess::ALL_SQUARES;
use proptest::prelude::{ProptestConfig, proptest};
use shakmaty::fen::{Epd, Fen};
use shakmaty::san::{San, SanPlus};
use shakmaty::zobrist::Zobrist64;
use shakmaty::{CastlingMode, CastlingSide, Chess, EnPassantMode, Position as _, Role};
use tabia::position::{Color, Game, Move, MoveList, OutcomeReason, Piece, Position, SanError};

use crate::walk::game;

/// The number of random games for each test, and their maximum length in plies.
const GAMES: u32 = 96;
const PLIES: usize = 120;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(GAMES))]

    #[test]
    fn position_round_trips_through_fen(game in game(PLIES)) {
        for position in game.positions() {
            let read = Position::from_fen(&position.fen()).expect("own FEN");
            assert_eq!(read, *position);
            assert_eq!(read.key(), position.key(), "key of {position}");
            assert_eq!(read.pawn_key(), position.pawn_key(), "pawn key of {position}");
            for color in [Color::White, Color::Black] {
                assert_eq!(read.non_pawn_key(color), position.non_pawn_key(color), "{position}");
            }
        }
    }

    #[test]
    fn null_move_updates_keys_correctly(game in game(PLIES)) {
        for passed in game.positions().iter().filter_map(Position::play_null) {
            // If the side to move was in check, the FEN after the null move is invalid, so there is
            // nothing to compare.
            if let Ok(read) = Position::from_fen(&passed.fen()) {
                assert_eq!(read, passed);
            }
        }
    }

    #[test]
    fn positions_match_shakmaty(game in game(PLIES)) {
        for (position, theirs) in game.positions().iter().zip(replay(&game)) {
            for (key, mode) in [
                (position.key(), EnPassantMode::Legal),
                (position.polyglot_key(), EnPassantMode::PseudoLegal),
            ] {
                let expected: Zobrist64 = theirs.zobrist_hash(mode);
                assert_eq!(key, expected.0, "key of {position}");
            }
            let fen = Fen::from_position(&theirs, EnPassantMode::Legal);
            assert_eq!(position.fen(), fen.to_string());
            assert_eq!(position.in_check(), theirs.is_check(), "{position}");
            assert_eq!(position.has_no_moves(), theirs.legal_moves().is_empty(), "{position}");
            assert_eq!(
                position.insufficient_material(),
                theirs.is_insufficient_material(),
                "{position}"
            );
        }
    }

    #[test]
    fn moves_and_san_match_shakmaty(game in game(PLIES)) {
        for (position, theirs) in game.positions().iter().zip(replay(&game)) {
            let expected: BTreeSet<(String, String)> = theirs
                .legal_moves()
                .into_iter()
                .map(|mv| {
                    let coordinates = mv.to_uci(CastlingMode::Standard).to_string();
                    (coordinates, SanPlus::from_move(theirs.clone(), mv).to_string())
                })
                .collect();
            let moves = position.legal_moves();
            let ours: BTreeSet<(String, String)> =
                moves.iter().map(|mv| (mv.to_string(), position.san(mv))).collect();
            assert_eq!(ours, expected, "{position}");
            for (mv, (coordinates, san)) in moves.iter().map(|mv| (mv, texts(position, mv))) {
                assert_eq!(position.parse_san(&san), Ok(mv), "{san} in {position}");
                assert_eq!(position.parse_move(&coordinates), Ok(mv), "{position}");
            }
        }
    }

    #[test]
    fn outcomes_match_shakmaty(game in game(PLIES)) {
        let mut seen = HashMap::new();
        let mut growing = Game::new(*game.start());
        let mut moves = game.moves().iter();
        for theirs in replay(&game) {
            let place = Epd::from_position(&theirs, EnPassantMode::Legal).to_string();
            let times = seen.entry(place).or_insert(0_usize);
            *times += 1;
            assert_eq!(growing.repetitions(), *times, "{}", growing.position());
            assert_eq!(growing.outcome().map(|end| end.reason), reason(&theirs, *times));
            if let Some(&mv) = moves.next() {
                growing.play(mv).expect("a legal move");
            }
        }
    }

    /// With few pieces on the board, Tabia and `shakmaty` agree on which sides have mating
    /// material, without which they cannot win on time.
    #[test]
    fn mating_material_matches_shakmaty(
        pieces in proptest::collection::vec((0..64_usize, 0..10_usize), 0..4),
        kings in (0..64_usize, 0..64_usize),
    ) {
        let mut board = [None; 64];
        for (square, piece) in pieces {
            board[square] = b"PNBRQpnbrq".get(piece).copied();
        }
        board[kings.0] = Some(b'K');
        board[kings.1] = Some(b'k');
        let ranks: Vec<String> = board.chunks(8).map(|rank| {
            rank.iter().map(|piece| piece.map_or('1', char::from)).collect()
        }).collect();
        let fen = format!("{} w - - 0 1", ranks.join("/"));
        let Ok(position) = Position::from_fen(&fen) else { return Ok(()) };
        let theirs: Fen = fen.parse().expect("a FEN");
        let Ok(theirs) = theirs.into_position::<Chess>(CastlingMode::Standard) else { return Ok(()) };
        for (color, their_color) in
            [(Color::White, shakmaty::Color::White), (Color::Black, shakmaty::Color::Black)]
        {
            assert_eq!(position.can_mate(color), !theirs.has_insufficient_material(their_color), "{fen}");
        }
    }

    #[test]
    fn legality_test_matches_move_generation(game in game(PLIES)) {
        for position in game.positions().iter().rev().take(4) {
            check_legality(position);
        }
    }

    #[test]
    fn san_parsing_matches_move_generation(game in game(PLIES)) {
        for position in game.positions().iter().rev().take(4) {
            check_san_parsing(position);
        }
    }

    #[test]
    fn undo_restores_positions(game in game(PLIES)) {
        let mut shrinking = game.clone();
        for (&mv, position) in game.moves().iter().zip(game.positions()).rev() {
            assert_eq!(shrinking.undo(), Some(mv));
            assert_eq!(shrinking.position(), position);
        }
        assert_eq!(shrinking.undo(), None);
    }
}

/// Positions in which legality is hard to decide. They contain en passant captures (legal, pinned
/// along the rank, and in response to a check), castling (in check, through check, into check, and
/// with an attacked rook), double checks and pinned promotions.
const SPECIAL_POSITIONS: [&str; 11] = [
    "rnbqkbnr/ppp1pppp/8/2PpP3/8/8/PP1P1PPP/RNBQKBNR w KQkq d6 0 4",
    "8/8/8/K1Pp3r/8/8/8/4k3 w - d6 0 1",
    "8/8/8/2k5/3Pp3/8/8/4K2B b - d3 0 1",
    "4k3/8/6b1/8/3pP3/8/2K5/8 b - e3 0 1",
    "r3k2r/8/8/8/4r3/8/8/R3K2R w KQkq - 0 1",
    "r3k2r/8/8/8/5r2/8/8/R3K2R w KQkq - 0 1",
    "r3k2r/8/8/8/1r4r1/8/8/R3K2R w KQkq - 0 1",
    "r3k2r/8/8/8/2r5/7n/8/R3K2R w KQkq - 0 1",
    "4k3/8/8/8/1b2r3/8/3P4/R3K2R w KQ - 0 1",
    "4k3/8/8/8/8/3n4/4r3/R3K2R w KQ - 0 1",
    "1n1rk3/P1P1P3/8/b7/8/8/8/4K3 w - - 0 1",
];

#[test]
fn legality_test_matches_move_generation_in_special_positions() {
    for fen in SPECIAL_POSITIONS {
        check_legality(&Position::from_fen(fen).expect(fen));
    }
}

#[test]
fn san_parsing_matches_move_generation_in_special_positions() {
    for fen in SPECIAL_POSITIONS {
        check_san_parsing(&Position::from_fen(fen).expect(fen));
    }
}

/// Parses all SAN moves without an origin rank, whether possible or not, and compares the results
/// with the legal moves.
fn check_san_parsing(position: &Position) {
    for san in all_sans() {
        let text = san.to_string();
        assert_eq!(position.parse_san(&text), expected_move(position, san), "{san} in {position}");
    }
    for mv in position.legal_moves().iter() {
        let text = position.san(mv);
        assert_eq!(position.parse_san(&text), Ok(mv), "{text} in {position}");
    }
}

fn expected_move(position: &Position, san: San) -> Result<Move, SanError> {
    let fits = |mv: Move| match san {
        San::Castle(side) => {
            let is_short = mv.to() > mv.from();
            position.is_castling(mv) && is_short == (side == CastlingSide::KingSide)
        }
        San::Normal { role, file, capture, to, promotion, .. } => {
            let piece = position.piece_on(mv.from());
            let piece_of = |role: Role| chess::ALL_PIECES[usize::from(role) - 1];
            !position.is_castling(mv)
                && piece == Some(piece_of(role))
                && file.is_none_or(|file| usize::from(file) == mv.from().get_file().to_index())
                && usize::from(to) == mv.to().to_index()
                && promotion.map(piece_of) == mv.promotion()
                && (role != Role::Pawn || capture == position.is_capture(mv))
        }
        _ => false,
    };
    let legal = position.legal_moves();
    match *legal.iter().filter(|&mv| fits(mv)).collect::<Vec<_>>() {
        [] if san == San::Null => Err(SanError::Null),
        [] => Err(SanError::Illegal),
        [mv] => Ok(mv),
        _ => Err(SanError::Ambiguous),
    }
}

fn check_legality(position: &Position) {
    let generated = position.legal_moves();
    for mv in all_moves() {
        assert_eq!(position.is_legal(mv), generated.contains(mv), "{mv} in {position}");
    }
    let mut noisy = MoveList::new();
    position.noisy_moves(&mut noisy);
    for mv in generated.iter() {
        assert_eq!(position.is_noisy(mv), noisy.contains(mv), "{mv} in {position}");
    }
}

/// Returns SAN moves with every combination of piece, origin file, capture, destination and
/// promotion, as well as castling and a null move.
fn all_sans() -> impl Iterator<Item = San> {
    let files = || shakmaty::File::ALL.into_iter().map(Some).chain([None]);
    let normal = Role::ALL.into_iter().flat_map(move |role| {
        files().flat_map(move |file| {
            shakmaty::Square::ALL.into_iter().flat_map(move |to| {
                let promotions = [None, Some(Role::Knight), Some(Role::King)];
                let captures = promotions.map(|promotion| [(promotion, false), (promotion, true)]);
                captures.into_iter().flatten().map(move |(promotion, capture)| San::Normal {
                    role,
                    file,
                    rank: None,
                    capture,
                    to,
                    promotion,
                })
            })
        })
    });
    let castling = [CastlingSide::KingSide, CastlingSide::QueenSide];
    normal.chain(castling.map(San::Castle)).chain([San::Null])
}

fn replay(game: &Game) -> Vec<Chess> {
    let start: Fen = game.start().fen().parse().expect("own FEN");
    let mut position: Chess = start.into_position(CastlingMode::Standard).expect("legal");
    let mut positions = vec![position.clone()];
    for mv in game.moves() {
        let uci: shakmaty::uci::UciMove = mv.to_string().parse().expect("coordinates");
        position.play_unchecked(uci.to_move(&position).expect("legal"));
        positions.push(position.clone());
    }
    positions
}

fn texts(position: &Position, mv: Move) -> (String, String) {
    (mv.to_string(), position.san(mv))
}

/// Returns the reason why a game is over that has reached `position` for the `times`-th time, or
/// `None` if it is not over. If several reasons apply, Tabia's order of precedence is used.
fn reason(position: &Chess, times: usize) -> Option<OutcomeReason> {
    if position.is_checkmate() {
        Some(OutcomeReason::Checkmate)
    } else if position.is_stalemate() {
        Some(OutcomeReason::Stalemate)
    } else if position.is_insufficient_material() {
        Some(OutcomeReason::InsufficientMaterial)
    } else if position.halfmoves() >= 100 {
        Some(OutcomeReason::FiftyMoves)
    } else {
        (times >= 3).then_some(OutcomeReason::Repetition)
    }
}

fn all_moves() -> impl Iterator<Item = Move> {
    const PROMOTIONS: [Piece; 4] = [Piece::Knight, Piece::Bishop, Piece::Rook, Piece::Queen];
    let squares = || ALL_SQUARES.into_iter();
    let pairs = squares().flat_map(move |from| squares().map(move |to| (from, to)));
    pairs.flat_map(|(from, to)| {
        let promotions = PROMOTIONS.map(|piece| Move::promoting(from, to, piece));
        promotions.into_iter().chain([Move::new(from, to)])
    })
}
