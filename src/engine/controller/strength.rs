//! Converts a rating into node limits, deliberate mistakes, and a limit on book moves.
//!
//! `docs/measurements/strength-levels.md` describes how the constants were measured and how
//! reliable they are.

use std::hash::{BuildHasher, RandomState};
use std::ops::RangeInclusive;
use std::time::Duration;

use crate::chess::position::Game;
use crate::engine::search::{Handicap, Limits, TimeLimit};
use crate::support::random::Random;

pub(super) const WEAKEST: i64 = 800;
/// Maximum rating. It is slightly below the engine's full strength at 0.1 seconds per move.
pub(super) const STRONGEST: i64 = 2850;

/// Pairs of a rating, measured in games, and the strength level that achieved it. Ratings in
/// between are interpolated linearly. The rating scale is anchored to the ratings of Stockfish's
/// levels.
const MEASURED: [(f64, f64); 10] = [
    (682.0, 630.0),
    (909.0, 775.0),
    (1140.0, 900.0),
    (1411.0, 1050.0),
    (1673.0, 1200.0),
    (1936.0, 1350.0),
    (2215.0, 1500.0),
    (2453.0, 1650.0),
    (2687.0, 1800.0),
    (2920.0, 1950.0),
];

pub(crate) fn ratings() -> RangeInclusive<i64> {
    WEAKEST..=STRONGEST
}

/// Lowest level at which the engine makes no deliberate mistakes.
const FLAWLESS: f64 = 2400.0;
/// Reference level: [`EVAL_NOISE`], [`MOVE_BLINDNESS`] and [`NODES`] are the values at this level,
/// from which those at other levels are calculated.
const CLUMSY: f64 = 600.0;
/// Standard deviation of the random error added to each evaluation at level [`CLUMSY`], in
/// centipawns.
const EVAL_NOISE: f64 = 250.0;
/// Probability of overlooking a move at level [`CLUMSY`], in per mille per ply of distance from the
/// root.
const MOVE_BLINDNESS: f64 = 120.0;
/// Soft node limit at level [`CLUMSY`]. No new iteration starts after this many nodes.
const NODES: f64 = 40.0;
const DOUBLING: f64 = 150.0;
/// Hard node limit, at which the search stops, as a multiple of the soft limit.
const HARD_FACTOR: u64 = 8;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Strength {
    rating: i64,
    /// Strength level, which determines the node limits and the deliberate mistakes. See
    /// [`MEASURED`].
    level: f64,
}

impl Strength {
    pub(super) fn of(rating: i64) -> Self {
        Strength { rating, level: level(rating as f64) }
    }

    /// Adds this level's node limits and deliberate mistakes to `limits`. The mistakes depend on
    /// `seed`.
    pub(super) fn limit_search(&self, limits: Limits, seed: u64) -> Limits {
        let nodes = (NODES * ((self.level - CLUMSY) / DOUBLING).exp2()) as u64;
        let flaw = ((FLAWLESS - self.level) / (FLAWLESS - CLUMSY)).max(0.0).powf(1.5);
        let handicap = Handicap {
            eval_noise: (EVAL_NOISE * flaw) as i32,
            move_blindness: (MOVE_BLINDNESS * flaw) as u32,
            seed,
        };
        let hard = limits.nodes.into_iter().chain([HARD_FACTOR * nodes]).min();
        Limits { nodes: hard, soft_nodes: Some(nodes), handicap: Some(handicap), ..limits }
    }

    /// Returns the number of plies to play from the book. The rule was chosen by hand: two moves at
    /// a rating of 800, plus one move for every hundred points above that.
    pub(super) fn book_plies(&self) -> usize {
        2 * (2 + (self.rating - WEAKEST) / 100).unsigned_abs() as usize
    }
}

fn level(rating: f64) -> f64 {
    let above = MEASURED[1..MEASURED.len() - 1].partition_point(|&(known, _)| known < rating) + 1;
    let ((low, from), (high, to)) = (MEASURED[above - 1], MEASURED[above]);
    from + (to - from) * (rating - low) / (high - low)
}

/// Returns a random seed. The standard library's hash seed is the simplest source of randomness.
pub(super) fn new_seed() -> u64 {
    RandomState::new().hash_one(0)
}

/// A human is assumed to spend the remaining time divided by this number on an ordinary move.
/// Chosen by hand.
const USUAL_SHARE: u32 = 45;
const LONGEST_PAUSE: Duration = Duration::from_secs(20);

/// Returns a human-like thinking time for the current move. The time varies randomly with `seed`,
/// and is shorter for forced moves and recaptures.
pub(super) fn pause(game: &Game, time: TimeLimit, seed: u64) -> Duration {
    let usual = match time {
        TimeLimit::Infinite => return Duration::ZERO,
        TimeLimit::MoveTime(time) => time / 2,
        TimeLimit::Clock { remaining, increment, moves_to_go } => {
            let share =
                remaining / moves_to_go.map_or(USUAL_SHARE, |moves| moves.clamp(2, USUAL_SHARE));
            (share + increment / 2).min(remaining / 4)
        }
    };
    let position = game.position();
    let is_recapture = || {
        let last = game.moves().last()?;
        let before = game.positions().iter().rev().nth(1)?;
        before.is_noisy(*last).then_some(())
    };
    let mood = 0.3 + 1.4 * Random::new(seed ^ position.key()).fraction();
    let choice = match position.legal_moves().len() {
        0..=1 => 0.2,
        _ if is_recapture().is_some() => 0.5,
        _ => 1.0,
    };
    usual.mul_f64(mood * choice).min(LONGEST_PAUSE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_match_the_measurements() {
        for (rating, expected) in MEASURED {
            assert!((level(rating) - expected).abs() < 1e-9, "{rating}");
        }
    }

    #[test]
    fn strength_grows_with_the_rating() {
        let weakened = |rating| Strength::of(rating).limit_search(Limits::default(), 1);
        let mut last = weakened(WEAKEST);
        for rating in WEAKEST + 1..=STRONGEST {
            let now = weakened(rating);
            let [(before, errors), (nodes, fewer)] =
                [&last, &now].map(|limits| (limits.soft_nodes, limits.handicap.expect("errors")));
            assert!(nodes >= before, "{rating}");
            assert!(
                fewer.eval_noise <= errors.eval_noise
                    && fewer.move_blindness <= errors.move_blindness
            );
            last = now;
        }
        assert!(last.soft_nodes > Some(10_000), "{last:?}");
    }

    #[test]
    fn stricter_limit_is_kept() {
        assert_eq!(Strength::of(2000).limit_search(Limits::nodes(7), 1).nodes, Some(7));
    }

    #[test]
    fn weaker_players_leave_the_book_earlier() {
        assert_eq!(Strength::of(800).book_plies(), 4);
        assert_eq!(Strength::of(2000).book_plies(), 28);
    }

    #[test]
    fn pause_is_a_fraction_of_the_clock() {
        let second = Duration::from_secs(1);
        let clock =
            TimeLimit::Clock { remaining: second * 90, increment: second, moves_to_go: None };
        for seed in 0..100 {
            let long = pause(&Game::default(), clock, seed);
            assert!(second / 2 < long && long < second * 5, "{long:?}");
            assert!(pause(&Game::default(), TimeLimit::MoveTime(second), seed) < second);
            assert!(pause(&Game::default(), TimeLimit::Infinite, seed).is_zero());
        }
    }
}
