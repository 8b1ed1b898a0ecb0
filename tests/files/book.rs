//! Tests of books. The counts of books built from real games are compared with those of other
//! programs.

use std::fs::File;
use std::io::{Read, Seek};
use std::path::Path;

use crate::support::shared_data;
use tabia::book::{Book, BuildOptions, Chooser, Counts, Cut, Policy, build_in_memory, cut, merge};
use tabia::pgn::PgnInput;
use tabia::position::{Game, Move, Position};

fn after(moves: &str) -> Position {
    moves.split_ascii_whitespace().fold(Position::start(), |position, san| {
        position.play(position.parse_move(san).expect(san))
    })
}

fn played(book: &Book, position: &Position, san: &str) -> Counts {
    let mv: Move = position.parse_move(san).expect(san);
    let moves = book.moves(position);
    moves.iter().find(|book_move| book_move.mv == mv).expect(san).played
}

#[test]
fn counts_of_real_games_match_other_programs() {
    let Some(folder) = shared_data("pgn/mid_otb") else { return };
    let inputs = PgnInput::from_paths(&[folder]).expect("a folder of games");
    let options = BuildOptions { max_ply: 20, ..BuildOptions::default() };
    let (book, _) = build_in_memory(&inputs, &options, "mid_otb").expect("a book");
    let start = Position::start();
    assert_eq!(played(&book, &start, "e4"), Counts::new(1685, 1088, 1352));
    assert_eq!(played(&book, &start, "d4"), Counts::new(1212, 972, 956));
    // The expected counts exclude positions without moves, such as the final position of a game.
    let with_moves = book.entries().filter(|entry| !entry.moves.is_empty()).count();
    assert_eq!((with_moves, book.move_count()), (69_227, 79_979));
}

#[test]
fn positions_are_found_by_any_move_order() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("books/dumb.pgn");
    let book = Book::open(&path).expect("the example book");
    let transposed = after("e4 Nc6 Ke2 d5 exd5 Qxd5 Ke1 Nf6");
    assert_eq!(book.reached(&transposed), Some(Counts::new(0, 0, 1)));
    let almost = after("e4 Nc6 Ke2 d5 exd5 Qxd5 Ke1");
    assert_eq!(book.reached(&almost), None);
    let moves = book.moves(&almost);
    assert_eq!(moves.len(), 1);
    assert_eq!(moves[0].mv.to_string(), "g8f6");
    assert_eq!(moves[0].played, Counts::default());
    assert_eq!(moves[0].reached, Counts::new(0, 0, 1));
}

fn source(name: &str, options: &BuildOptions) -> Book {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("books").join(name);
    let (book, tally) = build_in_memory(&[PgnInput::File(path)], options, name).expect("a book");
    assert_eq!((tally.broken, tally.skipped.total()), (0, 0), "{name}");
    book
}

fn opened(mut file: File) -> Book {
    let mut bytes = Vec::new();
    file.rewind().and_then(|()| file.read_to_end(&mut bytes)).expect("read");
    Book::from_bytes(bytes, "made").expect("a book")
}

fn positions_to_avoid() -> impl Iterator<Item = Position> {
    include_str!("../../books/avoid.epd").lines().map(|line| {
        let (position, rest) = line.split_once(" am ").expect("a move to avoid");
        let position = Position::from_fen(position).expect("a position");
        let (mv, _) = rest.split_once(';').expect("an operation");
        position.play(position.parse_move(mv).expect("a legal move"))
    })
}

