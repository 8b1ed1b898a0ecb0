//! `/book`: the book statistics of a position, in Tabia's own format.

use serde::Serialize;

use super::api_error::ApiError;
use super::facets::{self, Dates};
use super::loaded_books::Content;
use super::move_orders::{ArrivalAnswer, arrival_answers};
use super::query::Query;
use crate::chess::notation::{self, NamedMove, ScoreAnswer};
use crate::chess::position::{Color, Game, Move, Position};
use crate::games::book::{
    BookValue, Breadth, Counts, ListedGame, MonthCounts, MoveStats, NamedOpening, before,
};

#[derive(Debug, Serialize)]
struct ValueAnswer {
    score: ScoreAnswer,
    depth: i32,
    best: Option<NamedMove>,
    /// The name of the book that contains the value.
    book: String,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct MoveAnswer {
    #[serde(flatten)]
    mv: NamedMove,
    played: Counts,
    reached: Counts,
    /// The average result of the games that reached the position after this move, from 0 to 1, for
    /// the side that plays the move.
    score: f64,
    value: Option<ScoreAnswer>,
    /// The depth of the search that produced `value`, in plies.
    value_depth: Option<i32>,
    /// The name of the book that contains `value`.
    #[serde(skip_serializing_if = "Option::is_none")]
    value_book: Option<String>,
    average_rating: Option<u16>,
    opening: Option<NamedOpening>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    history: Vec<MonthCounts>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct BookAnswer {
    fen: String,
    turn: &'static str,
    check: bool,
    /// Why the game is over, or `None` if it is not.
    outcome: Option<&'static str>,
    line: Vec<NamedMove>,
    /// The opening name of the last position in the line that has a name.
    opening: Option<NamedOpening>,
    self_play: bool,
    /// The results of the games that reached the position via any move order.
    reached: Counts,
    value: Option<ValueAnswer>,
    moves: Vec<MoveAnswer>,
    arrivals: Vec<ArrivalAnswer>,
    legal: Vec<NamedMove>,
    top_games: Vec<ListedGame>,
    recent_games: Vec<ListedGame>,
    history: Vec<MonthCounts>,
}

pub(crate) fn answer(content: &Content, mut query: Query) -> Result<BookAnswer, ApiError> {
    let game = query.game()?;
    let filter = facets::read(&mut query, Dates::Months)?;
    query.finish()?;
    let position = game.position();
    let known = facets::explore(&content.book, position, &filter, Breadth::Reached)?;
    let legal = position.legal_moves();
    Ok(BookAnswer {
        fen: position.fen(),
        turn: if position.side_to_move() == Color::White { "white" } else { "black" },
        check: position.in_check(),
        outcome: game.outcome().map(notation::outcome),
        line: line(&game),
        opening: content.names.of_game(&game).cloned(),
        self_play: content.book.counts_self_play(position),
        reached: known.reached.counts,
        value: content.value(position).map(|found| value_answer(position, found)),
        moves: known.moves.into_iter().map(|found| move_answer(content, position, found)).collect(),
        arrivals: arrival_answers(content, position),
        legal: legal.iter().map(|mv| NamedMove::new(position, mv)).collect(),
        top_games: known.reached.top,
        recent_games: known.reached.latest,
        history: known.reached.history,
    })
}

pub(crate) fn line(game: &Game) -> Vec<NamedMove> {
    let moves = game.positions().iter().zip(game.moves());
    moves.map(|(position, &mv)| NamedMove::new(position, mv)).collect()
}

fn value_answer(position: &Position, (book, value): (&str, BookValue)) -> ValueAnswer {
    let is_legal = |mv: &Move| position.is_legal(*mv);
    ValueAnswer {
        score: value.score.into(),
        depth: value.depth,
        best: value.best.filter(is_legal).map(|mv| NamedMove::new(position, mv)),
        book: book.to_owned(),
    }
}

fn move_answer(content: &Content, position: &Position, found: MoveStats) -> MoveAnswer {
    let score = found.reached.score(position.side_to_move());
    let next = position.play(found.mv);
    let (value_book, value) = content.value(&next).unzip();
    MoveAnswer {
        mv: NamedMove::new(position, found.mv),
        average_rating: found.played.mean_rating(),
        played: found.played.counts,
        reached: found.reached,
        score: (score * 1e4).round() / 1e4,
        value: value.map(|value| before(value.score).into()),
        value_depth: value.map(|value| value.depth + 1),
        value_book: value_book.map(str::to_owned),
        opening: content.names.get(&next).cloned(),
        history: found.played.history,
    }
}
