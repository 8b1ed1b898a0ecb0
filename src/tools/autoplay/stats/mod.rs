//! Statistics about match results: the score, the Elo difference with its margin of error, and the
//! likelihood of superiority.
//!
//! ```
//! use tabia::autoplay::stats::{Decision, EloModel, Sprt, elo};
//!
//! // Losses, draws and wins.
//! let counts = [100, 200, 160];
//! assert!(elo(&counts).is_some_and(|found| found.value > 0.0 && found.error.is_some()));
//! let test = Sprt { elo0: 0.0, elo1: 50.0, alpha: 0.05, beta: 0.05, model: EloModel::Logistic };
//! assert_eq!(test.decide(test.llr(&[0, 0, 0])), Decision::Continue);
//! ```

mod sprt;

pub use sprt::{Decision, EloModel, Sprt};

use std::collections::BTreeMap;

use serde::Serialize;

use crate::chess::position::Color;

use super::verdict::{Termination, Verdict};

/// The 97.5% quantile of the standard normal distribution, which gives a two-sided 95% confidence
/// interval.
pub(super) const Z_95: f64 = 1.959_963_984_540_054;

/// The Elo difference that multiplies the odds by e, according to the logistic Elo formula.
pub(super) const ELO_SCALE: f64 = 400.0 / std::f64::consts::LN_10;

/// The number of wins, draws and losses of one side.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Count {
    /// The number of games won.
    pub wins: u32,
    /// The number of games drawn.
    pub draws: u32,
    /// The number of games lost.
    pub losses: u32,
}

impl Count {
    /// Returns the number of games.
    pub fn games(&self) -> u32 {
        self.wins + self.draws + self.losses
    }

    /// Returns the points scored: 1 for each win and 0.5 for each draw.
    pub fn points(&self) -> f64 {
        f64::from(self.wins) + f64::from(self.draws) / 2.0
    }

    pub(super) fn add(&mut self, half_points: u32) {
        match half_points {
            0 => self.losses += 1,
            1 => self.draws += 1,
            _ => self.wins += 1,
        }
    }
}

/// The results of one engine against another engine.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Tally {
    /// The results of all games.
    pub total: Count,
    /// The results with the engine as White, and those with the engine as Black.
    pub by_color: [Count; 2],
    /// The number of complete game pairs in which the engine scored 0, 1, 2, 3 and 4 half points
    /// (the pentanomial distribution).
    pub pairs: [u32; 5],
    /// The number of games for each reason of termination.
    pub terminations: BTreeMap<Termination, u32>,
    /// The half points scored in the first game of each incomplete pair, keyed by pair number.
    open: BTreeMap<usize, u32>,
}

/// An estimated value with its margin of error. Both numbers are finite.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Estimate {
    /// The most likely value.
    pub value: f64,
    /// Half the width of the 95% confidence interval, or `None` if the interval is unbounded.
    pub error: Option<f64>,
}

impl Tally {
    /// Adds a game of the pair with number `pair`, in which the engine played `color`. Unfinished
    /// games are ignored.
    pub fn add(&mut self, pair: usize, color: Color, verdict: &Verdict) {
        if verdict.termination == Termination::Unfinished {
            return;
        }
        let half_points = u32::from(verdict.half_points(color));
        self.total.add(half_points);
        self.by_color[color.to_index()].add(half_points);
        *self.terminations.entry(verdict.termination).or_default() += 1;
        match self.open.remove(&pair) {
            Some(first) => self.pairs[(first + half_points) as usize] += 1,
            None => {
                self.open.insert(pair, half_points);
            }
        }
    }

    /// Returns the distribution of pair scores (five counts) if there are complete pairs. Games of
    /// incomplete pairs are then ignored, as in the sequential test. If there are no complete
    /// pairs, returns the number of losses, draws and wins.
    pub fn distribution(&self) -> Vec<u32> {
        if self.pairs.iter().any(|&count| count > 0) {
            return self.pairs.to_vec();
        }
        let Count { wins, draws, losses } = self.total;
        vec![losses, draws, wins]
    }

    /// Returns the Elo difference, or `None` if there are no games or if one side won all of them.
    pub fn elo(&self) -> Option<Estimate> {
        elo(&self.distribution())
    }

    /// Returns the probability that the engine is stronger than its opponent, or `None` if it
    /// cannot be estimated.
    pub fn superiority(&self) -> Option<f64> {
        superiority(&self.distribution())
    }
}

