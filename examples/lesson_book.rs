//! Searches the position reached by the given moves, with and without using a book during the
//! search: `cargo run --release --example lesson_book [BOOK MOVE...]`

use std::path::Path;

use tabia::book::Book;
use tabia::position::Game;
use tabia::search::{BookSearch, Control};
use tabia::suite::book_effect::{EXAMPLE_MOVES, effects, example_book};

/// The maximum search depth in plies. A search that uses the book may end earlier.
const DEPTH: i32 = 12;

fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (book, moves) = match arguments.split_first() {
        Some((path, moves)) => (Book::open(Path::new(path))?, moves.join(" ")),
        None => (example_book()?, EXAMPLE_MOVES.to_owned()),
    };
    let mut game = Game::default();
    for text in moves.split_whitespace() {
        game.play(game.position().parse_move(text)?)?;
    }
    let modes = [BookSearch::Off, BookSearch::Stop];
    for found in effects(&game, &book, &modes, DEPTH, &Control::new) {
        let best = found.best.map(|mv| game.position().san(mv));
        let (mode, depth, nodes) = (found.mode, found.depth, found.nodes);
        println!("{mode:?}: {best:?} after iteration {depth} and {nodes} nodes");
    }
    Ok(())
}
