//! `/masters` and `/lichess`: responses in the format of Lichess's opening explorer.
//!
//! Source: the OpenAPI description at <https://lichess.org/api#tag/Opening-Explorer> and, where it
//! is ambiguous, Lichess's implementation. The count of a move is the number of games in which it
//! was *played* from the position, and castling is written as the king capturing its own rook.
//! Unlike on Lichess, a game that reaches the position more than once counts for every different
//! move that it played there.

use serde::Serialize;

use super::api_error::ApiError;
use super::facets::{self, Dates};
use super::limits::MAX_MOVES;
use super::loaded_books::Content;
use super::query::{Query, with_rook};
use crate::chess::position::{Game, Position};
use crate::games::book::{
    Breadth, Counts, FacetFilter, ListedGame, MonthCounts, MoveStats, NamedOpening, decided,
};

/// The default number of moves in a response.
const MOVES: u64 = 12;
const MASTER_GAMES: u64 = 15;
const TOP_GAMES: u64 = 4;
const RECENT_GAMES: u64 = 4;

/// A game in a list. `uci` is the move that the game played from the position, with castling
/// written as on Lichess.
#[derive(Debug, Serialize)]
struct ExplorerGame {
    #[serde(skip_serializing_if = "Option::is_none")]
    uci: Option<String>,
    #[serde(flatten)]
    game: ListedGame,
}

impl ExplorerGame {
    fn new(position: &Position, mut game: ListedGame) -> Self {
        let uci = game.mv.take().map(|mv| with_rook(position, mv));
        ExplorerGame { uci, game }
    }
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct ExplorerMove {
    uci: String,
    san: String,
    average_rating: u16,
    #[serde(flatten, serialize_with = "decided")]
    counts: Counts,
    game: Option<ExplorerGame>,
    opening: Option<NamedOpening>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ExplorerAnswer {
    #[serde(flatten, serialize_with = "decided")]
    counts: Counts,
    moves: Vec<ExplorerMove>,
    #[serde(skip_serializing_if = "Option::is_none")]
    recent_games: Option<Vec<ExplorerGame>>,
    top_games: Vec<ExplorerGame>,
    opening: Option<NamedOpening>,
    /// Whether the counted games are engine self-play games. Omitted from the JSON if false.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    self_play: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    history: Option<Vec<MonthCounts>>,
}

/// The maximum number of entries in each list of the response.
#[derive(Debug, Clone, Copy)]
struct ListLimits {
    moves: usize,
    top_games: usize,
    recent_games: Option<usize>,
    history: bool,
}

pub(crate) fn masters(content: &Content, mut query: Query) -> Result<ExplorerAnswer, ApiError> {
    let game = query.game()?;
    let filter = facets::read_dates(&mut query, Dates::Years, Vec::new(), Vec::new())?;
    let wanted = ListLimits {
        moves: moves(&mut query, MOVES)?,
        top_games: at_most(&mut query, "topGames", MASTER_GAMES)?,
        recent_games: None,
        history: false,
    };
    answer(content, &game, &filter, wanted)
}

pub(crate) fn lichess(content: &Content, query: Query) -> Result<ExplorerAnswer, ApiError> {
    of_lichess(content, query, |query| {
        Ok(ListLimits {
            moves: moves(query, MOVES)?,
            top_games: at_most(query, "topGames", TOP_GAMES)?,
            recent_games: Some(at_most(query, "recentGames", RECENT_GAMES)?),
            history: query.flag("history")?.unwrap_or(false),
        })
    })
}

/// Answers a `/lichess/history` request. The response has only totals and the history, without
/// moves or games.
pub(crate) fn lichess_history(content: &Content, query: Query) -> Result<ExplorerAnswer, ApiError> {
    let wanted = ListLimits { moves: 0, top_games: 0, recent_games: Some(0), history: true };
    of_lichess(content, query, |_| Ok(wanted))
}

fn of_lichess(
    content: &Content,
    mut query: Query,
    wanted: impl FnOnce(&mut Query) -> Result<ListLimits, ApiError>,
) -> Result<ExplorerAnswer, ApiError> {
    standard_chess(&mut query)?;
    let game = query.game()?;
    let filter = facets::read(&mut query, Dates::Months)?;
    let wanted = wanted(&mut query)?;
    answer(content, &game, &filter, wanted)
}

/// Rejects variants other than standard chess, because books contain no games of other variants.
pub(crate) fn standard_chess(query: &mut Query) -> Result<(), ApiError> {
    match query.text("variant").as_deref() {
        None | Some("" | "standard" | "fromPosition" | "chess") => Ok(()),
        Some(variant) => Err(ApiError::bad_request(format!(
            "variant={variant:?}: the book is of standard chess alone"
        ))),
    }
}

/// Reads the maximum number of moves to list. The default is `usual`, and the upper limit is
/// `MAX_MOVES`.
pub(crate) fn moves(query: &mut Query, usual: u64) -> Result<usize, ApiError> {
    let most = MAX_MOVES as u64;
    Ok(query.number("moves", (0, u64::MAX))?.unwrap_or(usual).min(most) as usize)
}

/// Reads the maximum number of games to list from the parameter `name`. The default and the upper
/// limit are `most`, as in Lichess's explorer.
pub(crate) fn at_most(query: &mut Query, name: &str, most: u64) -> Result<usize, ApiError> {
    Ok(query.number(name, (0, u64::MAX))?.unwrap_or(most).min(most) as usize)
}

fn answer(
    content: &Content,
    game: &Game,
    filter: &FacetFilter,
    wanted: ListLimits,
) -> Result<ExplorerAnswer, ApiError> {
    let position = game.position();
    let mut known = facets::explore(&content.book, position, filter, Breadth::Played)?;
    known.moves.sort_by_key(|found| (std::cmp::Reverse(found.played.counts.games()), found.mv));
    let moves = known.moves.into_iter().take(wanted.moves);
    let cut = |games: Vec<ListedGame>, most: usize| {
        games.into_iter().take(most).map(|game| ExplorerGame::new(position, game)).collect()
    };
    Ok(ExplorerAnswer {
        counts: known.continued.counts,
        moves: moves.map(|found| explorer_move(content, position, found)).collect(),
        recent_games: wanted.recent_games.map(|most| cut(known.continued.latest, most)),
        top_games: cut(known.continued.top, wanted.top_games),
        opening: content.names.of_game(game).cloned(),
        self_play: content.book.counts_self_play(position),
        history: wanted.history.then_some(known.continued.history),
    })
}

fn explorer_move(content: &Content, position: &Position, found: MoveStats) -> ExplorerMove {
    let MoveStats { mv, played, .. } = found;
    let listed = |game| ExplorerGame::new(position, game);
    let is_only = played.counts.games() == 1;
    ExplorerMove {
        uci: with_rook(position, mv),
        san: position.san(mv),
        average_rating: played.mean_rating().unwrap_or_default(),
        counts: played.counts,
        game: played.top.into_iter().next().filter(|_| is_only).map(listed),
        opening: content.names.get(&position.play(mv)).cloned(),
    }
}