/// Returns the mean and variance of a histogram and the total of its counts. The bins are scores
/// evenly spaced from 0 to 1. Returns `None` if the histogram is empty.
fn moments(counts: &[u32]) -> Option<(f64, f64, f64)> {
    let total: f64 = counts.iter().copied().map(f64::from).sum();
    if total == 0.0 {
        return None;
    }
    let top = (counts.len() - 1) as f64;
    let share = || counts.iter().enumerate().map(|(i, &n)| (i as f64 / top, f64::from(n) / total));
    let mean: f64 = share().map(|(score, p)| p * score).sum();
    let variance = share().map(|(score, p)| p * (score - mean).powi(2)).sum();
    Some((mean, variance, total))
}

/// Returns the Elo difference that corresponds to an expected score. It is infinite for scores of 0
/// and 1.
fn elo_of_score(score: f64) -> f64 {
    -ELO_SCALE * (1.0 / score.clamp(0.0, 1.0) - 1.0).ln()
}

fn score_of_elo(elo: f64) -> f64 {
    1.0 / (1.0 + (-elo / ELO_SCALE).exp())
}

/// Returns the Elo difference and its 95% margin of error, using the normal approximation. `counts`
/// is a distribution over evenly spaced scores: losses, draws and wins, or the five possible sums
/// of a game pair. Returns `None` if there are no games, or if the score is 0 or 1 (infinite
/// difference).
pub fn elo(counts: &[u32]) -> Option<Estimate> {
    let (mean, variance, total) = moments(counts)?;
    let value = Some(elo_of_score(mean)).filter(|value| value.is_finite())?;
    let spread = Z_95 * (variance / total).sqrt();
    let error = (elo_of_score(mean + spread) - elo_of_score(mean - spread)) / 2.0;
    // There is no margin if all results are equal (zero variance) or if the interval includes a
    // score of 0 or 1 (infinite Elo).
    let error = Some(error).filter(|error| variance > 0.0 && error.is_finite());
    Some(Estimate { value, error })
}

/// Returns the normalised Elo difference with its 95% margin of error. It is proportional to the
/// difference between the score and one half, measured in standard deviations of the score of a
/// single game. Returns `None` if there are no games or if all results are equal, because the
/// variance cannot then be estimated.
///
/// Source: Michel Van den Bergh, "Normalized Elo",
/// <https://www.cantate.be/Fishtest/normalized_elo_practical.pdf>.
pub fn normalised_elo(counts: &[u32]) -> Option<Estimate> {
    let (mean, variance, total) = moments(counts).filter(|&(_, variance, _)| variance > 0.0)?;
    let games = if counts.len() == 5 { 2.0 } else { 1.0 };
    let scale = 2.0 * ELO_SCALE / (games * variance).sqrt();
    let error = Some(scale * Z_95 * (variance / total).sqrt());
    Some(Estimate { value: scale * (mean - 0.5), error })
}

/// Returns the probability that the true score is above one half, using the normal approximation.
/// Returns `None` if there are no games or if all results are equal, because the variance cannot
/// then be estimated.
pub fn superiority(counts: &[u32]) -> Option<f64> {
    let (mean, variance, total) = moments(counts)?;
    (variance > 0.0).then(|| normal_distribution((mean - 0.5) / (variance / total).sqrt()))
}

