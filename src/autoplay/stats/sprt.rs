//! The sequential probability ratio test on pairs of games.
//!
//! The generalised test: the log-likelihood ratio of the two distributions that fit the results
//! best under either hypothesis. Source: Michel Van den Bergh, "Comments on Normalized Elo",
//! <https://www.cantate.be/Fishtest/normalized_elo_practical.pdf>, whose propositions are named
//! below.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::{ELO_SCALE, score_of_elo};

/// What the bounds of the test are measured in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EloModel {
    /// Ordinary Elo.
    Logistic,
    /// Normalised Elo: the same effort whatever the share of draws.
    #[default]
    Normalized,
}

/// A test of `elo0` against `elo1`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Sprt {
    /// The difference under the null hypothesis.
    pub elo0: f64,
    /// The difference under the alternative.
    pub elo1: f64,
    /// The probability of accepting the alternative wrongly.
    pub alpha: f64,
    /// The probability of accepting the null hypothesis wrongly.
    pub beta: f64,
    /// The measure of `elo0` and `elo1`.
    pub model: EloModel,
}

/// Why a test makes no sense.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum SprtError {
    /// The hypotheses are not in order.
    #[error("the first Elo bound must be below the second")]
    Order,
    /// The error probabilities leave no room.
    #[error("alpha and beta must be above 0, and their sum below 1")]
    Errors,
}

/// What the test says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Decision {
    /// More games are needed.
    Continue,
    /// The null hypothesis is accepted.
    AcceptH0,
    /// The alternative is accepted.
    AcceptH1,
}

/// Stands for a count of zero, whose logarithm would not be finite. The value is that of
/// fishtest and fastchess.
const ALMOST_NONE: f64 = 1e-3;

/// The fit under normalised Elo ends when no probability moves by more.
const FIT_PRECISION: f64 = 1e-9;

/// The fit takes some ten rounds; this many only if it does not converge.
const FIT_ROUNDS: usize = 200;

/// Halvings of the interval in which a root is looked for: more than a double can tell apart.
const BISECTIONS: usize = 100;

impl Sprt {
    /// A test whose parameters make sense.
    ///
    /// # Errors
    /// If they do not.
    pub fn checked(self) -> Result<Self, SprtError> {
        if self.elo0 >= self.elo1 || !self.elo0.is_finite() || !self.elo1.is_finite() {
            return Err(SprtError::Order);
        }
        let errors_fit = self.alpha > 0.0 && self.beta > 0.0 && self.alpha + self.beta < 1.0;
        if errors_fit { Ok(self) } else { Err(SprtError::Errors) }
    }

    /// The bounds of the log-likelihood ratio between which the test goes on (Wald).
    pub fn bounds(&self) -> (f64, f64) {
        let Sprt { alpha, beta, .. } = self;
        ((beta / (1.0 - alpha)).ln(), ((1.0 - beta) / alpha).ln())
    }

    /// The log-likelihood ratio of a distribution over evenly spaced scores: the five sums of a
    /// pair of games, or loss, draw, win.
    pub fn llr(&self, counts: &[u32]) -> f64 {
        if counts.iter().sum::<u32>() == 0 {
            return 0.0;
        }
        let counts: Vec<f64> = counts.iter().map(|&n| f64::from(n).max(ALMOST_NONE)).collect();
        let total: f64 = counts.iter().sum();
        let top = (counts.len() - 1) as f64;
        let observed: Vec<(f64, f64)> =
            counts.iter().enumerate().map(|(i, n)| (i as f64 / top, n / total)).collect();
        let [null, alternative] = [self.elo0, self.elo1].map(|elo| self.fit(&observed, elo));
        let mean_ratio: f64 = observed
            .iter()
            .zip(null.iter().zip(&alternative))
            .map(|((_, p), (p0, p1))| p * (p1 / p0).ln())
            .sum();
        total * mean_ratio
    }

    /// What the log-likelihood ratio means.
    pub fn decide(&self, llr: f64) -> Decision {
        let (lower, upper) = self.bounds();
        if llr >= upper {
            Decision::AcceptH1
        } else if llr <= lower {
            Decision::AcceptH0
        } else {
            Decision::Continue
        }
    }

    /// The most likely distribution with this Elo difference, given the observed one.
    fn fit(&self, observed: &[(f64, f64)], elo: f64) -> Vec<f64> {
        match self.model {
            EloModel::Logistic => fit_mean(observed, score_of_elo(elo)),
            EloModel::Normalized => {
                let games = if observed.len() == 5 { 2.0_f64 } else { 1.0 };
                fit_t_value(observed, games.sqrt() * elo / (2.0 * ELO_SCALE))
            }
        }
    }
}

/// The most likely distribution whose mean is `mean` (proposition 1.1).
fn fit_mean(observed: &[(f64, f64)], mean: f64) -> Vec<f64> {
    let terms: Vec<(f64, f64)> = observed.iter().map(|&(a, p)| (a - mean, p)).collect();
    tilt(&terms)
}

