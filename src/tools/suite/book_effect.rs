//! What the book inside the search does: the same position searched with and without it.

use std::io::Write;

use crate::chess::position::{Game, Move};
use crate::chess::score::{Depth, Score};
use crate::engine::search::{
    BookSearch, Bound, Config, Control, Limits, SearchEvent, Searcher, Transposition,
};
use crate::games::book::{Book, BookError, Counts};

/// The game that shows it: `books/dumb.pgn`. One position of it can be reached by another order
/// of moves, which only a search finds.
pub const EXAMPLE: &str = include_str!("../../../books/dumb.pgn");
/// The other order of moves, as far as it is played.
pub const EXAMPLE_MOVES: &str = "e4 Nc6 Ke2 d5 exd5";

/// A transposition table large enough for a lesson, in mebibytes.
const MEMORY_MB: usize = 16;

/// A book of the example's game.
///
/// # Errors
/// If the game cannot be put into a temporary file, from which books are made.
pub fn example_book() -> Result<Book, BookError> {
    let reading = |error: std::io::Error| BookError::Unreadable {
        name: "the example".to_owned(),
        reason: error.to_string(),
    };
    let mut file = tempfile::Builder::new().suffix(".pgn").tempfile().map_err(reading)?;
    file.write_all(EXAMPLE.as_bytes()).map_err(reading)?;
    Book::open(file.path())
}

/// A position of a game and what the book knows of it.
#[derive(Debug, Clone)]
pub struct Known {
    /// The move that led there, in words.
    pub mv: String,
    /// The games that reached it, if any did.
    pub reached: Option<Counts>,
    /// How many moves lead from it to a position of the book.
    pub exits: usize,
}

/// Walks through a game and asks the book at every step.
pub fn walk(game: &Game, book: &Book) -> Vec<Known> {
    let positions = game.positions();
    let moves = game.moves().iter().zip(positions.windows(2));
    moves
        .map(|(&mv, pair)| Known {
            mv: pair[0].san(mv),
            reached: book.reached(&pair[1]),
            exits: book.moves(&pair[1]).len(),
        })
        .collect()
}

/// An iteration of a search.
#[derive(Debug, Clone)]
pub struct Iteration {
    /// Its depth in plies.
    pub depth: Depth,
    /// Its score for the side to move.
    pub score: Score,
    /// Nodes since the search began.
    pub nodes: u64,
    /// The principal variation.
    pub line: Vec<Move>,
    /// Where it enters the book.
    pub book: Option<Transposition>,
}

/// A search with or without the book.
#[derive(Debug, Clone)]
pub struct Effect {
    /// What a position of the book does inside the search.
    pub mode: BookSearch,
    /// The iterations that were completed.
    pub iterations: Vec<Iteration>,
    /// The move chosen.
    pub best: Option<Move>,
    /// All nodes.
    pub nodes: u64,
    /// The last completed iteration.
    pub depth: Depth,
    /// The line into the book by which the search ended.
    pub ending: Option<Transposition>,
}

/// Searches the last position of `game` in each of these modes, with one thread and an empty table,
/// to `depth` at most. A search that compares its tree with the book has the nodes that it takes
/// without one to spend, of which it may save some: what is bounded by its depth alone, it would
/// search to the end.
pub fn effects(
    game: &Game,
    book: &Book,
    modes: &[BookSearch],
    depth: Depth,
    control: &dyn Fn() -> Control,
) -> Vec<Effect> {
    let limits = Limits::depth(depth);
    let plain = effect(game, book, BookSearch::Off, &limits, &control());
    let bounded = Limits { soft_nodes: Some(plain.nodes), ..limits };
    let in_mode = |&mode: &BookSearch| match mode {
        BookSearch::Off => plain.clone(),
        _ => effect(game, book, mode, &bounded, &control()),
    };
    modes.iter().map(in_mode).collect()
}

fn effect(
    game: &Game,
    book: &Book,
    mode: BookSearch,
    limits: &Limits,
    control: &Control,
) -> Effect {
    let mut searcher = Searcher::new(Config {
        memory_mb: MEMORY_MB,
        book: Some(book.clone()),
        book_search: mode,
        ..Config::default()
    });
    let mut iterations = Vec::new();
    let result = searcher.search(game, limits, control, &mut |event| {
        if let SearchEvent::Iteration(report) = event
            && report.bound == Bound::Exact
        {
            iterations.push(Iteration {
                depth: report.depth,
                score: report.score,
                nodes: report.nodes,
                line: report.pv.clone(),
                book: report.book.clone(),
            });
        }
    });
    Effect {
        mode,
        iterations,
        best: result.best,
        nodes: result.nodes,
        depth: result.depth,
        ending: result.book,
    }
}