/// Returns the cumulative standard normal distribution, computed by formula 7.1.26 of Abramowitz
/// and Stegun with an error of at most 1.5e-7.
pub(super) fn normal_distribution(x: f64) -> f64 {
    const P: f64 = 0.327_591_1;
    const A: [f64; 5] =
        [0.254_829_592, -0.284_496_736, 1.421_413_741, -1.453_152_027, 1.061_405_429];
    let z = x.abs() / std::f64::consts::SQRT_2;
    let t = 1.0 / (1.0 + P * z);
    let polynomial = A.iter().rev().fold(0.0, |sum, a| (sum + a) * t);
    let upper_tail = polynomial * (-z * z).exp() / 2.0;
    if x > 0.0 { 1.0 - upper_tail } else { upper_tail }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn near(got: f64, wanted: f64) {
        let tolerance = 0.01 * wanted.abs().max(1.0);
        assert!((got - wanted).abs() <= tolerance, "{got} is not near {wanted}");
    }

    /// The expected values are from fastchess's tests (`app/tests/elo_test.cpp`).
    #[test]
    fn elo_matches_published_values() {
        for (counts, value, error) in [
            (&[34, 54, 63, 64, 75][..], 55.58, 27.65),
            (&[332, 433, 498, 333, 334], -8.64, 10.33),
            (&[7895, 8757, 5685, 568, 9999], -21.04, 2.95),
            (&[96, 111, 136], 40.70, 30.43),
        ] {
            let elo = elo(counts).expect("games were played");
            near(elo.value, value);
            near(elo.error.expect("bounded"), error);
        }
        for (counts, value, error) in [
            (&[34, 54, 63, 64, 75][..], 57.94, 28.28),
            (&[332, 433, 498, 333, 334], -9.17, 10.96),
            (&[7895, 8757, 5685, 568, 9999], -19.01, 2.65),
            (&[89, 123, 76], -20.76, 40.13),
            (&[96, 111, 136], 49.77, 36.77),
            (&[356, 0, 34], -508.44, 34.48),
        ] {
            let elo = normalised_elo(counts).expect("games were played");
            near(elo.value, value);
            near(elo.error.expect("bounded"), error);
        }
    }

    #[test]
    fn superiority_matches_published_values() {
        for (counts, los) in [
            (&[89, 123, 76][..], 0.1553),
            (&[96, 111, 136], 0.9960),
            (&[34, 54, 63, 64, 75], 1.0),
            (&[332, 433, 498, 333, 334], 0.0505),
        ] {
            let got = superiority(counts).expect("games were played");
            assert!((got - los).abs() < 1e-4, "{got} is not {los}");
        }
    }

    #[test]
    fn pair_is_counted_when_both_games_are_finished() {
        let mut tally = Tally::default();
        let win = |color| Verdict::against(color, Termination::Checkmate, "");
        tally.add(1, Color::White, &win(Color::Black));
        tally.add(2, Color::White, &Verdict::draw(Termination::Stalemate, ""));
        assert_eq!((tally.pairs, tally.distribution()), ([0; 5], vec![0, 1, 1]));
        tally.add(1, Color::Black, &win(Color::White));
        tally.add(2, Color::Black, &win(Color::Black));
        tally.add(3, Color::Black, &Verdict::unfinished(""));
        assert_eq!(tally.distribution(), [0, 1, 0, 0, 1]);
        let (elo, superiority) = (tally.elo(), tally.superiority());
        assert_eq!(tally.total, Count { wins: 2, draws: 1, losses: 1 });
        assert_eq!(tally.by_color[1], Count { wins: 1, draws: 0, losses: 1 });
        tally.add(4, Color::White, &win(Color::Black));
        assert_eq!(tally.distribution(), [0, 1, 0, 0, 1], "an incomplete pair is ignored");
        assert_eq!((tally.elo(), tally.superiority()), (elo, superiority));
    }

    #[test]
    fn statistics_are_absent_without_enough_games() {
        assert_eq!(Tally::default().elo(), None);
        assert_eq!((elo(&[0, 0, 10]), elo(&[10, 0, 0, 0, 0])), (None, None));
        assert_eq!(superiority(&[0, 0, 0, 1, 0]), None);
        assert_eq!(normalised_elo(&[0, 0, 0, 1, 0]), None);
        assert_eq!(elo(&[0, 0, 0, 1, 0]).expect("a pair was played").error, None);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        /// Tests game and pair counts of all magnitudes, many of them zero.
        #[test]
        fn every_statistic_is_finite_or_absent(
            counts in proptest::array::uniform5(prop_oneof![
                3 => Just(0), 2 => 1_u32..100, 1 => any::<u32>(),
            ]),
            games in any::<bool>(),
        ) {
            let counts = if games { &counts[..3] } else { &counts[..] };
            let estimates = [elo(counts), normalised_elo(counts)];
            for Estimate { value, error } in estimates.into_iter().flatten() {
                prop_assert!(value.is_finite(), "{value}");
                prop_assert!(error.is_none_or(|error| error.is_finite() && error > 0.0), "{error:?}");
            }
            let los = superiority(counts);
            prop_assert!(los.is_none_or(|los| (0.0..=1.0).contains(&los)), "{los:?}");
            let kinds = counts.iter().filter(|&&count| count > 0).count();
            prop_assert_eq!(los.is_some(), kinds > 1);
            prop_assert_eq!(estimates[1].is_some(), kinds > 1);
        }
    }
}
