//! Tests that the search steers into a repertoire.

use std::fs;

use tabia::book::Book;
use tabia::position::{Game, Move};
use tabia::search::{BookSearch, Config, Control, Limits, SearchResult, Searcher};

/// The variation counts like the main line.
const REPERTOIRE: &str = "[Event \"White\"]\n\n1. a3 h6 (1... a6 2. h3 e6) 2. h3 e6 *\n";

fn search(book: &Book, moves: [&str; 2], book_search: BookSearch, limits: &Limits) -> SearchResult {
    let mut game = Game::default();
    for mv in moves {
        game.play(mv.parse().expect(mv)).expect(mv);
    }
    let book = Some(book.clone());
    let config = Config { memory_mb: 4, book, book_search, steer_margin: 500, ..Config::default() };
    Searcher::new(config).search_without_events(&game, limits, &Control::new())
}

#[test]
fn search_steers_into_a_repertoire() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("white.pgn");
    fs::write(&path, REPERTOIRE).expect("written");
    let book = Book::open_all(path.to_str().expect("UTF-8")).expect("a repertoire");
    let a3: Option<Move> = "a2a3".parse().ok();
    // A search to a fixed depth has the same result on every machine.
    let limits = Limits::depth(7);
    for moves in [["h2h3", "h7h6"], ["h2h3", "a7a6"]] {
        let steered = search(&book, moves, BookSearch::Steer, &limits);
        assert_eq!(steered.best, a3, "{moves:?}");
        assert_eq!(steered.book.map(|found| found.line), a3.map(|mv| vec![mv]), "{moves:?}");
        for other in [BookSearch::Off, BookSearch::Value] {
            assert_ne!(search(&book, moves, other, &limits).best, a3, "{moves:?}");
        }
    }
    // Some of these limits end the search while it looks for a move into the book.
    for nodes in [5_000, 8_000, 12_000, 20_000] {
        let limits = Limits::nodes(nodes);
        let steered = search(&book, ["h2h3", "h7h6"], BookSearch::Steer, &limits);
        assert_eq!(steered.best, a3, "{nodes} nodes");
    }
}
