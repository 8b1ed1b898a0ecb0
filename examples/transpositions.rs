//! Plays moves from the start position, and prints how many games in the built-in book reached each
//! position. It also prints transpositions: moves that were not played from the position in any
//! game, but that lead to another book position. Usage: `cargo run --release --example
//! transpositions Nf3 d5 d4 Nf6`

use tabia::book::Book;
use tabia::position::Position;

fn main() -> anyhow::Result<()> {
    let book = Book::embedded();
    let mut position = Position::start();
    report(&book, &position);
    for text in std::env::args().skip(1) {
        let mv = position.parse_move(&text)?;
        println!("\n{}", position.san(mv));
        position = position.play(mv);
        report(&book, &position);
    }
    Ok(())
}

fn report(book: &Book, position: &Position) {
    match book.reached(position) {
        Some(counts) => println!("reached in {} games", counts.games()),
        None => println!("not in the book"),
    }
    for candidate in book.moves(position).iter().filter(|candidate| candidate.played.games() == 0) {
        let games = candidate.reached.games();
        println!("{} transposes to a position of {games} games", position.san(candidate.mv));
    }
}
