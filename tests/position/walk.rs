//! Random games for property tests.

use proptest::collection::vec;
use proptest::prelude::{Strategy, any};
use proptest::sample::select;
use tabia::position::{Game, Position};

/// Starting positions from which random games soon reach special cases: castling, en passant
/// captures (legal and pinned), promotions, insufficient material, and discovered and double
/// checks.
const STARTS: [&str; 8] = [
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
    "r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1",
    "rnbqkbnr/8/8/pPpPpPpP/PpPpPpPp/8/8/RNBQKBNR w KQkq - 0 1",
    "8/PPPPPPPP/8/7k/K7/8/pppppppp/8 b - - 0 1",
    "8/5k2/3n4/8/8/2B5/3K1p2/8 w - - 90 60",
    "4k2r/3p4/8/2P1P3/1b6/8/3P1P2/R3K3 b Qk - 12 34",
];

/// Generates games of at most `plies` plies, in which each move is chosen at random from the legal
/// moves.
pub fn game(plies: usize) -> impl Strategy<Value = Game> {
    (select(&STARTS[..]), vec(any::<u16>(), 0..=plies)).prop_map(|(fen, choices)| {
        let mut game = Game::new(Position::from_fen(fen).expect(fen));
        for choice in choices {
            let moves = game.position().legal_moves();
            let pick = usize::from(choice) % moves.len().max(1);
            let Some(mv) = moves.iter().nth(pick) else { break };
            game.play(mv).expect("a generated move is legal");
        }
        game
    })
}
