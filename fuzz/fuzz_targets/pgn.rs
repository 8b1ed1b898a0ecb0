//! Any bytes as PGN: parsed without a panic, and parsed games round-trip.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tabia::pgn::{GameStatus, PgnGame, PgnMove, read_games};
use tabia::position::Move;

fn moves(game: &PgnGame) -> Vec<Move> {
    game.moves.iter().map(|PgnMove { mv, .. }| *mv).collect()
}

fuzz_target!(|bytes: &[u8]| {
    for (game, end) in read_games(bytes).flatten() {
        assert_eq!(game.moves.len(), end.plies);
        if end.status == GameStatus::Variant {
            continue;
        }
        let text = game.to_string();
        let again = read_games(text.as_bytes()).flatten().next();
        let (again, end) = again.unwrap_or_else(|| panic!("nothing read from\n{text}"));
        assert!(!matches!(end.status, GameStatus::Broken(_)), "{end:?}\n{text}");
        assert_eq!(moves(&again), moves(&game), "{text}");
    }
});
