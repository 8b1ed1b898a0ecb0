//! Tests of `tabia book search`, which finds material, pawn structures and pieces in the games of a
//! book.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::support::{run_line, run_line_ok};

/// Games with special cases: the third game has a null move, the fourth has an illegal move, and
/// the last starts from a rook endgame in which Black has the extra pawns.
const GAMES: &str = "\
[White \"A\"]\n[Black \"B\"]\n[Date \"2020.01.01\"]\n[WhiteElo \"2500\"]\n\n1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. Bxc6 dxc6 1-0\n\n\
[White \"C\"]\n[Black \"D\"]\n[Date \"2021.01.01\"]\n\n1. Nf3 Nc6 2. e4 e5 3. Bb5 Nf6 4. O-O 1/2-1/2\n\n\
[White \"E\"]\n[Black \"F\"]\n[Date \"2019.01.01\"]\n\n1. e4 -- 2. e5 d5 3. exd6 0-1\n\n\
[White \"G\"]\n[Black \"H\"]\n[Date \"2018.01.01\"]\n[Result \"1-0\"]\n\n1. d4 d5 2. Ke3 e5 1-0\n\n\
[White \"I\"]\n[Black \"J\"]\n[Date \"2022.01.01\"]\n[SetUp \"1\"]\n[FEN \"8/5kp1/8/8/8/8/r3pK2/7R b - - 0 40\"]\n\n\
40... e1=Q+ 41. Kxe1 Ra1+ 42. Ke2 Rxh1 0-1\n";

fn build(folder: &Path) {
    fs::write(folder.join("games.pgn"), GAMES).expect("written");
    run_line_ok("book build --facets -q games.pgn -o games.tbk", folder);
}

/// An occurrence of a pattern: its ply, its length in positions, and whether it has reversed
/// colours.
type Place = (u64, u64, bool);

/// Returns the name of White and the occurrences of the pattern for each game found.
fn search(pattern: &str, folder: &Path) -> Vec<(String, Vec<Place>)> {
    let line = format!("book search {pattern} -b games.tbk --json");
    let (status, printed, errors) = run_line(&line, folder);
    let answer: Value =
        serde_json::from_str(&printed).unwrap_or_else(|_| panic!("{line}: {errors}"));
    let number = |value: &Value| value.as_u64().expect("a number");
    let games = answer["games"].as_array().expect("games").iter().map(|game| {
        let places = game["positions"].as_array().expect("positions").iter().map(|place| {
            let mirrored = place["mirrored"].as_bool().expect("a flag");
            (number(&place["ply"]), number(&place["length"]), mirrored)
        });
        (game["white"]["name"].as_str().expect("a name").to_owned(), places.collect())
    });
    let games: Vec<_> = games.collect();
    assert_eq!(status, Some(i32::from(games.is_empty())), "{line}: {errors}");
    games
}

