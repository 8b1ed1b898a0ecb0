//! Books from real games, checked against figures that other programs gave.

use std::fs::File;
use std::path::{Path, PathBuf};

use tabia::book::{Book, BuildOptions, Builder, Counts};
use tabia::position::{Move, Position};

/// The folder with real data, or `None` where it is absent.
fn data(part: &str) -> Option<PathBuf> {
    let shared = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data");
    let root = std::env::var_os("TABIA_DATA").map_or(shared, PathBuf::from);
    let path = root.join(part);
    if path.exists() {
        return Some(path);
    }
    println!("skipped: {} is absent (set TABIA_DATA)", path.display());
    None
}

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
    let Some(folder) = data("pgn/mid_otb") else { return };
    let mut builder = Builder::new(BuildOptions { max_ply: 20, undecided: false });
    for file in folder.read_dir().expect("a folder") {
        let file = File::open(file.expect("an entry").path()).expect("a readable file");
        builder.add(file).expect("readable to its end");
    }
    let book = builder.build("mid_otb").expect("a book");
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