#[test]
fn embedded_book_matches_its_sources() {
    for threads in [1, 3] {
        let options = || BuildOptions { threads, ..BuildOptions::default() };
        let lines = source("openings.pgn", &BuildOptions { undecided: true, ..options() });
        let games = source("own.pgn.zst", &BuildOptions { min_games: 2, ..options() });
        let file = tempfile::tempfile().expect("a file");
        let merged = opened(merge(&[(lines, 1.0), (games, 1.0)], file).expect("merged"));
        let avoid = positions_to_avoid().collect();
        let file = tempfile::tempfile().expect("a file");
        let made = opened(cut(&merged, &Cut { avoid, ..Cut::default() }, file).expect("cut"));
        let embedded = Book::embedded();
        assert_eq!(made.positions(), embedded.positions());
        assert!(made.entries().eq(embedded.entries()), "run books/make-book.sh to rebuild it");
    }
}

#[test]
fn embedded_book_plays_no_losing_moves() {
    /// Maximum loss of a book move compared with the best move, in centipawns.
    const LOSS: i32 = 50;
    let book = Book::embedded();
    book.verify().expect("sound");
    let (mut positions, mut unknown) = (0, 0);
    for visited in book.walk(&Position::start(), u32::MAX) {
        let game = Game::new(visited.position);
        let Some(value) = book.value(&visited.position) else {
            unknown += 1;
            continue;
        };
        positions += 1;
        for policy in [Policy::Best, Policy::Prefer, Policy::Weighted] {
            for candidate in Chooser::new(policy, 1).candidates(&book, &game) {
                let worth = candidate.value.unwrap_or(-i32::MAX / 2);
                assert!(
                    candidate.chance <= 0.0 || value.score - worth <= LOSS,
                    "{}: {candidate:?}",
                    visited.position.fen()
                );
            }
        }
    }
    assert!(positions > 10_000 && unknown == 0, "{positions} analysed, {unknown} not");
    let scandinavian = Game::new(after("e4 d5"));
    let candidates = Chooser::new(Policy::Prefer, 1).candidates(&book, &scandinavian);
    let takes = candidates.iter().find(|candidate| candidate.book_move.mv.to_string() == "e4d5");
    assert!(takes.is_some_and(|takes| takes.chance > 0.99), "{candidates:?}");
}

#[test]
fn positions_without_pawns_are_found() {
    let game =
        "[FEN \"4k3/8/8/8/8/8/4p3/R3K3 w - - 0 1\"]\n[Result \"1-0\"]\n\n1. Kxe2 Kf7 2. Ra7+ 1-0\n";
    let inputs = [PgnInput::Text("test".to_owned(), game.as_bytes().into())];
    let (book, _) = build_in_memory(&inputs, &BuildOptions::default(), "test").expect("a book");
    let bare = Position::from_fen("8/R4k2/8/8/8/8/4K3/8 b - - 2 2").expect("legal");
    assert_eq!(book.reached(&bare), Some(Counts::new(1, 0, 0)));
}

#[test]
fn several_books_are_probed_in_order() {
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("books/dumb.pgn");
    let both = Book::open_all(&format!("{};embedded", example.display())).expect("two books");
    let (first, second) = (Book::open(&example).expect("a book"), Book::embedded());
    let start = Position::start();
    assert_ne!(first.moves(&start), second.moves(&start));
    assert_eq!(both.moves(&start), first.moves(&start));
    assert_eq!(both.reached(&start), first.reached(&start));
    let unknown_to_the_first = after("d4 d5");
    assert_eq!(first.reached(&unknown_to_the_first), None);
    assert_eq!(both.moves(&unknown_to_the_first), second.moves(&unknown_to_the_first));
    assert_eq!(both.reached(&unknown_to_the_first), second.reached(&unknown_to_the_first));
    let game = Game::new(unknown_to_the_first);
    let choice = Chooser::new(Policy::Best, 1).choose(&both, &game);
    assert!(choice.is_some_and(|choice| {
        second.moves(game.position()).iter().any(|book_move| book_move.mv == choice.mv)
    }));
    assert!(Book::open_all("embedded;/no/such/book.tbk").is_err());
    let none = Book::open_all("none").expect("an empty book");
    assert!(none.positions() == 0 && none.moves(&start).is_empty() && none.value(&start).is_none());
}
