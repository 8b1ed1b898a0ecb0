//! The results of a player's games, in the form of Lichess' explorer.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use serde::Serialize;

use super::index::{PlayerGame, PlayerIndex};
use super::order::PlayerOrder;
use crate::chess::position::{Color, Move, Position};
use crate::games::book::{Counts, quantile};
use crate::games::pgn::GameResult;
use crate::web::serve::json::{ListedGame, Opening};
use crate::web::serve::loaded_books::Content;
use crate::web::serve::query::with_rook;

/// The standard deviation of the difference of two players' strengths in rating points, in Elo's
/// model: 200 each, times the root of 2, as FIDE rounds it.
const DEVIATION: f64 = 2000.0 / 7.0;
/// Maximum difference between a performance and the opponents' ratings: a full score proves no more
/// (FIDE handbook, B.02, table 8.1).
const MAX: f64 = 800.0;

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
struct PlayerMove {
    uci: String,
    san: String,
    average_opponent_rating: u32,
    performance: u32,
    white: u32,
    draws: u32,
    black: u32,
    game: Option<ListedGame>,
    opening: Option<Opening>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PlayerAnswer {
    white: u32,
    draws: u32,
    black: u32,
    moves: Vec<PlayerMove>,
    recent_games: Vec<ListedGame>,
    opening: Option<Opening>,
    queue_position: u64,
}

#[derive(Debug, Default)]
struct Played<'g> {
    counts: Counts,
    ratings: Vec<u16>,
    first: Option<&'g PlayerGame>,
}

impl PlayerOrder {
    /// Returns the results found so far.
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
        for game in games.iter().filter(|game| self.wants(game)) {
            // A game that repeats the position counts once, with the last move.
            let Some(at) = game.keys.iter().rposition(|&key| key == position.key()) else {
                continue;
            };
            let mv = game.moves[at];
            let played = by_move.entry(mv).or_default();
            played.counts += Counts::of(game.result, 1);
            let other = if self.color == Color::White { &game.black } else { &game.white };
            played.ratings.extend((other.rating > 0).then_some(other.rating));
            played.first.get_or_insert(game);
            recent.push((game, mv));
        }
        recent.sort_by_key(|(game, _)| (Reverse(game.month), Reverse(game.place)));
        let mut moves: Vec<(Move, Played<'_>)> = by_move.into_iter().collect();
        moves.sort_by_key(|(mv, played)| (Reverse(played.counts.games()), *mv));
        let total: Counts = moves.iter().map(|(_, played)| played.counts).sum();
        let list = |(game, mv): &(&PlayerGame, Move)| ListedGame {
            uci: Some(with_rook(position, *mv)),
            ..listed(game)
        };
        PlayerAnswer {
            white: total.white,
            draws: total.draws,
            black: total.black,
            moves: moves
                .iter()
                .take(self.moves)
                .map(|found| self.to_answer(content, position, found))
                .collect(),
            recent_games: recent.iter().take(self.recent_games).map(list).collect(),
            opening: content.names.of_game(&self.game).map(Opening::from),
            queue_position,
        }
    }

    /// The name of the player, in lower case.
    pub(crate) fn player(&self) -> &str {
        &self.player
    }

    fn wants(&self, game: &PlayerGame) -> bool {
        game.color == self.color
            && game.result != GameResult::Undecided
            && self.filter.passes(game.speed, game.month)
            && (self.modes.is_empty() || self.modes.contains(&game.mode))
    }

    fn to_answer(
        &self,
        content: &Content,
        position: &Position,
        found: &(Move, Played<'_>),
    ) -> PlayerMove {
        let (mv, Played { counts, ratings, first }) = found;
        let known = ratings.len().max(1) as f64;
        let average = ratings.iter().map(|&rating| f64::from(rating)).sum::<f64>() / known;
        let performance = if ratings.is_empty() { 0.0 } else { average + lead(counts, self.color) };
        PlayerMove {
            uci: with_rook(position, *mv),
            san: position.san(*mv),
            average_opponent_rating: average.round() as u32,
            performance: performance.max(0.0).round() as u32,
            white: counts.white,
            draws: counts.draws,
            black: counts.black,
            game: first.filter(|_| counts.games() == 1).map(listed),
            opening: content.names.get(&position.play(*mv)).map(Opening::from),
        }
    }
}

/// Returns how much stronger than the opponents a player with this score is, in rating points: the
/// performance in Elo's model.
fn lead(counts: &Counts, side: Color) -> f64 {
    let score = counts.score(side);
    match score {
        0.0 => -MAX,
        1.0 => MAX,
        _ if score < 0.5 => -DEVIATION * quantile(1.0 - score),
        _ => DEVIATION * quantile(score),
    }
    .clamp(-MAX, MAX)
}

fn listed(game: &PlayerGame) -> ListedGame {
    ListedGame {
        uci: None,
        id: game.id.to_string(),
        winner: match game.result {
            GameResult::White => Some("white"),
            GameResult::Black => Some("black"),
            GameResult::Draw | GameResult::Undecided => None,
        },
        speed: Some(game.speed.name()),
        mode: Some(game.mode.name()),
        white: game.white.clone(),
        black: game.black.clone(),
        year: game.month.map_or(0, |month| month.year),
        month: game.month,
    }
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
            let found: f64 = average + lead(&counts, side);
            assert!((found - performance).abs() < 1.5, "{counts}: {found}");
        }
    }
}
