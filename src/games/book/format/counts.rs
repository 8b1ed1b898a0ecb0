//! Counts of games by result.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, SubAssign};

use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

use crate::chess::notation;
use crate::chess::position::Color;
use crate::games::pgn::GameResult;
use crate::support::words::{counted, percent};

/// The number of games for each result. Sums saturate instead of overflowing.
///
/// Opening lines and unfinished games are counted as `undecided`. In scores, they are worth half a
/// point for each side.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub struct Counts {
    /// Games that White won.
    pub white: u32,
    /// Drawn games.
    pub draws: u32,
    /// Games that Black won.
    pub black: u32,
    /// Games and lines without a result.
    pub undecided: u32,
}

impl Counts {
    /// Creates counts from the numbers of White wins, draws and Black wins. No game is undecided.
    pub fn new(white: u32, draws: u32, black: u32) -> Self {
        Counts { white, draws, black, undecided: 0 }
    }

    /// Creates counts for `number` games with the same result.
    pub fn of(result: GameResult, number: u32) -> Self {
        let mut counts = Counts::default();
        *match result {
            GameResult::White => &mut counts.white,
            GameResult::Draw => &mut counts.draws,
            GameResult::Black => &mut counts.black,
            GameResult::Undecided => &mut counts.undecided,
        } = number;
        counts
    }

    /// Returns the total number of games, with or without a result.
    #[inline]
    pub fn games(&self) -> u64 {
        let decided = u64::from(self.white) + u64::from(self.draws) + u64::from(self.black);
        decided + u64::from(self.undecided)
    }

    /// Whether all counts are zero.
    pub fn is_empty(&self) -> bool {
        *self == Counts::default()
    }

    /// Returns the number of games won by `side`.
    pub fn wins(&self, side: Color) -> u32 {
        if side == Color::White { self.white } else { self.black }
    }

    /// Returns true if `side` lost every game that has a result, and there is at least one such
    /// game.
    pub fn are_all_lost(&self, side: Color) -> bool {
        self.wins(!side) > 0 && self.wins(side) == 0 && self.draws == 0
    }

    /// Returns the mean points per game for `side`, from 0 to 1, or 0.5 if there are no games. A
    /// game without a result counts as half a point.
    pub fn score(&self, side: Color) -> f64 {
        let games = self.games();
        if games == 0 {
            return 0.5;
        }
        let halves = f64::from(self.draws) + f64::from(self.undecided);
        (f64::from(self.wins(side)) + halves / 2.0) / games as f64
    }

    /// Describes the results from the point of view of `side`, in a phrase such as `54% for White
    /// in 2,731 games` or `1 game, 1-0`.
    pub(crate) fn describe(&self, side: Color) -> String {
        let number = counted(self.games(), "game");
        match (self.games(), self) {
            (0, _) => "no games".to_owned(),
            (games, _) if games == u64::from(self.undecided) => {
                format!("{} without a result", counted(games, "line"))
            }
            (1, Counts { white: 1, .. }) => format!("{number}, 1-0"),
            (1, Counts { black: 1, .. }) => format!("{number}, 0-1"),
            (1, _) => format!("{number}, 1/2-1/2"),
            _ => {
                let percent = percent(self.score(side));
                format!("{percent} for {} in {number}", notation::color(side))
            }
        }
    }

    /// Returns the counts multiplied by `weight` and rounded. Unless `weight` is 0, a positive
    /// count is rounded up to at least 1.
    pub fn scaled(&self, weight: f64) -> Self {
        let scale = |count: u32| match count {
            0 => 0,
            _ if weight <= 0.0 => 0,
            _ => ((f64::from(count) * weight).round() as u32).max(1),
        };
        Counts {
            white: scale(self.white),
            draws: scale(self.draws),
            black: scale(self.black),
            undecided: scale(self.undecided),
        }
    }

    pub(crate) fn at_most(&self, other: Counts) -> Self {
        Counts {
            white: self.white.min(other.white),
            draws: self.draws.min(other.draws),
            black: self.black.min(other.black),
            undecided: self.undecided.min(other.undecided),
        }
    }
}

