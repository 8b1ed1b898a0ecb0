//! Computes the likelihood of the results as a function of the ratings, and maximises it.
//!
//! Strengths are ratings in natural units: a difference of 1 multiplies the odds of a win by e.

use std::collections::{BTreeMap, BTreeSet};

use super::super::stats::ELO_SCALE;
use super::{Anchor, RatedGame};

/// The prior standard deviation of White's advantage, in Elo. The prior keeps the advantage finite
/// even if White wins every game. Chosen by hand.
const WHITE_DEVIATION: f64 = 200.0;

/// The maximum number of Newton steps. A few steps are enough unless the results are extreme.
const MAX_STEPS: usize = 200;

/// Newton's method stops once every component of the step is smaller than this.
const TOLERANCE: f64 = 1e-11;

/// The minimum pivot in the Cholesky factorisation. Smaller values are treated as rounding errors.
const MIN_PIVOT: f64 = 1e-12;

/// The rating model. Its variables are White's advantage and all strengths that are not fixed by an
/// anchor.
pub(super) struct Model {
    /// The index of each player's variable; `None` if the player's strength is fixed or the player
    /// is not rated.
    variables: Vec<Option<usize>>,
    /// The fixed strengths, by player index. The entries of all other players are unused.
    fixed: Vec<f64>,
    /// For each variable, the mean and the precision (1 / variance) of its prior distribution.
    priors: Vec<(f64, f64)>,
    has_anchor: bool,
}

/// The most likely values of the model's variables, and the data needed to compute the standard
/// errors of the values.
pub(super) struct Solution {
    pub values: Vec<f64>,
    /// The Cholesky factor of the matrix of negated second derivatives of the log-likelihood.
    factor: Vec<Vec<f64>>,
    /// The gradient of the log-likelihood of each unit, keyed by variable. A unit is a game pair or
    /// an unpaired game.
    units: Vec<BTreeMap<usize, f64>>,
    /// The precision of each variable's prior distribution.
    precisions: Vec<f64>,
}

/// The total results of one player's games as White against another player.
#[derive(Default)]
struct Pairing {
    games: f64,
    points: f64,
}

impl Model {
    pub(super) fn new(players: usize, rated: &BTreeSet<usize>, anchors: &[Anchor]) -> Self {
        let (mut variables, mut fixed) = (vec![None; players], vec![0.0; players]);
        let average = anchors.iter().map(|anchor| anchor.elo).sum::<f64>()
            / ELO_SCALE
            / anchors.len().max(1) as f64;
        let mut priors = Vec::new();
        for &player in rated {
            let anchor = anchors.iter().find(|anchor| anchor.player == player);
            let prior = match anchor {
                Some(anchor) if anchor.deviation == 0.0 => {
                    fixed[player] = anchor.elo / ELO_SCALE;
                    continue;
                }
                Some(anchor) => (anchor.elo / ELO_SCALE, (ELO_SCALE / anchor.deviation).powi(2)),
                None => (average, 0.0),
            };
            variables[player] = Some(priors.len());
            priors.push(prior);
        }
        priors.push((0.0, (ELO_SCALE / WHITE_DEVIATION).powi(2)));
        Model { variables, fixed, priors, has_anchor: !anchors.is_empty() }
    }

    /// Returns the index of the variable for White's advantage.
    pub(super) fn white(&self) -> usize {
        self.priors.len() - 1
    }

    pub(super) fn strength(&self, values: &[f64], player: usize) -> f64 {
        self.variables[player].map_or(self.fixed[player], |variable| values[variable])
    }

    /// Returns the strength of `player`, or the difference `player` - `other` if `other` is given,
    /// as a linear combination of variables: a list of (variable, sign) pairs. Fixed strengths have
    /// no variables, so they are omitted.
    pub(super) fn direction(&self, player: usize, other: Option<usize>) -> Vec<(usize, f64)> {
        let signed = [(Some(player), 1.0), (other, -1.0)];
        let factor = |(player, sign): (Option<usize>, f64)| Some((self.variables[player?]?, sign));
        signed.into_iter().filter_map(factor).collect()
    }

    /// Maximises the likelihood by Newton's method. The log-likelihood is concave.
    pub(super) fn solve(&self, games: &[RatedGame]) -> Solution {
        let mut pairings: BTreeMap<[usize; 2], Pairing> = BTreeMap::new();
        for game in games {
            let pairing = pairings.entry(game.players).or_default();
            pairing.games += 1.0;
            pairing.points += points(game);
        }
        let mut values: Vec<f64> = self.priors.iter().map(|&(mean, _)| mean).collect();
        let mut likelihood = self.log_likelihood(&values, &pairings);
        let mut factor = Vec::new();
        for _ in 0..MAX_STEPS {
            let (gradient, matrix) = self.derivatives(&values, &pairings);
            factor = cholesky(matrix);
            let step = solve(&factor, &gradient);
            let mut length = 1.0;
            let next = loop {
                let next: Vec<f64> =
                    values.iter().zip(&step).map(|(value, step)| value + length * step).collect();
                let found = self.log_likelihood(&next, &pairings);
                if found >= likelihood || length < TOLERANCE {
                    likelihood = found;
                    break next;
                }
                length /= 2.0;
            };
            values = next;
            if step.iter().all(|step| step.abs() < TOLERANCE) {
                break;
            }
        }
        let units = self.units(&values, games);
        let precisions = self.priors.iter().map(|&(_, precision)| precision).collect();
        Solution { values, factor, units, precisions }
    }

    /// Returns White's expected score in a game between two players, from 0 to 1.
    fn expected(&self, values: &[f64], [white, black]: [usize; 2]) -> f64 {
        let advantage = values[self.white()];
        let difference = self.strength(values, white) - self.strength(values, black) + advantage;
        1.0 / (1.0 + (-difference).exp())
    }

