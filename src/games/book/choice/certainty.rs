//! Confidence bounds of scores.

use crate::chess::position::Color;
use crate::games::book::format::counts::Counts;

/// Returns the mean score per game for `side`, and its standard error. The wins and losses in
/// `prior` are added to those of the games. A game without a result counts as half a win and half a
/// loss.
pub(crate) fn mean_and_error(counts: &Counts, side: Color, prior: (f64, f64)) -> (f64, f64) {
    let unknown = f64::from(counts.undecided) / 2.0;
    let wins = f64::from(counts.wins(side)) + unknown + prior.0;
    let losses = f64::from(counts.wins(!side)) + unknown + prior.1;
    let draws = f64::from(counts.draws);
    let games = wins + losses + draws;
    let mean = (wins + draws / 2.0) / games;
    let squares =
        wins * (1.0 - mean).powi(2) + draws * (0.5 - mean).powi(2) + losses * mean.powi(2);
    (mean, (squares / games / games).sqrt())
}

/// Returns the quantile of the standard normal distribution for a probability between 0.5 and 1.
/// The error is below 0.00045. Source: formula 26.2.23 in Abramowitz and Stegun, *Handbook of
/// Mathematical Functions* (1964).
pub(crate) fn quantile(probability: f64) -> f64 {
    let tail = (1.0 - probability).clamp(1e-9, 0.5);
    let t = (-2.0 * tail.ln()).sqrt();
    let numerator = 2.515_517 + t * (0.802_853 + t * 0.010_328);
    let denominator = 1.0 + t * (1.432_788 + t * (0.189_269 + t * 0.001_308));
    (t - numerator / denominator).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_match_published_values() {
        for (probability, z) in [(0.5, 0.0), (0.9, 1.2816), (0.95, 1.6449), (0.99, 2.3263)] {
            assert!((quantile(probability) - z).abs() < 5e-4, "{probability}");
        }
    }
}
