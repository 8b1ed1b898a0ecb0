//! The JSON representation of a book's contents, shared by `book dump` and `book show`.

use serde::Serialize;

use crate::chess::notation::ScoreAnswer;
use crate::chess::position::{Move, Position};
use crate::games::book::{Book, BookValue, Counts, ListedGame, NamedOpening, Player, Scored};

#[derive(Debug, Serialize)]
pub(super) struct PositionRow {
    pub fen: String,
    /// The number of plies from the first position of the dump. Only set by `book dump`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ply: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub opening: Option<NamedOpening>,
    /// Whether the counts come from the embedded book, which was built from self-play games.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub self_play: bool,
    pub reached: CountsRow,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<ValueRow>,
    pub moves: Vec<MoveRow>,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub games: Option<GameRows>,
}

#[derive(Debug, Serialize)]
pub(super) struct MoveRow {
    #[serde(flatten)]
    name: MoveName,
    played: CountsRow,
    reached: CountsRow,
    /// The analysis result for the position after the move, from the point of view of the side that
    /// makes the move.
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<ScoreAnswer>,
    #[serde(skip_serializing_if = "Option::is_none")]
    opening: Option<NamedOpening>,
}

impl MoveRow {
    pub(super) fn new(
        book: &Book,
        position: &Position,
        mv: Move,
        [played, reached]: [Counts; 2],
    ) -> Self {
        MoveRow {
            name: MoveName::new(position, mv),
            played: played.into(),
            reached: reached.into(),
            value: book.value_of_move(position, mv).map(ScoreAnswer::from),
            opening: None,
        }
    }

    pub(super) fn leading_to(self, opening: Option<&NamedOpening>) -> Self {
        MoveRow { opening: opening.cloned(), ..self }
    }
}

#[derive(Debug, Serialize)]
struct MoveName {
    san: String,
    uci: String,
}

impl MoveName {
    fn new(position: &Position, mv: Move) -> Self {
        MoveName { san: position.san(mv), uci: mv.to_string() }
    }
}

#[derive(Debug, Serialize)]
pub(super) struct CountsRow {
    white: u32,
    draws: u32,
    black: u32,
    undecided: u32,
}

impl From<Counts> for CountsRow {
    fn from(counts: Counts) -> Self {
        let Counts { white, draws, black, undecided } = counts;
        CountsRow { white, draws, black, undecided }
    }
}

/// The analysis result for a position. Scores are from the side to move's point of view.
#[derive(Debug, Serialize)]
pub(super) struct ValueRow {
    /// The score of the best move, even if that move leads to a position that was not analysed.
    score: ScoreAnswer,
    /// The depth of the search that produced the score, in plies.
    depth: i32,
    /// The node limit of the search.
    nodes: u64,
    best: Option<MoveName>,
    /// The best-scoring move among those that lead to an unanalysed position.
    outside: Option<ScoredRow>,
    /// The best move and score according to the search of this position, regardless of the analysis
    /// of later positions.
    own: Option<ScoredRow>,
}

#[derive(Debug, Serialize)]
struct ScoredRow {
    #[serde(flatten)]
    name: MoveName,
    score: ScoreAnswer,
}

impl ValueRow {
    pub(super) fn new(position: &Position, value: &BookValue) -> Self {
        let name = |mv: Move| position.is_legal(mv).then(|| MoveName::new(position, mv));
        let scored = |(mv, score): Scored| Some(ScoredRow { name: name(mv)?, score: score.into() });
        ValueRow {
            score: value.score.into(),
            depth: value.depth,
            nodes: value.nodes,
            best: value.best.and_then(name),
            outside: value.outside.and_then(scored),
            own: value.own.and_then(scored),
        }
    }
}

#[derive(Debug, Serialize)]
pub(super) struct GameRows {
    pub highest_rated: Vec<GameRow>,
    pub latest: Vec<GameRow>,
}

#[derive(Debug, Serialize)]
pub(super) struct GameRow {
    id: String,
    #[serde(rename = "move")]
    mv: Option<MoveName>,
    date: String,
    speed: String,
    result: String,
    white: PlayerRow,
    black: PlayerRow,
}

#[derive(Debug, Serialize)]
struct PlayerRow {
    name: String,
    rating: Option<u16>,
}

impl From<&Player> for PlayerRow {
    fn from(player: &Player) -> Self {
        PlayerRow { name: player.name.clone(), rating: player.rating }
    }
}

impl GameRow {
    pub(super) fn new(position: &Position, game: &ListedGame) -> Self {
        GameRow {
            id: game.id.to_string(),
            mv: game.mv.map(|mv| MoveName::new(position, mv)),
            date: game.date.to_string(),
            speed: game.speed.to_string(),
            result: game.result.to_string(),
            white: (&game.white).into(),
            black: (&game.black).into(),
        }
    }
}