    /// Returns the variables on which White's expected score in a game depends, each with the sign
    /// of its effect.
    fn influences(&self, [white, black]: [usize; 2]) -> Vec<(usize, f64)> {
        let mut influences = self.direction(white, Some(black));
        influences.push((self.white(), 1.0));
        influences
    }

    fn log_likelihood(&self, values: &[f64], pairings: &BTreeMap<[usize; 2], Pairing>) -> f64 {
        let of_results = pairings.iter().map(|(&players, pairing)| {
            let expected =
                self.expected(values, players).clamp(f64::MIN_POSITIVE, 1.0 - f64::EPSILON);
            pairing.points * expected.ln()
                + (pairing.games - pairing.points) * (1.0 - expected).ln()
        });
        let of_priors = values
            .iter()
            .zip(&self.priors)
            .map(|(value, (mean, precision))| -0.5 * precision * (value - mean).powi(2));
        of_results.chain(of_priors).sum()
    }

    /// Returns the gradient and the negated Hessian (matrix of second derivatives) of the
    /// log-likelihood.
    fn derivatives(
        &self,
        values: &[f64],
        pairings: &BTreeMap<[usize; 2], Pairing>,
    ) -> (Vec<f64>, Vec<Vec<f64>>) {
        let size = values.len();
        let (mut gradient, mut matrix) = (vec![0.0; size], vec![vec![0.0; size]; size]);
        for (variable, &(mean, precision)) in self.priors.iter().enumerate() {
            gradient[variable] = -precision * (values[variable] - mean);
            matrix[variable][variable] = precision;
        }
        for (&players, pairing) in pairings {
            let expected = self.expected(values, players);
            let influences = self.influences(players);
            for &(row, sign) in &influences {
                gradient[row] += sign * (pairing.points - pairing.games * expected);
                for &(column, other) in &influences {
                    matrix[row][column] +=
                        sign * other * pairing.games * expected * (1.0 - expected);
                }
            }
        }
        if !self.has_anchor {
            // Without anchors, the results determine only the differences between strengths, so the
            // matrix would be singular. Adding a constant to all entries for strengths fixes the
            // average strength.
            let weight = 1.0 + matrix[0][0];
            for row in &mut matrix[..size - 1] {
                row[..size - 1].iter_mut().for_each(|entry| *entry += weight);
            }
        }
        (gradient, matrix)
    }

    fn units(&self, values: &[f64], games: &[RatedGame]) -> Vec<BTreeMap<usize, f64>> {
        let mut pairs: BTreeMap<usize, BTreeMap<usize, f64>> = BTreeMap::new();
        let mut units = Vec::new();
        for game in games {
            let residual = points(game) - self.expected(values, game.players);
            let mut single = BTreeMap::new();
            let unit = match game.pair {
                Some(pair) => pairs.entry(pair).or_default(),
                None => &mut single,
            };
            for (variable, sign) in self.influences(game.players) {
                *unit.entry(variable).or_default() += sign * residual;
            }
            units.extend(Some(single).filter(|single| !single.is_empty()));
        }
        units.extend(pairs.into_values());
        units
    }
}

impl Solution {
    /// Returns the standard deviation of a linear combination of variables. Returns `None` if the
    /// combination is empty, if there are too few results, or if they do not vary.
    pub(super) fn deviation(&self, direction: &[(usize, f64)]) -> Option<f64> {
        let (units, variables) = (self.units.len(), self.values.len());
        if units <= variables || direction.is_empty() {
            return None;
        }
        let mut wanted = vec![0.0; variables];
        for &(variable, factor) in direction {
            wanted[variable] += factor;
        }
        let effect = solve(&self.factor, &wanted);
        let of_unit = |unit: &BTreeMap<usize, f64>| {
            unit.iter()
                .map(|(&variable, gradient)| effect[variable] * gradient)
                .sum::<f64>()
                .powi(2)
        };
        // Correct for the number of fitted variables: because the values were fitted to these same
        // results, the residuals are too small on average.
        let correction = units as f64 / (units - variables) as f64;
        let of_results = correction * self.units.iter().map(of_unit).sum::<f64>();
        let of_priors: f64 = effect
            .iter()
            .zip(&self.precisions)
            .map(|(effect, precision)| effect * effect * precision)
            .sum();
        let variance = of_results + of_priors;
        (of_results > MIN_PIVOT && variance.is_finite()).then(|| variance.sqrt())
    }
}

fn points(game: &RatedGame) -> f64 {
    f64::from(game.half_points) / 2.0
}

/// Returns the lower triangular Cholesky factor L of a symmetric positive definite matrix L L^T.
fn cholesky(mut matrix: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
    for row in 0..matrix.len() {
        let (above, rest) = matrix.split_at_mut(row);
        let current = &mut rest[0];
        for (column, other) in above.iter().enumerate() {
            let sum = dot(&current[..column], &other[..column]);
            current[column] = (current[column] - sum) / other[column];
        }
        let sum = dot(&current[..row], &current[..row]);
        current[row] = (current[row] - sum).max(MIN_PIVOT).sqrt();
    }
    matrix
}

/// Solves the equations L L^T x = `wanted`.
fn solve(factor: &[Vec<f64>], wanted: &[f64]) -> Vec<f64> {
    let mut found = wanted.to_vec();
    for row in 0..found.len() {
        let sum = dot(&factor[row][..row], &found[..row]);
        found[row] = (found[row] - sum) / factor[row][row];
    }
    for row in (0..found.len()).rev() {
        found[row] /= factor[row][row];
        let value = found[row];
        for (earlier, entry) in found[..row].iter_mut().zip(&factor[row][..row]) {
            *earlier -= entry * value;
        }
    }
    found
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