#[test]
fn games_are_found_by_material_pawns_and_squares() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    build(folder);
    let one = |white: &str, ply, length, mirrored| {
        vec![(white.to_owned(), vec![(ply, length, mirrored)])]
    };
    assert_eq!(search("'b5=B c6=n'", folder).len(), 2);
    assert_eq!(search("b5=B c6=n for=3", folder), one("C", 5, 3, false));
    assert!(search("b5=B c6=n plies=5 turn=white", folder).is_empty());
    assert_eq!(search("pawns=8/1pp2ppp/p1p5/4p3/4P3/8/PPPP1PPP/8", folder), one("A", 8, 1, false));
    assert_eq!(search("g1=K f1=R", folder), one("C", 7, 1, false));
    // Find the positions after an en passant capture and after a null move.
    assert_eq!(search("d6=P e5=. d5=.", folder), one("E", 5, 1, false));
    assert_eq!(search("e4=P e7=p g1=N g8=n for=2", folder), one("E", 1, 2, false));
    // In a game with an illegal move, the positions before that move are searched.
    assert_eq!(search("d4=P d5=p c1=B", folder), one("G", 2, 1, false));
    assert_eq!(search("KRvKRP2", folder), one("I", 0, 1, false));
    assert_eq!(search("KRvKRQP", folder), one("I", 1, 1, false));
    assert_eq!(
        search("KRP1-2vKR mirror", folder),
        [("I".to_owned(), vec![(0, 1, true), (2, 3, true)])]
    );
    assert!(search("KvKRP --until 2021", folder).is_empty());
    let (_, printed, _) = run_line("book search a6=p -b games.tbk -n 1", folder);
    let fen = "r1bqkbnr/1ppp1ppp/p1n5/1B2p3/4P3/5N2/PPPP1PPP/RNBQK2R w KQkq - 0 4";
    assert!(printed.contains("A (2500) - B 1-0, 2020.01.01 ("), "{printed}");
    assert!(printed.contains(&format!("  ply 6, 3 positions: {fen}")), "{printed}");
    assert!(printed.ends_with("1 of 5 games has the pattern: 1 +1 =0 -0\n"), "{printed}");
}

#[test]
fn moves_are_kept_beside_the_book_as_long_as_they_fit() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    build(folder);
    let moves = folder.join("games.tbk.moves");
    assert_eq!(search("b5=B", folder).len(), 2);
    let first = fs::read(&moves).expect("the moves are kept");
    // The second search reads the stored moves and does not need the PGN file.
    fs::rename(folder.join("games.pgn"), folder.join("elsewhere")).expect("moved");
    assert_eq!(search("b5=B", folder).len(), 2);
    // A damaged file is not used.
    let mut damaged = first.clone();
    damaged[100] ^= 1;
    fs::write(&moves, damaged).expect("written");
    let (status, _, errors) = run_line("book search b5=B -b games.tbk", folder);
    assert_eq!(status, Some(1));
    assert!(errors.contains("it is damaged; the games are read again"), "{errors}");
    assert!(errors.contains("cannot read the games of games.pgn: it no longer exists"), "{errors}");
    fs::rename(folder.join("elsewhere"), folder.join("games.pgn")).expect("moved");
    assert_eq!(search("b5=B", folder).len(), 2);
    assert_eq!(fs::read(&moves).expect("written again"), first);
    // Change the PGN file, and replace the file of stored moves with an unrelated file, which must
    // not be overwritten.
    fs::write(folder.join("games.pgn"), GAMES.replace("Bb5", "Bc4")).expect("written");
    fs::write(&moves, "mine").expect("written");
    let (status, _, errors) = run_line("book search b5=B -b games.tbk", folder);
    assert_eq!(status, Some(1));
    assert!(errors.contains("games.pgn: it has changed since the book was built"), "{errors}");
    fs::write(folder.join("games.pgn"), GAMES).expect("written");
    let (status, printed, errors) = run_line("book search b5=B -b games.tbk", folder);
    assert_eq!(status, Some(0), "{printed}{errors}");
    assert!(errors.contains("is not a file of moves of a book"), "{errors}");
    assert_eq!(fs::read(&moves).expect("untouched"), b"mine");
}

#[test]
fn wrong_searches_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    build(folder);
    run_line_ok("book build -q games.pgn -o plain.tbk", folder);
    for (line, expected, named) in [
        ("book search KRX -b games.tbk", 2, "\"KRX\" is no part of a pattern"),
        ("book search KvK", 2, "--book"),
        ("book search KvK -b plain.tbk", 1, "--facets"),
        ("book search KvK -b none.tbk", 1, "none.tbk"),
        ("book search KvK -b games.tbk.moves", 1, "games.tbk.moves"),
    ] {
        let (status, _, errors) = run_line(line, folder);
        assert_eq!(status, Some(expected), "{line}: {errors}");
        assert!(errors.contains(named), "{line}: {errors}");
    }
}
