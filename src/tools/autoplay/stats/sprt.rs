//! The sequential probability ratio test, applied to game pairs.
//!
//! This is the generalised test: the log-likelihood ratio compares the distribution that fits the
//! results best under one hypothesis with the best fit under the other. Source: Michel Van den
//! Bergh, "Comments on Normalized Elo",
//! <https://www.cantate.be/Fishtest/normalized_elo_practical.pdf>. The propositions and sections
//! mentioned below refer to that paper.

use std::cmp::Ordering;

use super::{ELO_SCALE, score_of_elo};
use serde::{Deserialize, Serialize};

use crate::support::error::ParseError;

/// The unit of the Elo differences in a sequential test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EloModel {
    /// Ordinary (logistic) Elo.
    Logistic,
    /// Normalised Elo. With this unit, the number of games in a test hardly depends on the draw
    /// rate.
    #[default]
    Normalized,
}

/// The parameters of a sequential probability ratio test of the hypothesis `elo0` against the
/// hypothesis `elo1`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Sprt {
    /// The Elo difference under the null hypothesis.
    pub elo0: f64,
    /// The Elo difference under the alternative hypothesis.
    pub elo1: f64,
    /// The probability of accepting the alternative hypothesis if the null hypothesis is true.
    pub alpha: f64,
    /// The probability of accepting the null hypothesis if the alternative hypothesis is true.
    pub beta: f64,
    /// The unit of `elo0` and `elo1`.
    pub model: EloModel,
}

/// The decision of a sequential test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Decision {
    /// More games are needed.
    Continue,
    /// The null hypothesis is accepted.
    AcceptH0,
    /// The alternative hypothesis is accepted.
    AcceptH1,
}

/// Compares the tested engine with its opponent. The tested engine counts as weaker if the null
/// hypothesis was accepted.
impl From<Decision> for Ordering {
    fn from(decision: Decision) -> Self {
        match decision {
            Decision::Continue => Ordering::Equal,
            Decision::AcceptH0 => Ordering::Less,
            Decision::AcceptH1 => Ordering::Greater,
        }
    }
}

/// The value that replaces a count of zero, whose logarithm would be infinite. Fishtest and
/// fastchess use the same value.
const ALMOST_NONE: f64 = 1e-3;

/// The maximum absolute value of `elo0` and `elo1`. In logistic Elo, it corresponds to expected
/// scores of 0.9999 and 0.0001.
const MAX_ELO: f64 = 1600.0;

/// The number of bisections in [`fit_t_value`]. Half the precision of a double is enough, because
/// the likelihood is stationary at the root.
const FIT_ROUNDS: usize = 30;

/// The upper limit of the root in [`fit_t_value`]. No score is further than this from one half.
const LARGEST_ROOT: f64 = 0.5;

/// The maximum number of bisections used in [`tilt`].
const BISECTIONS: usize = 100;

impl Sprt {
    /// Returns the parameters if they are valid.
    ///
    /// # Errors
    /// If the parameters are invalid.
    pub fn checked(self) -> Result<Self, ParseError> {
        if [self.elo0, self.elo1].iter().any(|elo| elo.is_nan() || elo.abs() > MAX_ELO) {
            return Err(ParseError(format!(
                "the Elo bounds must lie between -{MAX_ELO} and {MAX_ELO}"
            )));
        }
        if self.elo0 >= self.elo1 {
            return Err(ParseError("the first Elo bound must be below the second".to_owned()));
        }
        let errors_fit = self.alpha > 0.0 && self.beta > 0.0 && self.alpha + self.beta < 1.0;
        if !errors_fit {
            return Err(ParseError(
                "alpha and beta must be above 0, and their sum below 1".to_owned(),
            ));
        }
        Ok(self)
    }

    /// Returns Wald's lower and upper bounds of the log-likelihood ratio. The test continues while
    /// the ratio is between them.
    pub fn bounds(&self) -> (f64, f64) {
        let Sprt { alpha, beta, .. } = self;
        (beta.ln() - (1.0 - alpha).ln(), (1.0 - beta).ln() - alpha.ln())
    }

