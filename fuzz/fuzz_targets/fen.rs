//! Parses arbitrary text as FEN. Tabia must accept the text if and only if an independent check
//! based on `cozy-chess` accepts it. Accepted positions must round-trip, and their key, moves and
//! notation must match `shakmaty`.

#![no_main]

use cozy_chess::{Board, Color, Piece, get_king_moves};
use tabia::fuzz::words;
use tabia::position::Position;
use tabia_fuzz::{agree, fuzz_target, seed, theirs};

/// Returns true if the text is a valid FEN. The move counters may be missing.
fn is_position(text: &str) -> bool {
    let fields = words(text);
    let [board, turn, castling, en_passant, counters @ ..] = &fields[..] else { return false };
    let is_number = |field: &&str| field.bytes().all(|byte| byte.is_ascii_digit());
    // Checked separately, because `cozy-chess` treats missing ranks as empty and accepts the digit
    // 0.
    let eight_ranks = board.split('/').count() == 8 && !board.contains('0');
    if counters.len() > 2 || !counters.iter().all(is_number) || !eight_ranks {
        return false;
    }
    let board = Board::from_fen(&format!("{board} {turn} - - 0 1"), false);
    board.is_ok_and(|board| {
        // `cozy-chess` allows adjacent kings.
        let apart = !get_king_moves(board.king(Color::White)).has(board.king(Color::Black));
        apart && may_castle(&board, castling) && may_have_passed(&board, en_passant)
    })
}

/// Returns true if no castling right is given twice and the king and rook of each right are on
/// their original squares. Rights may also be given as in Shredder-FEN, by the files of the rooks.
fn may_castle(board: &Board, rights: &str) -> bool {
    let has_piece = |square: &str, piece, color| {
        let square = square.parse().expect("a square");
        board.piece_on(square) == Some(piece) && board.color_on(square) == Some(color)
    };
    let mut named = Vec::new();
    let is_right = |letter| {
        let (king, rook, color) = match letter {
            'K' | 'H' => ("e1", "h1", Color::White),
            'Q' | 'A' => ("e1", "a1", Color::White),
            'k' | 'h' => ("e8", "h8", Color::Black),
            'q' | 'a' => ("e8", "a8", Color::Black),
            _ => return false,
        };
        let again = named.contains(&rook);
        named.push(rook);
        !again && has_piece(king, Piece::King, color) && has_piece(rook, Piece::Rook, color)
    };
    rights == "-" || rights.chars().all(is_right)
}

/// Returns true if the last move could have been a pawn's double step over this en passant square.
fn may_have_passed(board: &Board, square: &str) -> bool {
    if square == "-" {
        return true;
    }
    let Ok(passed) = square.parse::<cozy_chess::Square>() else { return false };
    let (mover, rank, step) = match board.side_to_move() {
        Color::White => (Color::Black, cozy_chess::Rank::Sixth, -1),
        Color::Black => (Color::White, cozy_chess::Rank::Third, 1),
    };
    if passed.rank() != rank {
        return false;
    }
    let (from, to) = (passed.offset(0, -step), passed.offset(0, step));
    let is_empty = |square| board.piece_on(square).is_none();
    let pawn = board.colored_pieces(mover, Piece::Pawn);
    is_empty(from) && is_empty(passed) && pawn.has(to)
}

fn seeds() -> [(&'static str, &'static str); 8] {
    [
        ("start", "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"),
        ("castling", "r3k2r/8/8/8/8/8/8/R3K2R b Kq - 3 17"),
        ("passant", "8/8/8/2k5/3Pp3/8/8/4K2B b - d3 0 1"),
        ("pinned", "8/8/8/K1Pp3r/8/8/8/4k3 w - d6"),
        ("promoted", "rnbqkbnr/pppppppp/8/8/8/R7/PPPPPPPP/R1BQK2R w KQkq - 0 1"),
        ("crowded", "qqqqkqqq/qqqqqqqq/8/8/8/8/QQQQQQQQ/QQQQKQQQ w - - 0 1"),
        ("twice", "r3k2r/8/8/8/8/8/8/R3K2R w KKkk - 0 1"),
        ("checked", "4k3/8/8/8/8/3n4/4r3/R3K2R w KQ - 99 120"),
    ]
}

fuzz_target!(init: seed(seeds()), |text: &str| {
    let position = match Position::from_fen(text) {
        Ok(position) => position,
        Err(error) => {
            assert!(!is_position(text), "{text:?}: {error}");
            assert_eq!(error.to_string().lines().count(), 1, "{text:?}");
            return;
        }
    };
    // Triple checks are impossible, but accepted.
    assert!(is_position(text) || position.checkers().popcnt() > 2, "{text:?} is {position}");
    assert_eq!(Position::from_fen(&position.fen()), Ok(position), "{text:?}");
    agree(&position, &theirs(&position));
});
