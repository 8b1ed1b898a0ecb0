//! Collects facts from the PGN tags of all games that reached a position: popularity by year,
//! results by rating, and model games.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use serde::Serialize;

use super::share;
use crate::chess::notation::NamedMove;
use crate::games::book::{Counts, GameFacts, ListedGame, PositionGames, RatingGroup};
use crate::games::pgn::GameResult;

/// The maximum number of model games for each result.
const MODEL_GAMES: usize = 3;
/// The results for which model games are listed, in the order shown on the page.
const MODEL_RESULTS: [GameResult; 3] = [GameResult::White, GameResult::Black, GameResult::Draw];

/// Facts from the tags of the games that reached a position.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Facts {
    /// The results of all games in the book that reached the position.
    pub(super) games: Counts,
    /// The total number of games in the book.
    pub(super) book_games: u64,
    pub(crate) years: Vec<YearRow>,
    pub(super) ratings: Vec<RatingRow>,
    pub(super) model_games: Vec<ModelGame>,
}

/// The games of one year that reached the position.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct YearRow {
    /// `None` for games without a date.
    pub(crate) year: Option<u16>,
    pub(super) games: Counts,
    /// The number of games in the book from this year, including those that did not reach the
    /// position.
    pub(super) book_games: u64,
    /// The fraction of the book's games from this year that reached the position, in the range
    /// 0..=1.
    pub(crate) share: f64,
}

/// The games in a rating group. The group of a game is determined by the mean of the players'
/// ratings, or by the only known rating.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RatingRow {
    /// The lower bound of the rating group, or `None` for games without ratings.
    pub(super) from: Option<u16>,
    pub(super) games: Counts,
}

/// A model game between strong players.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ModelGame {
    #[serde(skip)]
    pub(super) number: u32,
    #[serde(flatten)]
    pub(super) game: ListedGame,
    /// The name of the event. Empty if it is unknown or if the game could not be read.
    pub(super) event: String,
    /// The first moves played after the report's position. Empty if the game could not be read.
    pub(super) moves: Vec<NamedMove>,
    /// The number of plies played after the position.
    pub(super) plies: usize,
}

impl Facts {
    pub(super) fn new(games: &PositionGames) -> Self {
        let mut all = Counts::default();
        let mut years: BTreeMap<Option<u16>, Counts> = BTreeMap::new();
        let mut ratings: BTreeMap<Option<RatingGroup>, Counts> = BTreeMap::new();
        let mut best: [BestGames; MODEL_RESULTS.len()] = Default::default();
        games.each(|number, facts| {
            let counts = Counts::of(facts.result, 1);
            all += counts;
            *years.entry(facts.year()).or_default() += counts;
            *ratings.entry(facts.rating.map(RatingGroup::of)).or_default() += counts;
            if let Some(at) = MODEL_RESULTS.iter().position(|&result| result == facts.result) {
                best[at].add(number, &facts);
            }
        });
        let of_book = games.years_of_book();
        let year_row = |(year, games): (Option<u16>, Counts)| {
            let book_games = of_book.get(&year).copied().unwrap_or(0);
            YearRow { year, games, book_games, share: share(games.games(), book_games) }
        };
        let model_game = |number: u32| {
            let game = games.listed(number)?;
            Some(ModelGame { number, game, event: String::new(), moves: Vec::new(), plies: 0 })
        };
        let rating_row = |(group, games): (Option<RatingGroup>, Counts)| RatingRow {
            from: group.map(RatingGroup::lower_bound),
            games,
        };
        Facts {
            games: all,
            book_games: of_book.values().sum(),
            years: years.into_iter().map(year_row).collect(),
            ratings: ratings.into_iter().map(rating_row).collect(),
            model_games: best
                .into_iter()
                .flat_map(BestGames::numbers)
                .filter_map(model_game)
                .collect(),
        }
    }
}

/// The games with the highest mean ratings, in descending order. Games with equal ratings are
/// ordered from latest to earliest.
#[derive(Debug, Default)]
struct BestGames(Vec<(Option<u16>, Reverse<u32>)>);

impl BestGames {
    fn add(&mut self, number: u32, facts: &GameFacts) {
        let ranked = (facts.rating, Reverse(number));
        let place = self.0.partition_point(|&other| other > ranked);
        if place < MODEL_GAMES {
            self.0.truncate(MODEL_GAMES - 1);
            self.0.insert(place, ranked);
        }
    }

    fn numbers(self) -> impl Iterator<Item = u32> {
        self.0.into_iter().map(|(_, Reverse(number))| number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::games::pgn::GameDate;

    #[test]
    fn best_games_are_the_highest_rated_and_then_the_latest() {
        let mut best = BestGames::default();
        let ratings = [Some(2400), None, Some(2500), Some(2400), Some(2600), Some(2400), None];
        for (number, rating) in (0..).zip(ratings) {
            let (date, result) = (GameDate::UNKNOWN, GameResult::White);
            best.add(number, &GameFacts { date, rating, result });
        }
        assert_eq!(best.numbers().collect::<Vec<_>>(), [4, 2, 0]);
    }
}