    /// Returns the log-likelihood ratio of the two hypotheses. `counts` is the observed
    /// distribution of evenly spaced scores: losses, draws and wins, or the five possible scores of
    /// a game pair.
    pub fn llr(&self, counts: &[u32]) -> f64 {
        if counts.iter().all(|&n| n == 0) {
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

    /// Returns the decision for a log-likelihood ratio.
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

    /// Returns the maximum-likelihood distribution of scores among those that have the Elo
    /// difference `elo`.
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

/// Returns the maximum-likelihood distribution of scores among those with the given mean
/// (proposition 1.1).
fn fit_mean(observed: &[(f64, f64)], mean: f64) -> Vec<f64> {
    let terms: Vec<(f64, f64)> = observed.iter().map(|&(a, p)| (a - mean, p)).collect();
    tilt(&terms)
}

/// Returns the maximum-likelihood distribution of scores among those whose mean is `t` standard
/// deviations above one half (section 4.1).
///
/// Let x be a score minus one half, and τ = t / sqrt(1 + t²). Then the condition is E(x) = τ
/// sqrt(E(x²)). It is not linear, but the root sqrt(E(x²)) is the minimum of (E(x²) / s + s) / 2
/// over all s > 0, reached where s equals the root. So each s gives a linear condition, E(x - τ (x²
/// / s + s) / 2) = 0, and the distribution we want satisfies the linear condition whose s equals
/// the root.
///
/// If the observed mean is below the required one, the fit for this s is the most likely of the
/// fits for all s. Otherwise, it is the least likely. In both cases, sqrt(E(x²)) - s changes sign
/// at this s, so bisection finds it. In the first case, there may be one such s near each score
/// above one half, and we use the one with the most likely fit.
fn fit_t_value(observed: &[(f64, f64)], t: f64) -> Vec<f64> {
    if t < 0.0 {
        let mirrored: Vec<(f64, f64)> = observed.iter().rev().map(|&(a, p)| (1.0 - a, p)).collect();
        let mut fitted = fit_t_value(&mirrored, -t);
        fitted.reverse();
        return fitted;
    }
    if t == 0.0 {
        return fit_mean(observed, 0.5);
    }
    let tau = t / (1.0 + t * t).sqrt();
    let centred: Vec<(f64, f64)> = observed.iter().map(|&(a, p)| (a - 0.5, p)).collect();
    let root = |weights: &[f64]| {
        centred.iter().zip(weights).map(|((x, _), q)| x * x * q).sum::<f64>().sqrt()
    };
    let fit = |s: f64| {
        let condition = |&(x, p): &(f64, f64)| (x - tau * (x * x / s + s) / 2.0, p);
        tilt(&centred.iter().map(condition).collect::<Vec<_>>())
    };
    // Finds by bisection the s at which sqrt(E(x²)) - s changes sign, and returns the fit for it.
    // The difference is positive at the lower end of the interval and negative at the upper end.
    let search = |mut low: f64, high: f64| {
        let mut high = high.min(LARGEST_ROOT);
        for _ in 0..FIT_ROUNDS {
            let middle = (low + high) / 2.0;
            *(if root(&fit(middle)) > middle { &mut low } else { &mut high }) = middle;
        }
        fit((low + high) / 2.0)
    };
    let mean: f64 = centred.iter().map(|(x, p)| x * p).sum();
    let observed_root = root(&centred.iter().map(|&(_, p)| p).collect::<Vec<_>>());
    if mean > tau * observed_root {
        // At the ends of this interval, the observed distribution satisfies the linear condition,
        // and is therefore its own fit.
        let middle = mean / tau;
        let high = middle + (middle.powi(2) - observed_root.powi(2)).sqrt();
        return search(observed_root.powi(2) / high, high);
    }
    // The condition can be satisfied within each of these intervals, because x - τ (x² / s + s) / 2
    // is positive there for one of the scores above one half.
    let width = 1.0 + (1.0 - tau * tau).sqrt();
    let tops = centred.iter().map(|&(x, _)| x).filter(|&x| x > 0.0);
    let fits = tops.map(|x| search(x * tau / width, x * width / tau));
    let likelihood = |weights: &[f64]| -> f64 {
        centred.iter().zip(weights).map(|((_, p), q)| p * q.ln()).sum()
    };
    fits.max_by(|a, b| likelihood(a).total_cmp(&likelihood(b))).unwrap_or_default()
}

/// Given pairs of a value x and its probability p, returns the weights p / (1 + theta x) for the
/// theta that makes the weighted mean of x zero. Theta is found by bisection, because the mean
/// decreases from plus to minus infinity between the two poles nearest to zero.
fn tilt(terms: &[(f64, f64)]) -> Vec<f64> {
    let values = || terms.iter().map(|&(x, _)| x);
    let largest = values().fold(f64::NEG_INFINITY, f64::max);
    let smallest = values().fold(f64::INFINITY, f64::min);
    let (mut low, mut high) = (-1.0 / largest, -1.0 / smallest);
    for _ in 0..BISECTIONS {
        let theta = (low + high) / 2.0;
        if theta == low || theta == high {
            break;
        }
        let sum: f64 = terms.iter().map(|&(x, p)| p * x / (1.0 + theta * x)).sum();
        if sum > 0.0 {
            low = theta;
        } else {
            high = theta;
        }
    }
    let theta = (low + high) / 2.0;
    // Without this lower limit on the divisor, rounding errors near a pole could make a probability
    // exceed 1.
    terms.iter().map(|&(x, p)| p / (1.0 + theta * x).max(p)).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn sprt(elo0: f64, elo1: f64, model: EloModel) -> Sprt {
        Sprt { elo0, elo1, alpha: 0.05, beta: 0.05, model }
    }

    /// The expected values are from fastchess's tests (`app/tests/sprt_test.cpp`). One-sided
    /// results are omitted, because they differ between versions of fastchess.
    #[test]
    fn llr_matches_published_values() {
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

    /// If every pair is won, the best fits contain only wins and losses. The fraction of wins p
    /// then satisfies (p - 1/2) / sqrt(p (1 - p)) = t, which gives p = 1/2 under H0 and p = 1/2 + t
    /// / (2 sqrt(1 + t²)) under H1.
    #[test]
    fn llr_of_a_shutout_matches_the_formula() {
        let t = 2.0_f64.sqrt() * 5.0 / (2.0 * ELO_SCALE);
        let share = 0.5 + t / (2.0 * (1.0 + t * t).sqrt());
        let wanted = 104.0 * (share / 0.5).ln();
        let got = sprt(0.0, 5.0, EloModel::Normalized).llr(&[0, 0, 0, 0, 104]);
        assert!((got - wanted).abs() < 1e-2, "{got}, not {wanted}");
    }

    #[test]
    fn test_ends_at_its_bounds() {
        let test = sprt(0.0, 5.0, EloModel::Logistic);
        let (lower, upper) = test.bounds();
        assert!((lower + 2.944).abs() < 1e-3 && (upper - 2.944).abs() < 1e-3);
        assert_eq!(test.decide(2.95), Decision::AcceptH1);
        assert_eq!(test.decide(-2.95), Decision::AcceptH0);
        assert_eq!(test.decide(test.llr(&[0; 5])), Decision::Continue);
        assert_eq!(test.decide(test.llr(&[0, 0, 7, 0, 0])), Decision::Continue);
    }

    /// Checks that no distribution of losses, draws and wins with the required t-value fits better
    /// than the result of `fit_t_value`. The alternatives are tried on a fine grid of draw rates.
    #[test]
    fn fit_maximises_the_likelihood() {
        let counts = [[70, 20, 10], [10, 20, 70], [1, 0, 99], [99, 0, 1], [0, 50, 0], [0, 0, 30]];
        for (counts, elo) in counts.iter().flat_map(|counts| {
            [-1600.0, -300.0, -100.0, -1.0, 1e-9, 5.0, 150.0, 500.0, 1600.0]
                .map(|elo| (counts, elo))
        }) {
            let total: f64 = counts.iter().map(|&n| f64::from(n).max(ALMOST_NONE)).sum();
            let shares = counts.map(|n| f64::from(n).max(ALMOST_NONE) / total);
            let observed: Vec<(f64, f64)> = [0.0, 0.5, 1.0].into_iter().zip(shares).collect();
            let t = elo / (2.0 * ELO_SCALE);
            let likelihood = |weights: &[f64]| -> f64 {
                observed.iter().zip(weights).map(|((_, p), q)| p * q.ln()).sum()
            };
            let fitted = fit_t_value(&observed, t);
            let mean: f64 = observed.iter().zip(&fitted).map(|((a, _), q)| a * q).sum();
            let variance: f64 =
                observed.iter().zip(&fitted).map(|((a, _), q)| (a - mean).powi(2) * q).sum();
            let case = format!("{counts:?}, {elo}: {fitted:?}");
            assert!((fitted.iter().sum::<f64>() - 1.0).abs() < 1e-6, "{case}");
            assert!((mean - 0.5 - t * variance.sqrt()).abs() < 1e-5, "{case}");
            for step in 1..10_000 {
                // If d is the fraction of draws and the mean is 1/2 + m, the variance is (1 - d) /
                // 4 - m².
                let draws = f64::from(step) / 10_000.0;
                let m = t * ((1.0 - draws) / 4.0 / (1.0 + t * t)).sqrt();
                let sides = [(1.0 - draws) / 2.0 - m, (1.0 - draws) / 2.0 + m];
                if sides.iter().all(|&side| side > 0.0) {
                    let other = [sides[0], draws, sides[1]];
                    assert!(likelihood(&fitted) > likelihood(&other) - 1e-7, "{case}, {other:?}");
                }
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        /// Tests game and pair counts of all magnitudes, and many values of the Elo bounds and
        /// error probabilities.
        #[test]
        fn llr_is_always_finite(
            counts in proptest::array::uniform5(prop_oneof![
                3 => Just(0), 2 => 1_u32..100, 1 => any::<u32>(),
            ]),
            games in any::<bool>(),
            bounds in [bound(), bound()],
            errors in [error(), error()],
            model in prop_oneof![Just(EloModel::Logistic), Just(EloModel::Normalized)],
        ) {
            let [elo0, elo1] = bounds;
            let [alpha, beta] = errors;
            let counts = if games { &counts[..3] } else { &counts[..] };
            let Ok(test) = (Sprt { elo0, elo1, alpha, beta, model }).checked() else {
                let sound = elo0 < elo1 && alpha > 0.0 && beta > 0.0 && alpha + beta < 1.0;
                prop_assert!(!sound || elo0 < -MAX_ELO || elo1 > MAX_ELO);
                return Ok(());
            };
            let llr = test.llr(counts);
            let (lower, upper) = test.bounds();
            prop_assert!(llr.is_finite() && lower.is_finite() && upper.is_finite(), "{llr}");
            prop_assert!(lower < upper, "{lower} {upper}");
            // Swapping the two sides changes the sign of the ratio.
            let turned: Vec<u32> = counts.iter().rev().copied().collect();
            let other = Sprt { elo0: -elo1, elo1: -elo0, ..test }.llr(&turned);
            let games: f64 = counts.iter().copied().map(f64::from).sum();
            let tolerance = 1e-6 * llr.abs().max(1.0) + 1e-11 * games;
            prop_assert!((llr + other).abs() <= tolerance, "{llr} {other}");
        }
    }

    fn bound() -> impl Strategy<Value = f64> {
        prop_oneof![
            -MAX_ELO..=MAX_ELO,
            -10.0..=10.0,
            Just(0.0),
            Just(f64::MIN_POSITIVE),
            Just(MAX_ELO),
            Just(-MAX_ELO),
        ]
    }

    fn error() -> impl Strategy<Value = f64> {
        prop_oneof![0.001..0.6, Just(0.05), Just(f64::MIN_POSITIVE), Just(5e-324), Just(0.999_999)]
    }

    #[test]
    fn invalid_tests_are_rejected() {
        let refused = |sprt: Sprt| sprt.checked().expect_err("refused").to_string();
        let logistic = |elo0, elo1| sprt(elo0, elo1, EloModel::Logistic);
        assert!(refused(logistic(5.0, 5.0)).contains("must be below the second"));
        let greedy = Sprt { alpha: 0.6, beta: 0.4, ..logistic(0.0, 5.0) };
        assert!(refused(greedy).starts_with("alpha and beta"));
        for (elo0, elo1) in [(f64::NAN, 5.0), (0.0, f64::INFINITY), (-1e4, 0.0), (0.0, 1601.0)] {
            assert!(refused(logistic(elo0, elo1)).contains("must lie between"), "{elo0} {elo1}");
        }
    }
}
