//! Plays arbitrary moves from one of several special positions, and then parses arbitrary text as
//! moves. Tabia's `Position`, `shakmaty` and a replayed game must all interpret the moves and the
//! text in the same way.
//!
//! The input consists of the index of the starting position (one byte), the number of moves (one
//! byte), one byte for each move, and the words to parse.

#![no_main]

use shakmaty::san::SanPlus;
use shakmaty::zobrist::Zobrist64;
use shakmaty::{Chess, EnPassantMode, Position as _};
use tabia::fuzz::san::Reading;
use tabia::position::Position;
use tabia_fuzz::{agree, fuzz_target, play, seed, theirs, uci};

/// Starting positions that cover all castling moves, promotions with captures, en passant captures
/// (both legal ones and those by pinned pawns), and several pieces of the same kind that can reach
/// the same square.
const STARTS: [&str; 8] = [
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1",
    "1n1rk3/P1P1P3/8/b7/8/8/p1p1p3/1N1RK3 w - - 0 1",
    "4k3/1p1p1p1p/8/P1P1P1P1/p1p1p1p1/8/1P1P1P1P/4K3 w - - 0 1",
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
    "7k/8/8/8/2Q1Q3/8/2Q1Q3/K7 w - - 0 1",
    "6k1/1N3N2/8/8/1N3N2/8/R5K1/R6R w - - 0 1",
    "r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1",
];

fn read(word: &str, position: &Position, reading: &Reading, theirs: &Chess) {
    let ours = position.parse_move(word);
    if let Ok(mv) = ours {
        assert!(position.is_legal(mv), "{word:?} in {position}");
    }
    reading.read(position, word);
    // Text that is not strict SAN is not compared, because Tabia may accept it but `shakmaty` does
    // not.
    let Ok(plus) = SanPlus::from_ascii(word.as_bytes()) else { return };
    match plus.san.to_move(theirs) {
        Ok(mv) => assert_eq!(ours.map(|mv| mv.to_string()), Ok(uci(mv)), "{word:?} in {position}"),
        Err(shakmaty::san::SanError::AmbiguousSan) => {
            assert!(ours.is_err(), "{word:?} in {position}");
        }
        Err(shakmaty::san::SanError::IllegalSan) => {}
    }
}

fn seeds() -> [(&'static str, &'static [u8]); 4] {
    [
        ("start", b"\x00\x04\x00\x01\x02\x03Nf3 e4 e2e4 Ng1-f3 e2-e4 g1f3 -- Sf3"),
        ("castling", b"\x01\x00O-O O-O-O 0-0 0-0-0+ Ra1xa8# Rd1 Rad1 Kd1!? Rxh8??"),
        ("promotions", b"\x02\x00axb8=Q a8Q cxd8N+ c8=R e7xd8=B exd8Q# e7d8q a8=K"),
        ("many", b"\x05\x00Qc2d3 Qcd3 Q2d3 Qc4xd3 Qd3 Qe4c2 Q2e3 Qcd4 ed exd6e.p. exd6"),
    ]
}

fuzz_target!(init: seed(seeds()), |bytes: &[u8]| {
    let Some((&[place, plies], rest)) = bytes.split_first_chunk() else { return };
    let (moves, text) = rest.split_at(rest.len().min(plies.into()));
    let fen = STARTS[usize::from(place) % STARTS.len()];
    let mut position = Position::from_fen(fen).expect(fen);
    let (mut reading, mut theirs) = (Reading::from(&position), theirs(&position));
    for &choice in moves {
        let legal = position.legal_moves();
        let Some(mv) = legal.iter().nth(usize::from(choice) % legal.len().max(1)) else { break };
        position = position.play(mv);
        reading.play(mv);
        play(&mut theirs, mv);
        reading.agree(&position);
    }
    agree(&position, &theirs);
    let polyglot: Zobrist64 = theirs.zobrist_hash(EnPassantMode::PseudoLegal);
    assert_eq!(position.polyglot_key(), polyglot.0, "Polyglot's key of {position}");
    for word in String::from_utf8_lossy(text).split_whitespace() {
        read(word, &position, &reading, &theirs);
    }
});
