//! Tests that text which is not a valid position is rejected with a one-line error message and
//! without a panic.

use std::fs;

use proptest::collection::vec;
use proptest::prelude::{ProptestConfig, Strategy, any, prop, proptest};
use shakmaty::fen::Fen;
use shakmaty::{CastlingMode, Chess, PositionError};
use tabia::position::{Position, perft};

use crate::support::shared_data;

const HOSTILE: [(&str, &str); 22] = [
    ("", "found nothing"),
    ("startpos", "found 1 field"),
    ("4k3/8/8/8/8/8/8/4K3 w - - 0 1 extra", "fields"),
    ("rnbqkbnr.pppppppp.8.8.8.8.PPPPPPPP.RNBQKBNR w KQkq - 0 1", "ranks"),
    ("4k3/8/8/8/8/8/4K3 w - - 0 1", "ranks"),
    ("4k3/8/8/8/8/8/8/8/4K3 w - - 0 1", "ranks"),
    ("4k4/8/8/8/8/8/8/4K3 w - - 0 1", "board"),
    ("4k2/8/8/8/8/8/8/4K3 w - - 0 1", "board"),
    ("4k3/8/8/8/8/8/8/4K0R2 w - - 0 1", "board"),
    ("4k3/8/8/8/8/8/8/4K3[Qq] w - - 0 1", "board"),
    ("4k3/8/8/8/8/8/8/Q~3K3 w - - 0 1", "board"),
    ("4k3/8/8/8/8/8/8/4X3 w - - 0 1", "board"),
    ("4k3/8/8/8/8/8/8/4K3 W - - 0 1", "side to move"),
    ("4k3/8/8/8/8/8/8/4K3 w KQx - 0 1", "castling"),
    ("4k3/8/8/8/8/8/8/4K3 w - e 0 1", "en passant"),
    ("4k3/8/8/8/8/8/8/4K3 w - - -1 1", "halfmove"),
    ("4k3/8/8/8/8/8/8/4K3 w - - 0 one", "move number"),
    ("4k3/8/8/8/8/8/8/4K3 w - - 3+3 0", "halfmove"),
    ("4k3/8/8/8/8/8/8/4K3 w - - 0_1", "halfmove"),
    ("4k3/8/8/8/8/8/4r3/4K3 b - - 0 1", "not to move is in check"),
    ("qqqqkqqq/qqqqqqqq/7q/8/8/8/QQQQQQQQ/QQQQKQQQ w - - 0 1", "17 pieces"),
    ("rnbqkbnr/ppppNNpp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", "18 pieces"),
];

#[test]
fn errors_name_the_fault_of_a_fen() {
    for (text, word) in HOSTILE {
        let error = Position::from_fen(text).expect_err(text).to_string();
        assert!(error.contains(word), "{text}: {error}");
    }
}

#[test]
fn white_space_and_large_counters_are_accepted() {
    for (text, fen) in [
        ("  4k3/8/8/8/8/8/8/4K3\tw  -  -  3  9 \r\n", "4k3/8/8/8/8/8/8/4K3 w - - 3 9"),
        ("4k3/8/8/8/8/8/8/4K3 w - - 99999999999 0", "4k3/8/8/8/8/8/8/4K3 w - - 9999 1"),
    ] {
        assert_eq!(Position::from_fen(text).expect(text).fen(), fen);
    }
}

#[test]
fn file_of_hostile_fens_does_not_panic() {
    let Some(path) = shared_data("epd/destructive.epd") else { return };
    let text = fs::read_to_string(path).expect("the set is text");
    let (mut sound, mut refused) = (0, 0);
    for line in text.lines() {
        parse_without_panic(line);
        let (fen, remark) = line.split_once(';').unwrap_or((line, ""));
        let fen = fen.split(" bm ").next().unwrap_or_default();
        let accepted = parse_without_panic(fen);
        // Some positions have more pieces than promotions allow. The author of the suite leaves it
        // open whether to accept them.
        let left_open = remark.contains("if engine can handle");
        if remark.contains("epd should be OK") {
            assert!(accepted, "refused: {line}");
            sound += 1;
        }
        let is_rejected = remark.ends_with("cull") && !left_open;
        if remark.contains("bad EPD") || remark.contains("garbage") || is_rejected {
            assert!(!accepted, "accepted: {line}");
            refused += 1;
        }
    }
    assert_eq!((sound, refused), (16, 73));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn arbitrary_text_does_not_panic(text in any::<String>()) {
        parse_without_panic(&text);
    }

    #[test]
    fn damaged_fens_do_not_panic(text in damaged()) {
        parse_without_panic(&text);
    }

    #[test]
    fn random_boards_are_rejected_or_match_shakmaty(text in random_board()) {
        if parse_without_panic(&text) {
            let ours = perft(&Position::from_fen(&text).expect("accepted"), 2);
            let fen: Fen = text.parse().expect("accepted");
            let theirs: Chess = fen
                .into_position(CastlingMode::Standard)
                .or_else(PositionError::ignore_impossible_check)
                .or_else(PositionError::ignore_too_much_material)
                .expect("accepted");
            assert_eq!(ours, shakmaty::perft(&theirs, 2), "{text}");
        }
    }

    #[test]
    fn boards_full_of_queens_match_shakmaty(text in all_pieces()) {
        if let Ok(position) = Position::from_fen(&text) {
            let moves = position.legal_moves();
            let after = moves.iter().map(|mv| position.play(mv));
            for position in after.chain([position]) {
                assert_move_count_matches(&position);
            }
        }
    }

    #[test]
    fn arbitrary_move_text_does_not_panic(text in "[ -~]{0,8}", other in any::<String>()) {
        for position in [Position::start(), castling_and_promotion()] {
            for text in [&text, &other] {
                if let Ok(mv) = position.parse_move(text) {
                    assert!(position.is_legal(mv), "{text}");
                }
            }
        }
    }
}