/// The most likely distribution whose mean lies `t` standard deviations above one half (section
/// 4.1): the condition is made linear around the last estimate, again and again.
fn fit_t_value(observed: &[(f64, f64)], t: f64) -> Vec<f64> {
    let mut fitted = vec![1.0 / observed.len() as f64; observed.len()];
    for _ in 0..FIT_ROUNDS {
        let share = || observed.iter().zip(&fitted).map(|(&(a, _), &p)| (a, p));
        let mean: f64 = share().map(|(a, p)| p * a).sum();
        let deviation = share().map(|(a, p)| p * (a - mean).powi(2)).sum::<f64>().sqrt();
        let term = |&(a, p): &(f64, f64)| {
            let distance = (a - mean) / deviation;
            (a - 0.5 - 0.5 * t * deviation * (1.0 + distance * distance), p)
        };
        let next = tilt(&observed.iter().map(term).collect::<Vec<_>>());
        let change = next.iter().zip(&fitted).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        fitted = next;
        if change < FIT_PRECISION {
            break;
        }
    }
    fitted
}

/// Of pairs (x, p): the weights p / (1 + theta x) under which x has mean zero. The sum that theta
/// makes zero falls from plus to minus infinity between the poles, so bisection finds it.
fn tilt(terms: &[(f64, f64)]) -> Vec<f64> {
    let values = || terms.iter().map(|&(x, _)| x);
    let largest = values().fold(f64::NEG_INFINITY, f64::max);
    let smallest = values().fold(f64::INFINITY, f64::min);
    let (mut low, mut high) = (-1.0 / largest, -1.0 / smallest);
    for _ in 0..BISECTIONS {
        let theta = (low + high) / 2.0;
        let sum: f64 = terms.iter().map(|&(x, p)| p * x / (1.0 + theta * x)).sum();
        if sum > 0.0 {
            low = theta;
        } else {
            high = theta;
        }
    }
    let theta = (low + high) / 2.0;
    terms.iter().map(|&(x, p)| p / (1.0 + theta * x)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sprt(elo0: f64, elo1: f64, model: EloModel) -> Sprt {
        Sprt { elo0, elo1, alpha: 0.05, beta: 0.05, model }
    }

    /// The values of fastchess' own tests (`app/tests/sprt_test.cpp`), counts from loss to win;
    /// those of one-sided results are left out, since they change from version to version.
    #[test]
    fn the_ratio_agrees_with_published_values() {
        use EloModel::{Logistic, Normalized};
        for (counts, elo0, elo1, model, llr) in [
            (&[36027, 68692, 36433][..], 0.0, 2.0, Normalized, 0.92),
            (&[10650, 20431, 10871], -1.75, 0.25, Normalized, 2.30),
            (&[21184, 40708, 21404], 0.5, 2.5, Logistic, -1.57),
            (&[57030, 106593, 57433], 0.0, 2.0, Logistic, -2.59),
            (&[365, 16618, 36229, 16974, 390], 0.0, 2.0, Normalized, 2.25),
            (&[127, 4883, 10712, 5150, 104], -1.75, 0.25, Normalized, 3.01),
            (&[223, 9863, 21279, 10037, 246], 0.5, 2.5, Logistic, -3.07),
            (&[871, 26175, 55983, 26678, 821], 0.0, 2.0, Logistic, -4.98),
        ] {
            let got = sprt(elo0, elo1, model).llr(counts);
            assert!((got - llr).abs() <= 0.01 * llr.abs().max(1.0), "{counts:?}: {got}, not {llr}");
        }
    }

    /// If all pairs are won, the best fits have wins and losses alone: with a share p of wins,
    /// (p - 1/2) / sqrt(p (1 - p)) = t. So p = 1/2 under H0, and 1/2 + t / (2 sqrt(1 + t²)) under
    /// H1.
    #[test]
    fn the_ratio_of_a_shutout_is_that_of_the_formula() {
        let t = 2.0_f64.sqrt() * 5.0 / (2.0 * ELO_SCALE);
        let share = 0.5 + t / (2.0 * (1.0 + t * t).sqrt());
        let wanted = 104.0 * (share / 0.5).ln();
        let got = sprt(0.0, 5.0, EloModel::Normalized).llr(&[0, 0, 0, 0, 104]);
        assert!((got - wanted).abs() < 1e-2, "{got}, not {wanted}");
    }

    #[test]
    fn the_test_ends_at_its_bounds() {
        let test = sprt(0.0, 5.0, EloModel::Logistic);
        let (lower, upper) = test.bounds();
        assert!((lower + 2.944).abs() < 1e-3 && (upper - 2.944).abs() < 1e-3);
        assert_eq!(test.decide(2.95), Decision::AcceptH1);
        assert_eq!(test.decide(-2.95), Decision::AcceptH0);
        assert_eq!(test.decide(test.llr(&[0; 5])), Decision::Continue);
        assert_eq!(test.decide(test.llr(&[0, 0, 7, 0, 0])), Decision::Continue);
    }

    #[test]
    fn senseless_tests_are_refused() {
        assert_eq!(sprt(5.0, 5.0, EloModel::Logistic).checked(), Err(SprtError::Order));
        let greedy = Sprt { alpha: 0.6, beta: 0.4, ..sprt(0.0, 5.0, EloModel::Logistic) };
        assert_eq!(greedy.checked(), Err(SprtError::Errors));
    }
}
