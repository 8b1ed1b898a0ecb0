//! Statistics of a position in the books under a filter: the source of all counts in responses.

use super::api_error::ApiError;
use super::facets::Filter;
use super::json::{ListedGame, MonthResults};
use crate::chess::position::{Move, Position};
use crate::games::book::{self, Book, Breadth, Counts, GameSummary};

/// A move that was played in a position, or leads to a position that games have reached.
#[derive(Debug, Clone)]
pub(crate) struct KnownMove {
    pub(crate) mv: Move,
    /// The games that played it here.
    pub(crate) played: Counts,
    /// The games that reached the position after it, by any move order.
    pub(crate) reached: Counts,
    /// The mean rating of the players who played it, if the book has ratings.
    pub(crate) average_rating: Option<u16>,
    /// The game, if only one has played the move and the book stores its games.
    pub(crate) only_game: Option<ListedGame>,
    /// The games that played it by month, oldest first, if the book has dates.
    pub(crate) history: Vec<MonthResults>,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct PositionStats {
    /// The games that reached it, by any move order.
    pub(crate) reached: KnownGames,
    /// The games of `reached` that continued from here.
    pub(crate) continued: KnownGames,
    /// The continuations, by games that reached the position after them, most first.
    pub(crate) moves: Vec<KnownMove>,
}

/// Games of a position, each counted and listed once.
#[derive(Debug, Clone, Default)]
pub(crate) struct KnownGames {
    pub(crate) counts: Counts,
    pub(crate) top: Vec<ListedGame>,
    pub(crate) latest: Vec<ListedGame>,
    /// The games by month, oldest first.
    pub(crate) history: Vec<MonthResults>,
}

impl From<GameSummary> for KnownGames {
    fn from(games: GameSummary) -> Self {
        let listed = |games: &[book::ListedGame]| games.iter().map(ListedGame::from).collect();
        KnownGames {
            counts: games.counts,
            top: listed(&games.top),
            latest: listed(&games.latest),
            history: MonthResults::of(&games.history),
        }
    }
}

/// Returns the statistics of a position under a filter.
///
/// # Errors
/// If the filter selects games and the book does not support filters.
pub(crate) fn ask(
    book: &Book,
    position: &Position,
    filter: &Filter,
    breadth: Breadth,
) -> Result<PositionStats, ApiError> {
    if !filter.is_everything() && !book.has_facets() {
        return Err(ApiError::conflict(
            "this book does not keep ratings, speeds and dates: leave the filter out, or build it \
             with --facets",
        ));
    }
    let explored = book.explore_to(position, &filter.of_books(), breadth);
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
    Ok(PositionStats {
        moves: moves.collect(),
        reached: explored.reached.into(),
        continued: explored.continued.into(),
    })
}
