//! Parses arbitrary bytes as PGN. Parsing must not panic, and parsed games must round-trip.

#![no_main]

use tabia::pgn::{GameStatus, PgnGame, PgnMove, read_games};
use tabia::position::Move;
use tabia_fuzz::{fuzz_target, seed};

fn moves(game: &PgnGame) -> Vec<Move> {
    game.moves.iter().map(|PgnMove { mv, .. }| *mv).collect()
}

fn seeds() -> [(&'static str, &'static str); 5] {
    [
        (
            "game",
            "[Event \"x\"]\n[White \"A\"]\n\n1. e4 {c} e5 $1 2. Nf3! (2. f4 exf4) Nc6 1-0\n\n",
        ),
        ("fen", "[FEN \"4k3/8/8/8/8/8/4P3/4K3 w - - 0 1\"]\n\n1. e4 Kd7 2. -- Ke6 1/2-1/2\n"),
        ("broken", "1. e4 Kd5 2. Nf3 1-0\n\n[White \"B\n1.d4 d5 *\n; a line\n% escaped\n"),
        ("german", "1. e4 e5 2. Sf3 Sc6 3. Lb5 a6 4. O-O Le7 0-1"),
        ("long", "1. e2-e4 e7e5 2. Ng1-f3 Nb8xc6 3. 0-0 e.p. { open"),
    ]
}

fuzz_target!(init: seed(seeds()), |bytes: &[u8]| {
    for (game, end) in read_games(bytes).flatten() {
        assert_eq!(game.moves.len(), end.plies);
        if end.status == GameStatus::Variant {
            continue;
        }
        let text = game.to_string();
        let again = read_games(text.as_bytes()).flatten().next();
        let (again, end) = again.unwrap_or_else(|| panic!("nothing read from\n{text}"));
        // Only a game with unread text may be broken when it is read again, because the writer
        // preserves the text after an illegal move.
        let is_broken = matches!(end.status, GameStatus::Broken(_));
        assert!(!is_broken || game.unread.is_some(), "{end:?}\n{text}");
        assert_eq!(moves(&again), moves(&game), "{text}");
    }
});