const SHAKMATY_MOVES: u64 = 256;

fn assert_move_count_matches(position: &Position) {
    let ours = perft(position, 1);
    if ours > SHAKMATY_MOVES {
        return;
    }
    let fen: Fen = position.fen().parse().expect("own FEN");
    let theirs: Chess = fen
        .into_position(CastlingMode::Standard)
        .or_else(PositionError::ignore_impossible_check)
        .or_else(PositionError::ignore_too_much_material)
        .expect("accepted");
    assert_eq!(ours, shakmaty::perft(&theirs, 1), "{position}");
}

fn castling_and_promotion() -> Position {
    let fen = "r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1";
    Position::from_fen(fen).expect(fen)
}

/// Parses text as a FEN, and returns whether it was accepted. Checks that moves can be generated in
/// an accepted position, and that a rejection has a one-line message.
fn parse_without_panic(text: &str) -> bool {
    match Position::from_fen(text) {
        Ok(position) => {
            let again = Position::from_fen(&position.fen()).expect("own FEN");
            assert_eq!(again, position, "{text}");
            perft(&position, 2);
            true
        }
        Err(error) => {
            let message = error.to_string();
            assert!(!message.contains('\n') && message.len() > "invalid FEN: ".len(), "{text}");
            false
        }
    }
}

fn damaged() -> impl Strategy<Value = String> {
    let alphabet = prop::sample::select(b"pnbrqkPNBRQK12345678/ -wbKQkqa3e6h09_[]~+".to_vec());
    vec((any::<prop::sample::Index>(), alphabet), 1..4).prop_map(|changes| {
        let mut bytes = castling_and_promotion().fen().into_bytes();
        for (index, byte) in changes {
            let at = index.index(bytes.len());
            bytes[at] = byte;
        }
        String::from_utf8(bytes).expect("ASCII")
    })
}

/// What a square of a random board may contain. Empty squares are by far the most likely.
const SQUARES: &[u8] = b"........................................pnbrqPNBRQ";

/// Returns FENs with two kings and random pieces. Most are rejected, and the others are unusual
/// positions.
fn random_board() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(SQUARES.to_vec());
    (vec(piece, 64), 0..64_usize, 0..64_usize, any::<bool>()).prop_map(
        |(mut pieces, own, their, turn)| {
            pieces[own] = b'K';
            pieces[their] = b'k';
            let ranks: Vec<String> = pieces
                .chunks(8)
                .map(|rank| String::from_utf8_lossy(rank).replace('.', "1"))
                .collect();
            format!("{} {} - - 0 1", ranks.join("/"), if turn { 'w' } else { 'b' })
        },
    )
}

/// Returns FENs with up to fifteen pieces per side besides the kings, most of them queens. The king
/// of the side not to move is in a corner behind rooks, because it would otherwise nearly always be
/// in check, which is illegal.
fn all_pieces() -> impl Strategy<Value = String> {
    const KINDS: &[u8] = b"qqqqqqqqrbnp";
    const CORNER: [(usize, u8); 4] = [(0, b'K'), (1, b'R'), (8, b'R'), (9, b'R')];
    let pieces = |most: usize| vec(prop::sample::select(KINDS.to_vec()), 0..=most);
    let squares = prop::sample::subsequence((10..64_usize).collect::<Vec<_>>(), 28).prop_shuffle();
    (squares, pieces(12), pieces(15), any::<bool>()).prop_map(|(squares, waiting, moving, turn)| {
        let mut board = [b'1'; 64];
        CORNER.into_iter().for_each(|(square, piece)| board[square] = piece);
        let waiting = waiting.iter().map(u8::to_ascii_uppercase);
        let pieces = [b'k'].into_iter().chain(moving).chain(waiting);
        squares.into_iter().zip(pieces).for_each(|(square, piece)| board[square] = piece);
        if turn {
            board
                .iter_mut()
                .filter(|piece| piece.is_ascii_alphabetic())
                .for_each(|piece| *piece ^= 0x20);
        }
        let ranks: Vec<String> =
            board.chunks(8).map(|rank| String::from_utf8_lossy(rank).into_owned()).collect();
        format!("{} {} - - 0 1", ranks.join("/"), if turn { 'w' } else { 'b' })
    })
}
