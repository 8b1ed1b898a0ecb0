//! Rating groups and speeds, as Lichess defines them.

use std::fmt;
use std::str::FromStr;

use crate::support::error::ParseError;
use crate::support::words::named_values;

/// A range of ratings, from its lower bound up to but not including the lower bound of the next
/// group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RatingGroup(u8);

impl RatingGroup {
    /// The lower bounds of all groups, as in the Lichess opening explorer.
    pub const BOUNDS: [u16; 9] = [0, 1000, 1200, 1400, 1600, 1800, 2000, 2200, 2500];

    /// Returns the group that contains a rating.
    pub fn of(rating: u16) -> Self {
        let above = Self::BOUNDS.partition_point(|&bound| bound <= rating);
        RatingGroup((above - 1) as u8)
    }

    /// Returns the lowest rating of the group.
    pub fn lower_bound(self) -> u16 {
        Self::BOUNDS[usize::from(self.0)]
    }

    pub(super) fn bit(self) -> u16 {
        1 << self.0
    }
}

impl FromStr for RatingGroup {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let bound = text.trim().parse().ok().filter(|bound| Self::BOUNDS.contains(bound));
        bound.map(Self::of).ok_or_else(|| {
            let bounds = Self::BOUNDS.map(|bound| bound.to_string()).join(", ");
            ParseError(format!("{text:?} is not a rating group: expected one or more of {bounds}"))
        })
    }
}

impl fmt::Display for RatingGroup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.lower_bound())
    }
}

/// The speed of a game, based on an estimate of the time each player has for the whole game.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Speed {
    /// Less than half a minute per player.
    UltraBullet,
    /// Less than three minutes per player.
    Bullet,
    /// Less than eight minutes per player.
    Blitz,
    /// Less than 25 minutes per player.
    Rapid,
    /// Less than six hours per player, or an unknown time control.
    Classical,
    /// At least six hours per player, or no clock.
    Correspondence,
}

// Listed from fastest to slowest, under the names that Lichess uses.
named_values! { pub Speed, "speed":
    UltraBullet = "ultraBullet",
    Bullet = "bullet",
    Blitz = "blitz",
    Rapid = "rapid",
    Classical = "classical",
    Correspondence = "correspondence",
}

/// The assumed length of a game in moves, used to estimate each player's total time. Source:
/// <https://lichess.org/faq#time-controls>.
const ESTIMATED_MOVES: u32 = 40;
/// The upper limits of all speeds except the slowest, in seconds per player (exclusive).
const LIMITS: [u32; 5] = [30, 180, 480, 1_500, 21_600];

impl Speed {
    /// Returns the speed of a game from its `TimeControl` tag, such as `300+3`, `40/7200:3600`,
    /// `1/86400`, or `-` for no clock. Only the first period is used.
    pub fn of_time_control(text: &str) -> Self {
        let text = text.trim();
        if text == "-" {
            return Speed::Correspondence;
        }
        let Some(seconds) = estimate(text) else { return Speed::Classical };
        Self::ALL[LIMITS.partition_point(|&limit| limit <= seconds)]
    }

    pub(super) fn bit(self) -> u8 {
        1 << self as u8
    }
}

fn estimate(text: &str) -> Option<u32> {
    let first = text.split(':').next()?;
    let (moves, period) = match first.split_once('/') {
        Some((moves, period)) => (Some(moves.trim().parse::<u32>().ok()?), period),
        None => (None, first),
    };
    let (base, increment) = period.split_once('+').unwrap_or((period, "0"));
    let base: u32 = base.trim().trim_start_matches('*').parse().ok()?;
    let increment: u32 = increment.trim().parse().ok()?;
    // A period of fewer than 40 moves is assumed to be repeated until move 40.
    let periods = moves.map_or(1, |moves| ESTIMATED_MOVES.div_ceil(moves.max(1)));
    Some(base.saturating_mul(periods).saturating_add(increment.saturating_mul(ESTIMATED_MOVES)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratings_are_assigned_to_groups() {
        let groups = [0, 999, 1000, 1599, 1600, 2499, 2500, 4000].map(RatingGroup::of);
        let bounds = groups.map(RatingGroup::lower_bound);
        assert_eq!(bounds, [0, 0, 1000, 1400, 1600, 2200, 2500, 2500]);
        assert_eq!("2200".parse(), Ok(RatingGroup::of(2300)));
        let error = "2300".parse::<RatingGroup>().expect_err("no bound").to_string();
        assert!(error.contains("2200, 2500"), "{error}");
    }

    #[test]
    fn time_controls_are_assigned_to_speeds() {
        for (text, speed) in [
            ("15", Speed::UltraBullet),
            ("0+1", Speed::Bullet),
            ("60", Speed::Bullet),
            ("120+1", Speed::Bullet),
            ("180", Speed::Blitz),
            ("300+3", Speed::Blitz),
            ("600", Speed::Rapid),
            ("900+10", Speed::Rapid),
            ("1500", Speed::Classical),
            ("40/7200:3600", Speed::Classical),
            ("40/5400+30:1800+30", Speed::Classical),
            ("?", Speed::Classical),
            ("", Speed::Classical),
            ("two hours", Speed::Classical),
            ("1/86400", Speed::Correspondence),
            ("-", Speed::Correspondence),
        ] {
            assert_eq!(Speed::of_time_control(text), speed, "{text}");
        }
        assert!(Speed::ALL.iter().all(|speed| speed.name().parse() == Ok(*speed)));
        assert!("fast".parse::<Speed>().is_err());
    }
}
