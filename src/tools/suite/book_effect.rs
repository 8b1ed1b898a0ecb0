//! Shows how the book affects the search, by searching a position with and without the book.
//!
//! ```
//! use tabia::position::Game;
//! use tabia::search::{BookSearch, Control};
//! use tabia::suite::book_effect::{effects, example_book};
//!
//! let book = example_book()?;
//! let found = effects(&Game::default(), &book, &[BookSearch::Off], 3, &Control::new);
//! assert!(found[0].best.is_some());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::io::Write;
use std::path::Path;

use crate::chess::position::{Game, Move};
use crate::chess::score::{Depth, Score};
use crate::engine::search::{
    BookSearch, Bound, Config, Control, Limits, SearchEvent, Searcher, Transposition,
};
use crate::games::book::{Book, BookError, Counts};
use crate::support::files::FileError;

/// The example game, `books/dumb.pgn`. [`EXAMPLE_MOVES`] transpose into one of its positions.
pub const EXAMPLE: &str = include_str!("../../../books/dumb.pgn");
/// The first moves of another game, which transposes into a position of [`EXAMPLE`].
pub const EXAMPLE_MOVES: &str = "e4 Nc6 Ke2 d5 exd5";

/// The size of the transposition table in MiB. This is enough for the short searches in a lesson.
const MEMORY_MB: usize = 16;

/// Builds a book from the example game, which is written to a temporary file.
///
/// # Errors
/// If the temporary file cannot be written.
pub fn example_book() -> Result<Book, BookError> {
    let reading = |error| FileError::io("write", Path::new("the example"), &error);
    let mut file = tempfile::Builder::new().suffix(".pgn").tempfile().map_err(reading)?;
    file.write_all(EXAMPLE.as_bytes()).map_err(reading)?;
    Book::open(file.path())
}

/// A position in a game, along with the information that the book has about it.
#[derive(Debug, Clone)]
pub struct Known {
    /// The move that led to the position, in SAN.
    pub mv: String,
    /// The results of the games that reached the position, or `None` if no game did.
    pub reached: Option<Counts>,
    /// The number of legal moves that lead from the position to a position in the book.
    pub exits: usize,
}

/// Looks up the position after each move of `game` in `book`.
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

/// A completed iteration of a search.
#[derive(Debug, Clone)]
pub struct Iteration {
    /// The depth of the iteration in plies.
    pub depth: Depth,
    /// The score in centipawns, from the point of view of the side to move.
    pub score: Score,
    /// The number of nodes searched so far, including earlier iterations.
    pub nodes: u64,
    /// The principal variation found by the iteration.
    pub line: Vec<Move>,
    /// The point where the principal variation enters the book, or `None` if it does not.
    pub book: Option<Transposition>,
}

/// The result of a search with or without the book.
#[derive(Debug, Clone)]
pub struct Effect {
    /// How the search used the book.
    pub mode: BookSearch,
    /// The completed iterations, in order.
    pub iterations: Vec<Iteration>,
    /// The move chosen by the search, or `None` if there are no legal moves.
    pub best: Option<Move>,
    /// The total number of nodes searched.
    pub nodes: u64,
    /// The depth of the last completed iteration of the search, in plies.
    pub depth: Depth,
    /// The line into the book that determined the result, if any.
    pub ending: Option<Transposition>,
}

/// Searches the last position in `game` in each mode, to at most `depth` plies, with one thread and
/// an empty table. Searches with the book start no new iteration once they have used as many nodes
/// as the search without it, so that the depths they reach can be compared.
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
