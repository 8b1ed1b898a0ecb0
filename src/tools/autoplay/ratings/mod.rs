//! Joint ratings of players from all their games.
//!
//! The expected score of a game is a logistic function of the rating difference plus White's
//! advantage. The ratings maximise the likelihood of the results, where a draw counts as half a win
//! and half a loss. This is the Bradley-Terry model (<https://doi.org/10.2307/2334029>), as in Ordo
//! (<https://github.com/michiguel/Ordo>). If one set of ratings explains the scores of all pairings
//! exactly, the result is that set.
//!
//! The margins of error do not assume that games are independent, or that there are no draws. They
//! are computed from the observed variance of game pairs with the same opening (the sandwich
//! estimator, Huber 1967, <https://projecteuclid.org/euclid.bsmsp/1200512988>).
//!
//! ```
//! use tabia::autoplay::ratings::{RatedGame, ratings};
//!
//! // Player 0 wins three of four pairs against player 1; the other pair is split.
//! let pair = |pair, won| [0, 1].map(|game| RatedGame {
//!     players: [game, 1 - game],
//!     half_points: if won && game == 1 { 0 } else { 2 },
//!     pair: Some(pair),
//! });
//! let games: Vec<_> = (0..4).flat_map(|number| pair(number, number > 0)).collect();
//! let found = ratings(2, &games, &[]);
//! assert_eq!(found.rows[0].player, 0);
//! let difference = found.rows[0].elo - found.rows[1].elo;
//! assert!((difference - 400.0 * f64::log10(7.0)).abs() < 30.0, "{difference}");
//! ```

mod comparable;
mod model;
mod pgn;
#[cfg(test)]
mod tests;

pub use pgn::PgnResults;
use serde::Serialize;

use super::stats::{ELO_SCALE, Estimate, Z_95, normal_distribution};
use model::Model;

/// The maximum number of players. The computing time grows with the cube of the number of players,
/// and memory use with its square.
pub const MAX_PLAYERS: usize = 3000;

/// The result of a game.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RatedGame {
    /// The indexes of the players with White and with Black.
    pub players: [usize; 2],
    /// White's half points: 0, 1 or 2.
    pub half_points: u8,
    /// The number of the game pair (two games with the same opening), or `None` if the game is not
    /// part of a pair.
    pub pair: Option<usize>,
}

/// A player whose rating is known in advance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Anchor {
    /// The index of the player.
    pub player: usize,
    /// The rating.
    pub elo: f64,
    /// The standard deviation of the rating, in Elo. If it is 0, the rating is fixed; otherwise the
    /// games can change it.
    pub deviation: f64,
}

/// The rating of a player.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Rating {
    /// The index of the player.
    pub player: usize,
    /// The rating in Elo. Without anchors, ratings are shifted so that the mean of all rated
    /// players is 0.
    pub elo: f64,
    /// Half the width of the 95% confidence interval; `None` if it cannot be estimated or if the
    /// rating is fixed.
    pub error: Option<f64>,
    /// The probability that the player is stronger than the next one in the list. `None` for the
    /// last player, or if it cannot be estimated.
    pub superiority: Option<f64>,
}

/// The ratings of all players whose strengths can be compared.
#[derive(Debug, Clone, PartialEq)]
pub struct Ratings {
    /// The ratings in descending order.
    pub rows: Vec<Rating>,
    /// White's advantage in Elo.
    pub white_advantage: Estimate,
    /// The players without a rating, because their games do not determine a finite rating relative
    /// to the rated players: no chain of games connects them, or all results along such chains are
    /// wins or all are losses. The players with the highest share of points come first.
    pub unrated: Vec<usize>,
}

/// Computes ratings from the results of games. All players have indexes below `players`.
///
/// # Panics
/// If the index of a player in a game or an anchor is not below `players`.
pub fn ratings(players: usize, games: &[RatedGame], anchors: &[Anchor]) -> Ratings {
    let rated = comparable::comparable(players, games, anchors);
    let mut unrated: Vec<usize> = (0..players).collect();
    unrated.retain(|player| !rated.contains(player));
    let scores = scores(players, games);
    unrated.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]));
    let games: Vec<RatedGame> = games
        .iter()
        .filter(|game| game.players.iter().all(|player| rated.contains(player)))
        .copied()
        .collect();
    let model = Model::new(players, &rated, anchors);
    let solution = model.solve(&games);
    let mut rows: Vec<Rating> = rated
        .iter()
        .map(|&player| Rating {
            player,
            elo: ELO_SCALE * model.strength(&solution.values, player),
            error: error(solution.deviation(&model.direction(player, None))),
            superiority: None,
        })
        .collect();
    rows.sort_by(|a, b| b.elo.total_cmp(&a.elo).then(a.player.cmp(&b.player)));
    for index in 1..rows.len() {
        let (better, worse) = (rows[index - 1], rows[index]);
        let difference = model.direction(better.player, Some(worse.player));
        rows[index - 1].superiority = solution.deviation(&difference).map(|deviation| {
            normal_distribution((better.elo - worse.elo) / (ELO_SCALE * deviation))
        });
    }
    let white_advantage = Estimate {
        value: ELO_SCALE * solution.values[model.white()],
        error: error(solution.deviation(&[(model.white(), 1.0)])),
    };
    Ratings { rows, white_advantage, unrated }
}

/// Returns each player's share of the points in the player's games, or 0 without games.
fn scores(players: usize, games: &[RatedGame]) -> Vec<f64> {
    let (mut points, mut played) = (vec![0_u32; players], vec![0_u32; players]);
    for game in games {
        let [white, black] = game.players;
        let half_points = u32::from(game.half_points);
        for (player, half_points) in [(white, half_points), (black, 2 - half_points)] {
            points[player] += half_points;
            played[player] += 2;
        }
    }
    let share = |(&points, &played): (&u32, &u32)| f64::from(points) / f64::from(played.max(1));
    points.iter().zip(&played).map(share).collect()
}

fn error(deviation: Option<f64>) -> Option<f64> {
    deviation.map(|deviation| Z_95 * ELO_SCALE * deviation)
}
