//! Books from real games, checked against figures that other programs gave.

use std::path::Path;

use crate::support::shared_data;
use tabia::book::{Book, BuildOptions, Chooser, Counts, Policy, build_in_memory};
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
fn the_counts_of_real_games_are_those_of_other_programs() {
    let Some(folder) = shared_data("pgn/mid_otb") else { return };
    let inputs = PgnInput::from_paths(&[folder]).expect("a folder of games");
    let options = BuildOptions { max_ply: 20, ..BuildOptions::default() };
    let (book, _) = build_in_memory(&inputs, &options, "mid_otb").expect("a book");
    let start = Position::start();
    assert_eq!(played(&book, &start, "e4"), Counts::new(1685, 1088, 1352));
    assert_eq!(played(&book, &start, "d4"), Counts::new(1212, 972, 956));
    // The figure is of positions with a move: the last position of a game has none.
    let with_moves = book.entries().filter(|entry| !entry.moves.is_empty()).count();
    assert_eq!((with_moves, book.move_count()), (69_227, 79_979));
}

#[test]
fn a_position_is_known_by_whatever_order_of_moves() {
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

#[test]
fn the_embedded_book_is_what_its_source_makes() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("books");
    let inputs = [PgnInput::File(root.join("openings.pgn"))];
    for threads in [1, 3] {
        let options = BuildOptions { undecided: true, threads, ..BuildOptions::default() };
        let (book, tally) = build_in_memory(&inputs, &options, "openings").expect("a book");
        assert_eq!((tally.broken, tally.skipped.total()), (0, 0));
        assert!(
            book.bytes() == Book::embedded().bytes(),
            "build it anew: tabia book build books/openings.pgn --undecided -o books/openings.tbk"
        );
    }
}

#[test]
fn positions_without_pawns_are_known_too() {
    let game =
        "[FEN \"4k3/8/8/8/8/8/4p3/R3K3 w - - 0 1\"]\n[Result \"1-0\"]\n\n1. Kxe2 Kf7 2. Ra7+ 1-0\n";
    let inputs = [PgnInput::Text("test".to_owned(), game.as_bytes().into())];
    let (book, _) = build_in_memory(&inputs, &BuildOptions::default(), "test").expect("a book");
    let bare = Position::from_fen("8/R4k2/8/8/8/8/4K3/8 b - - 2 2").expect("legal");
    assert_eq!(book.reached(&bare), Some(Counts::new(1, 0, 0)));
}

#[test]
fn several_books_are_asked_in_order() {
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
}
