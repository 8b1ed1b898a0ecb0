//! What a rating means for a search: how far it looks, how much it errs, what it knows of openings.
//!
//! How the figures were found, and what they are worth, stands in `docs/players.md`.

use std::hash::{BuildHasher, RandomState};
use std::ops::RangeInclusive;
use std::time::Duration;

use crate::position::Game;
use crate::random::Random;
use crate::search::{Handicap, Limits, TimeLimit};

/// The lowest rating that can be played like.
pub(super) const WEAKEST: i64 = 800;
/// The highest, a little below what a second a move is worth.
pub(super) const STRONGEST: i64 = 2850;

/// The ratings that can be played like.
pub(crate) fn ratings() -> RangeInclusive<i64> {
    WEAKEST..=STRONGEST
}

/// Where errors end and only the lookahead is less.
const FLAWLESS: f64 = 2400.0;
/// The level at which the errors are as large as the next two say.
const CLUMSY: f64 = 600.0;
/// The misjudgement there, in centipawns.
const MISJUDGEMENT: f64 = 250.0;
/// The chance to overlook a move there, in permille for each ply.
const OVERSIGHT: f64 = 120.0;
/// Nodes after which no new iteration begins, there.
const NODES: f64 = 40.0;
/// What twice the nodes are worth on the scale of levels.
const DOUBLING: f64 = 150.0;
/// The whole search may take so many times the nodes after which no new iteration begins.
const HARD_FACTOR: u64 = 8;

/// How a player of some rating plays.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Strength {
    rating: i64,
    /// The place on a scale by which the errors are set, made so that it nearly is the rating.
    level: f64,
}

impl Strength {
    /// That of a rating.
    pub(super) fn of(rating: i64) -> Self {
        Strength { rating, level: rating as f64 }
    }

    /// Bounds a search by what such a player sees; `luck` draws the errors.
    pub(super) fn weaken(&self, limits: Limits, luck: u64) -> Limits {
        let nodes = (NODES * ((self.level - CLUMSY) / DOUBLING).exp2()) as u64;
        let flaw = ((FLAWLESS - self.level) / (FLAWLESS - CLUMSY)).max(0.0).powf(1.5);
        let handicap = Handicap {
            misjudgement: (MISJUDGEMENT * flaw) as i32,
            oversight: (OVERSIGHT * flaw) as u32,
            seed: luck,
        };
        let hard = limits.nodes.into_iter().chain([HARD_FACTOR * nodes]).min();
        Limits { nodes: hard, soft_nodes: Some(nodes), handicap: Some(handicap), ..limits }
    }

    /// How many plies of opening such a player knows: two moves at 800 and one more for every
    /// hundred points. Hand-set.
    pub(super) fn book_plies(&self) -> usize {
        2 * (2 + (self.rating - WEAKEST) / 100).unsigned_abs() as usize
    }
}

/// A number that differs from game to game. The standard library's own seed is the simplest source.
pub(super) fn new_luck() -> u64 {
    RandomState::new().hash_one(0)
}

/// The share of the clock that a person spends on a usual move. Hand-set.
const USUAL_SHARE: u32 = 45;
/// The longest pause.
const LONGEST_PAUSE: Duration = Duration::from_secs(20);

/// How long a person would think: drawn by position and game, less where there is little to choose.
pub(super) fn pause(game: &Game, time: TimeLimit, luck: u64) -> Duration {
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
    let mood = 0.3 + 1.4 * Random::new(luck ^ position.key()).fraction();
    let choice = match position.legal_moves().len() {
        0..=1 => 0.2,
        _ if is_recapture().is_some() => 0.5,
        _ => 1.0,
    };
    usual.mul_f64(mood * choice).min(LONGEST_PAUSE)
}
