//! The loss function: a power of the error in the expected result, with a weight that depends on
//! the number of pieces.

use super::example::Example;
use super::sigmoid::Sigmoid;

const MAX_PIECES: usize = 32;
/// The maximum weight of an example before the weights are normalised to a mean of 1. Without this
/// limit, a few hundred positions with rare piece counts would dominate training.
const MAX_WEIGHT: f32 = 8.0;

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Objective {
    pub(super) curve: Sigmoid,
    /// The exponent applied to the absolute error: 2 for the squared error. Higher values emphasise
    /// large errors.
    power: f32,
    /// The weight of an example, indexed by its number of pieces.
    weights: [f32; MAX_PIECES + 1],
}

impl Objective {
    /// Creates a squared-error objective in which all examples have the same weight.
    #[cfg(test)]
    pub(super) fn square(curve: Sigmoid) -> Self {
        Objective { curve, power: 2.0, weights: [1.0; MAX_PIECES + 1] }
    }

    /// Creates an objective with the exponent `power`, in which examples are weighted by their
    /// number of pieces. If `balance` is 0, all examples have the same weight. If it is 1, all
    /// piece counts have the same total weight, except that no example's weight may exceed
    /// [`MAX_WEIGHT`]. For a value in between, the weights that a `balance` of 1 would give are
    /// raised to the power of `balance`. The weights are scaled so that their mean over `examples`
    /// is 1. Balancing piece counts gained PlentyChess 13 Elo.
    pub(super) fn new(curve: Sigmoid, power: f32, balance: f32, examples: &[Example]) -> Self {
        let mut counts = [0_usize; MAX_PIECES + 1];
        examples.iter().for_each(|example| counts[example.piece_count()] += 1);
        let kinds = counts.iter().filter(|&&count| count > 0).count().max(1);
        let even = examples.len() as f32 / kinds as f32;
        let weight = |count: usize| (even / count.max(1) as f32).powf(balance).min(MAX_WEIGHT);
        let sum: f32 = counts.iter().map(|&count| count as f32 * weight(count)).sum();
        let mean = sum / examples.len().max(1) as f32;
        let weights = match balance {
            0.0 => [1.0; MAX_PIECES + 1],
            _ => counts.map(|count| weight(count) / mean),
        };
        Objective { curve, power, weights }
    }

    /// Returns the derivative of the example's loss with respect to `error`.
    #[inline(always)]
    pub(super) fn derivative(&self, error: f32, example: &Example) -> f32 {
        // The squared error is the usual case and does not need the slow `powf`.
        let slope = match self.power {
            2.0 => 2.0 * error,
            power => power * error.abs().powf(power - 1.0).copysign(error),
        };
        self.weights[example.piece_count()] * slope
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::position::Position;

    const CURVE: Sigmoid = Sigmoid { scale: 200 };

    fn examples() -> Vec<Example> {
        let few = Position::from_fen("4k3/4p3/8/8/8/8/4P3/4K3 w - - 0 1").expect("a position");
        let positions = [Position::start(), Position::start(), Position::start(), few];
        positions.iter().map(|position| Example::new(position, 0.5)).collect()
    }

    #[test]
    fn balance_weights_piece_counts_equally() {
        let examples = examples();
        let derivatives = |balance: f32| {
            let objective = Objective::new(CURVE, 2.0, balance, &examples);
            [0, 3].map(|place| objective.derivative(0.5, &examples[place]))
        };
        assert_eq!(derivatives(0.0), [1.0, 1.0]);
        let [many, few] = derivatives(1.0);
        assert!((3.0 * many - few).abs() < 1e-5 && (3.0 * many + few - 4.0).abs() < 1e-5);
        let [many, few] = derivatives(0.5);
        assert!((few / many - 3.0_f32.sqrt()).abs() < 1e-5);
    }

    #[test]
    fn derivative_matches_finite_differences() {
        const STEP: f32 = 1e-3;
        let examples = examples();
        for power in [1.5, 2.0, 2.5] {
            let objective = Objective::new(CURVE, power, 0.0, &examples);
            for error in [-0.4_f32, -0.1, 0.2] {
                let raised = |error: f32| error.abs().powf(power);
                let slope = (raised(error + STEP) - raised(error - STEP)) / (2.0 * STEP);
                let derivative = objective.derivative(error, &examples[0]);
                assert!(
                    (derivative - slope).abs() < 1e-3,
                    "{power} {error}: {derivative}, not {slope}"
                );
            }
        }
        assert!(Objective::square(CURVE) == Objective::new(CURVE, 2.0, 0.0, &examples));
    }
}
