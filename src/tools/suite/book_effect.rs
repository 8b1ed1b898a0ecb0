//! Shows the effect of the book inside the search: one position searched with and without it.
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

/// The example game, `books/dumb.pgn`. One of its positions can also be reached by another order of
/// moves, which only a search finds.
pub const EXAMPLE: &str = include_str!("../../../books/dumb.pgn");
/// The other order of moves, as far as it is played.
pub const EXAMPLE_MOVES: &str = "e4 Nc6 Ke2 d5 exd5";

/// Size of the transposition table in MiB, large enough for a lesson.
const MEMORY_MB: usize = 16;

/// Builds a book of the example game.
///
/// # Errors
/// If the game cannot be written to a temporary file, from which the book is built.
pub fn example_book() -> Result<Book, BookError> {
    let reading = |error| FileError::io("write", Path::new("the example"), &error);
    let mut file = tempfile::Builder::new().suffix(".pgn").tempfile().map_err(reading)?;
    file.write_all(EXAMPLE.as_bytes()).map_err(reading)?;
    Book::open(file.path())
}

/// A position of a game with its book data.
#[derive(Debug, Clone)]
pub struct Known {
    /// The move that led to it, in words.
    pub mv: String,
    /// The games that reached it, if any did.
    pub reached: Option<Counts>,
    /// Number of moves that lead from it to a position of the book.
    pub exits: usize,
}

/// Looks up the positions of a game in the book.
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
    /// Depth in plies.
    pub depth: Depth,
    /// Score for the side to move.
    pub score: Score,
    /// Total nodes so far.
    pub nodes: u64,
    /// The principal variation.
    pub line: Vec<Move>,
    /// Where it enters the book, if it does.
    pub book: Option<Transposition>,
}

/// A search with or without the book.
#[derive(Debug, Clone)]
pub struct Effect {
    /// How the search used the book.
    pub mode: BookSearch,
    /// The completed iterations.
    pub iterations: Vec<Iteration>,
    /// The move chosen.
    pub best: Option<Move>,
    /// Total nodes.
    pub nodes: u64,
    /// The last completed iteration.
    pub depth: Depth,
    /// The line into the book that ended the search, if any.
    pub ending: Option<Transposition>,
}

/// Searches the last position of `game` in each mode, with one thread and an empty table, to at
/// most `depth`.
///
/// A search that compares its tree with the book gets the nodes that the search without a book
/// takes, and may save some of them: limited by depth alone, it would search to the end.
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
