//! Builds the response for a player's games, in the format of Lichess's explorer.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use serde::Serialize;

use super::index::{PlayerGame, PlayerIndex};
use super::names::WantedName;
use super::order::PlayerOrder;
use crate::chess::position::{Color, Move, Position};
use crate::games::book::{Counts, ListedGame, NamedOpening, Player, decided, quantile};
use crate::games::pgn::GameResult;
use crate::web::serve::loaded_books::Content;
use crate::web::serve::query::with_rook;

/// The standard deviation of the difference between two players' strengths in Elo's model: 200
/// rating points for each player, times the square root of 2, rounded as FIDE does.
const DEVIATION: f64 = 2000.0 / 7.0;
/// The maximum rating difference, even for a perfect score (FIDE handbook, B.02, table 8.1).
const MAX: f64 = 800.0;

#[derive(Debug, Clone, PartialEq, Serialize)]
struct PlayerListedGame {
    #[serde(skip_serializing_if = "Option::is_none")]
    uci: Option<String>,
    mode: &'static str,
    #[serde(flatten)]
    game: ListedGame,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
struct PlayerMove {
    uci: String,
    san: String,
    average_opponent_rating: u32,
    performance: u32,
    #[serde(flatten)]
    score: PlayerScore,
    #[serde(flatten, serialize_with = "decided")]
    counts: Counts,
    game: Option<PlayerListedGame>,
    opening: Option<NamedOpening>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PlayerAnswer {
    #[serde(flatten)]
    score: PlayerScore,
    #[serde(flatten, serialize_with = "decided")]
    counts: Counts,
    moves: Vec<PlayerMove>,
    recent_games: Vec<PlayerListedGame>,
    opening: Option<NamedOpening>,
    queue_position: u64,
}

/// The player's average result from 0 to 1. It is present only if games with both colours are
/// included, because otherwise it follows from the counts.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
struct PlayerScore {
    #[serde(skip_serializing_if = "Option::is_none")]
    score: Option<f64>,
}

#[derive(Debug, Default)]
struct Played<'g> {
    counts: Counts,
    /// The player's total score.
    points: f64,
    ratings: Vec<u16>,
    first: Option<&'g PlayerGame>,
}

impl PlayerOrder {
    pub(crate) fn answer(
        &self,
        content: &Content,
        player: &PlayerIndex,
        queue_position: u64,
    ) -> PlayerAnswer {
        let position = self.game.position();
        let games = player.games();
        let mut by_move: BTreeMap<Move, Played<'_>> = BTreeMap::new();
        let mut recent: Vec<(&PlayerGame, Move)> = Vec::new();
        for (game, color) in games.iter().filter_map(|game| Some((game, self.color_in(game)?))) {
            // A game that reaches the position several times counts once, with the move it played
            // there last.
            let Some(at) = game.keys.iter().rposition(|&key| key == position.key()) else {
                continue;
            };
            let mv = game.moves[at];
            let played = by_move.entry(mv).or_default();
            let counts = Counts::of(game.listed.result, 1);
            played.counts += counts;
            played.points += counts.score(color);
            played.ratings.extend(opponent(game, color).rating);
            played.first.get_or_insert(game);
            recent.push((game, mv));
        }
        recent.sort_by_key(|(game, _)| (Reverse(game.listed.date.month()), Reverse(game.place)));
        let mut moves: Vec<(Move, Played<'_>)> = by_move.into_iter().collect();
        moves.sort_by_key(|(mv, played)| (Reverse(played.counts.games()), *mv));
        let total: Counts = moves.iter().map(|(_, played)| played.counts).sum();
        let points = moves.iter().map(|(_, played)| played.points).sum();
        let list = |(game, mv): &(&PlayerGame, Move)| listed(game, Some(with_rook(position, *mv)));
        PlayerAnswer {
            score: self.score(points, &total),
            counts: total,
            moves: moves
                .iter()
                .take(self.moves)
                .map(|found| self.to_answer(content, position, found))
                .collect(),
            recent_games: recent.iter().take(self.recent_games).map(list).collect(),
            opening: content.names.of_game(&self.game).cloned(),
            queue_position,
        }
    }

    pub(crate) fn player(&self) -> &WantedName {
        &self.player
    }

    /// Returns the player's colour in a game, or `None` if the game is not included. A game between
    /// two players with the requested name counts once.
    fn color_in(&self, game: &PlayerGame) -> Option<Color> {
        let is_included = game.listed.result != GameResult::Undecided
            && game.listed.passes(&self.filter)
            && (self.modes.is_empty() || self.modes.contains(&game.mode));
        let mut colors = game.colors.iter().copied().filter(|_| is_included);
        colors.find(|&color| {
            self.color.is_none_or(|wanted| wanted == color)
                && self.opponent.as_ref().is_none_or(|name| name.is(&opponent(game, color).name))
        })
    }

    fn score(&self, points: f64, counts: &Counts) -> PlayerScore {
        let is_shown = self.color.is_none() && counts.games() > 0;
        let score = (points / counts.games().max(1) as f64 * 1e4).round() / 1e4;
        PlayerScore { score: is_shown.then_some(score) }
    }

    fn to_answer(
        &self,
        content: &Content,
        position: &Position,
        found: &(Move, Played<'_>),
    ) -> PlayerMove {
        let (mv, Played { counts, points, ratings, first }) = found;
        let known = ratings.len().max(1) as f64;
        let average = ratings.iter().map(|&rating| f64::from(rating)).sum::<f64>() / known;
        let score = points / counts.games().max(1) as f64;
        let performance = if ratings.is_empty() { 0.0 } else { average + lead(score) };
        PlayerMove {
            uci: with_rook(position, *mv),
            san: position.san(*mv),
            average_opponent_rating: average.round() as u32,
            performance: performance.max(0.0).round() as u32,
            score: self.score(*points, counts),
            counts: *counts,
            game: first.filter(|_| counts.games() == 1).map(|game| listed(game, None)),
            opening: content.names.get(&position.play(*mv)).cloned(),
        }
    }
}

fn opponent(game: &PlayerGame, color: Color) -> &Player {
    if color == Color::White { &game.listed.black } else { &game.listed.white }
}

/// Returns the rating advantage that corresponds to a score from 0 to 1 in Elo's model. It is
/// negative for scores below 50%.
fn lead(score: f64) -> f64 {
    match score {
        0.0 => -MAX,
        1.0 => MAX,
        _ if score < 0.5 => -DEVIATION * quantile(1.0 - score),
        _ => DEVIATION * quantile(score),
    }
    .clamp(-MAX, MAX)
}

fn listed(game: &PlayerGame, uci: Option<String>) -> PlayerListedGame {
    PlayerListedGame { uci, mode: game.mode.name(), game: game.listed.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn performance_matches_the_published_example() {
        for (counts, side, average, performance) in [
            (Counts::new(361, 23, 272), Color::White, 1695.0, 1744.0),
            (Counts::new(2, 0, 2), Color::White, 1797.0, 1797.0),
            (Counts::new(1, 0, 2), Color::White, 1762.0, 1640.0),
            (Counts::new(0, 0, 1), Color::White, 1674.0, 874.0),
            (Counts::new(0, 0, 1), Color::Black, 1674.0, 2474.0),
        ] {
            let found: f64 = average + lead(counts.score(side));
            assert!((found - performance).abs() < 1.5, "{counts}: {found}");
        }
    }
}
