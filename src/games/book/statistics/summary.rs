//! Summaries and lists of games.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt::Display;

use serde::{Serialize, Serializer};

use crate::chess::position::{Color, Move};
use crate::games::book::facets::{CompiledFilter, FacetFilter, GameId, Games, Speed};
use crate::games::book::format::counts::{Counts, decided};
use crate::games::pgn::{GameDate, GameResult, Month};
use crate::support::words::visible;

/// The maximum number of games listed for a position and for each of its moves, as in the Lichess
/// opening explorer.
pub const LISTED_GAMES: usize = 15;

/// A player of a listed game.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Player {
    /// The name; empty if unknown.
    pub name: String,
    /// The player's rating, if the game contains it; serialized as 0 if unknown.
    #[serde(serialize_with = "or_zero")]
    pub rating: Option<u16>,
}

impl Player {
    pub(crate) fn describe(&self) -> String {
        let name = visible(&self.name);
        self.rating.map_or_else(|| name.to_string(), |rating| format!("{name} ({rating})"))
    }
}

/// A game in a list. Serialized in the format of the Lichess opening explorer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ListedGame {
    /// The move played in the position, if known. `None`, for example, if the game ended in the
    /// position or if the book does not contain the move.
    #[serde(rename = "uci", skip_serializing_if = "Option::is_none", serialize_with = "as_uci")]
    pub mv: Option<Move>,
    /// The id, for use with [`Book::game`](crate::games::book::Book::game).
    #[serde(serialize_with = "as_text")]
    pub id: GameId,
    /// The result of the game.
    #[serde(rename = "winner", serialize_with = "as_winner")]
    pub result: GameResult,
    /// The speed of the game.
    #[serde(serialize_with = "as_text")]
    pub speed: Speed,
    /// The player with the white pieces.
    pub white: Player,
    /// The player with the black pieces.
    pub black: Player,
    /// The date of the game.
    #[serde(flatten, serialize_with = "as_year_and_month")]
    pub date: GameDate,
}

fn or_zero<S: Serializer>(rating: &Option<u16>, serializer: S) -> Result<S::Ok, S::Error> {
    rating.unwrap_or_default().serialize(serializer)
}

fn as_text<S: Serializer>(value: &impl Display, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(value)
}

fn as_uci<S: Serializer>(mv: &Option<Move>, serializer: S) -> Result<S::Ok, S::Error> {
    mv.map(Move::uci).serialize(serializer)
}

fn as_winner<S: Serializer>(result: &GameResult, serializer: S) -> Result<S::Ok, S::Error> {
    match result {
        GameResult::White => Some("white"),
        GameResult::Black => Some("black"),
        GameResult::Draw | GameResult::Undecided => None,
    }
    .serialize(serializer)
}

fn as_year_and_month<S: Serializer>(date: &GameDate, serializer: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct YearAndMonth {
        year: u16,
        month: Option<Month>,
    }
    let month = date.month();
    YearAndMonth { year: month.map_or(0, |month| month.year), month }.serialize(serializer)
}

impl ListedGame {
    /// Returns the list entry for a game. `mv` is the move played by this game in the position for
    /// which games are listed.
    pub(in crate::games::book) fn of(
        games: &Games<'_>,
        game: u32,
        mv: Option<Move>,
    ) -> Option<Self> {
        let (game_tags, row) = games.game_tags(game).zip(games.row(game))?;
        let player = |name, side| Player {
            name: games.name(name).to_owned(),
            rating: game_tags.rating(side),
        };
        Some(ListedGame {
            id: row.id,
            white: player(row.white, Color::White),
            black: player(row.black, Color::Black),
            result: game_tags.result(),
            date: game_tags.date(),
            speed: game_tags.speed(),
            mv,
        })
    }

    pub(crate) fn describe(&self) -> String {
        let ListedGame { id, white, black, result, date, .. } = self;
        format!("{} - {} {result}, {date} ({id})", white.describe(), black.describe())
    }

    pub(crate) fn passes(&self, filter: &FacetFilter) -> bool {
        CompiledFilter::new(filter).accepts(self.date, self.speed, || self.mean_rating())
    }

    /// Returns the mean rating of both players, or the only known rating.
    pub fn mean_rating(&self) -> Option<u16> {
        match (self.white.rating, self.black.rating) {
            (Some(white), Some(black)) => Some(white.midpoint(black)),
            (white, black) => white.or(black),
        }
    }
}

/// The results of games in one month. Serialized in the format of the Lichess opening explorer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct MonthCounts {
    /// The month.
    pub month: Month,
    /// The results.
    #[serde(flatten, serialize_with = "decided")]
    pub counts: Counts,
}

/// Adds up results by month, oldest month first.
pub(super) fn by_month(results: impl Iterator<Item = MonthCounts>) -> Vec<MonthCounts> {
    let mut months: BTreeMap<Month, Counts> = BTreeMap::new();
    for MonthCounts { month, counts } in results {
        *months.entry(month).or_default() += counts;
    }
    months.into_iter().map(|(month, counts)| MonthCounts { month, counts }).collect()
}

/// A summary of a set of games.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GameSummary {
    /// The results.
    pub counts: Counts,
    /// The sum and the number of the known ratings of the player to move.
    pub(super) ratings: (u64, u64),
    /// The results by month. Games whose month is unknown are not included.
    pub history: Vec<MonthCounts>,
    /// The games with the highest mean ratings, at most [`LISTED_GAMES`]. Games with equal ratings
    /// are sorted latest first.
    pub top: Vec<ListedGame>,
    /// The latest games, at most [`LISTED_GAMES`], latest first. Games without a date come last.
    pub latest: Vec<ListedGame>,
}

impl GameSummary {
    /// Returns the rounded mean rating of the player to move over all games in which it is known,
    /// or `None` if there are no such games.
    pub fn mean_rating(&self) -> Option<u16> {
        let (sum, number) = self.ratings;
        (number > 0).then(|| ((sum + number / 2) / number) as u16)
    }

    pub(super) fn add(&mut self, other: GameSummary) {
        self.counts += other.counts;
        self.ratings.0 += other.ratings.0;
        self.ratings.1 += other.ratings.1;
        self.history = by_month(self.history.drain(..).chain(other.history));
        join(&mut self.top, other.top, |game| (game.mean_rating(), game.date));
        join(&mut self.latest, other.latest, |game| game.date);
    }

    /// Subtracts the results and ratings of games that were counted twice. `top` and `latest` do
    /// not change.
    pub(super) fn remove(&mut self, other: &GameSummary) {
        self.counts -= other.counts;
        self.ratings.0 -= other.ratings.0;
        self.ratings.1 -= other.ratings.1;
        for other in &other.history {
            if let Some(own) = self.history.iter_mut().find(|own| own.month == other.month) {
                own.counts -= other.counts;
            }
        }
    }
}

/// Merges two lists of games, removes duplicates, and keeps the [`LISTED_GAMES`] games that `rank`
/// puts first.
fn join<K: Ord>(
    list: &mut Vec<ListedGame>,
    more: Vec<ListedGame>,
    rank: impl Fn(&ListedGame) -> K,
) {
    for game in more {
        if !list.iter().any(|other| other.id == game.id) {
            list.push(game);
        }
    }
    list.sort_by_key(|game| Reverse(rank(game)));
    list.truncate(LISTED_GAMES);
}