impl AddAssign for Counts {
    #[inline]
    fn add_assign(&mut self, other: Counts) {
        self.white = self.white.saturating_add(other.white);
        self.draws = self.draws.saturating_add(other.draws);
        self.black = self.black.saturating_add(other.black);
        self.undecided = self.undecided.saturating_add(other.undecided);
    }
}

/// Subtracts counts that were previously added.
impl SubAssign for Counts {
    #[inline]
    fn sub_assign(&mut self, other: Counts) {
        self.white = self.white.saturating_sub(other.white);
        self.draws = self.draws.saturating_sub(other.draws);
        self.black = self.black.saturating_sub(other.black);
        self.undecided = self.undecided.saturating_sub(other.undecided);
    }
}

impl Add for Counts {
    type Output = Counts;

    fn add(mut self, other: Counts) -> Counts {
        self += other;
        self
    }
}

impl Sum for Counts {
    fn sum<I: Iterator<Item = Counts>>(counts: I) -> Counts {
        counts.fold(Counts::default(), Add::add)
    }
}

impl Serialize for Counts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("Counts", 5)?;
        fields.serialize_field("games", &self.games())?;
        fields.serialize_field("white", &self.white)?;
        fields.serialize_field("draws", &self.draws)?;
        fields.serialize_field("black", &self.black)?;
        fields.serialize_field("undecided", &self.undecided)?;
        fields.end()
    }
}

/// Serializes only `white`, `draws` and `black`, as the Lichess opening explorer does.
pub(crate) fn decided<S: Serializer>(counts: &Counts, serializer: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct Decided {
        white: u32,
        draws: u32,
        black: u32,
    }
    let &Counts { white, draws, black, .. } = counts;
    Decided { white, draws, black }.serialize(serializer)
}

/// Formats the number of games, White wins, draws, Black wins and, unless zero, undecided games:
/// `4126 +1685 =1088 -1352 *1`.
impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} +{} ={} -{}", self.games(), self.white, self.draws, self.black)?;
        if self.undecided > 0 {
            write!(f, " *{}", self.undecided)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn score_is_relative_to_the_side() {
        let counts = Counts { undecided: 2, ..Counts::new(3, 4, 1) };
        assert_eq!(counts.games(), 10);
        assert!((counts.score(Color::White) - 0.6).abs() < 1e-12);
        assert!((counts.score(Color::Black) - 0.4).abs() < 1e-12);
        assert!((Counts::default().score(Color::White) - 0.5).abs() < 1e-12);
        assert_eq!(counts.to_string(), "10 +3 =4 -1 *2");
    }

    #[test]
    fn results_are_described_with_the_percentage_first() {
        let bare = |undecided| Counts { undecided, ..Counts::default() };
        for (counts, side, text) in [
            (Counts::new(1096, 740, 895), Color::White, "54% for White in 2,731 games"),
            (Counts::new(1096, 740, 895), Color::Black, "46% for Black in 2,731 games"),
            (
                Counts { undecided: 4, ..Counts::new(3, 2, 1) },
                Color::White,
                "60% for White in 10 games",
            ),
            (Counts::new(1, 0, 0), Color::Black, "1 game, 1-0"),
            (Counts::new(0, 1, 0), Color::Black, "1 game, 1/2-1/2"),
            (Counts::new(0, 0, 1), Color::White, "1 game, 0-1"),
            (bare(1), Color::White, "1 line without a result"),
            (bare(1200), Color::White, "1,200 lines without a result"),
            (bare(0), Color::White, "no games"),
        ] {
            assert_eq!(counts.describe(side), text);
        }
    }

    #[test]
    fn counts_saturate() {
        let full = Counts::new(u32::MAX, 1, 0);
        assert_eq!(full + full, Counts::new(u32::MAX, 2, 0));
        assert_eq!(Counts::new(5, 1, 0).scaled(0.1), Counts::new(1, 1, 0));
    }
}
