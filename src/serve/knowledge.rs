//! What the books know of a position under a filter. Everything that answers with counts asks here.

use super::facets::Filter;
use super::refusal::Refusal;
use super::shape::{ListedGame, MonthResults};
use crate::book::{self, Book, Breadth, Counts, Explored};
use crate::position::{Move, Position};

/// A move that was played in a position, or leads to one that games have reached.
#[derive(Debug, Clone)]
pub(crate) struct KnownMove {
    pub(crate) mv: Move,
    /// The games that played it here.
    pub(crate) played: Counts,
    /// The games that reached the position after it, by any order of moves.
    pub(crate) reached: Counts,
    /// The mean rating of those who played it, where the book has ratings.
    pub(crate) average_rating: Option<u16>,
    /// The game, if only one has played it and the book knows its games.
    pub(crate) only_game: Option<ListedGame>,
    /// The games that played it by month, the oldest first, where the book has dates.
    pub(crate) history: Vec<MonthResults>,
}

/// What the books know of a position.
#[derive(Debug, Clone, Default)]
pub(crate) struct Knowledge {
    /// The games that reached it by any order of moves.
    pub(crate) reached: Counts,
    /// The moves that games went on with, those that most games reached first.
    pub(crate) moves: Vec<KnownMove>,
    /// The highest rated games.
    pub(crate) top_games: Vec<ListedGame>,
    /// The latest games.
    pub(crate) recent_games: Vec<ListedGame>,
    /// The games by month, the oldest first.
    pub(crate) history: Vec<MonthResults>,
}

/// What a book knows of a position under a filter.
///
/// # Errors
/// If the book cannot tell games apart, and the filter wants some and not others.
pub(crate) fn ask(
    book: &Book,
    position: &Position,
    filter: &Filter,
    breadth: Breadth,
) -> Result<Knowledge, Refusal> {
    if book.has_facets() {
        return Ok(explored(book.explore_to(position, &filter.of_books(), breadth)));
    }
    if !filter.is_everything() {
        return Err(Refusal::unable(
            "this book does not keep ratings, speeds and dates: leave the filter out, or build it \
             with --facets",
        ));
    }
    let moves = book.moves(position).into_iter().map(|found| KnownMove {
        mv: found.mv,
        played: found.played,
        reached: found.reached,
        average_rating: None,
        only_game: None,
        history: Vec::new(),
    });
    Ok(Knowledge {
        reached: book.reached(position).unwrap_or_default(),
        moves: moves.collect(),
        ..Knowledge::default()
    })
}

/// What a book knows that knows its games.
fn explored(explored: Explored) -> Knowledge {
    let listed = |games: &[book::ListedGame]| games.iter().map(ListedGame::from).collect();
    let moves = explored.moves.into_iter().map(|found| {
        let only_game = (found.played.counts.games() == 1).then(|| found.played.top.first());
        KnownMove {
            mv: found.mv,
            average_rating: found.played.mean_rating(),
            only_game: only_game.flatten().map(ListedGame::from),
            history: MonthResults::of(&found.played.history),
            played: found.played.counts,
            reached: found.reached,
        }
    });
    Knowledge {
        moves: moves.collect(),
        reached: explored.reached.counts,
        top_games: listed(&explored.reached.top),
        recent_games: listed(&explored.reached.latest),
        history: MonthResults::of(&explored.reached.history),
    }
}
