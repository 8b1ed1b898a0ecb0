//! The Adam optimiser: gradient descent with an adaptive step size for each weight.

use super::model::{Pair, Values};

/// The decay rate of the running means of the gradients, as recommended by Adam's authors.
const FIRST_DECAY: f32 = 0.9;
/// The decay rate of the running means of the squared gradients, as recommended by Adam's authors.
const SECOND_DECAY: f32 = 0.999;
/// The term that prevents division by zero, as recommended by Adam's authors.
const EPSILON: f32 = 1e-8;

/// The state of the optimiser. Source: D. Kingma and J. Ba, "Adam: A Method for Stochastic
/// Optimization" (2015).
pub(super) struct Adam {
    first: Vec<Pair>,
    second: Vec<Pair>,
    steps: i32,
}

impl Adam {
    pub(super) fn new(weights: usize) -> Self {
        Adam { first: vec![[0.0; 2]; weights], second: vec![[0.0; 2]; weights], steps: 0 }
    }

    /// Changes each weight in `values` in the direction that reduces the error, by at most about
    /// `rate` centipawns. `gradient` is the gradient of the error.
    pub(super) fn step(&mut self, values: &mut Values, gradient: &Values, rate: f32) {
        self.steps += 1;
        let first_bias = 1.0 - FIRST_DECAY.powi(self.steps);
        let second_bias = 1.0 - SECOND_DECAY.powi(self.steps);
        for (place, value) in values.0.iter_mut().enumerate() {
            for (phase, value) in value.iter_mut().enumerate() {
                let slope = gradient.0[place][phase];
                let first = &mut self.first[place][phase];
                *first = FIRST_DECAY * *first + (1.0 - FIRST_DECAY) * slope;
                let second = &mut self.second[place][phase];
                *second = SECOND_DECAY * *second + (1.0 - SECOND_DECAY) * slope * slope;
                let size = (*second / second_bias).sqrt() + EPSILON;
                *value -= rate * (*first / first_bias) / size;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn optimiser_finds_the_minimum() {
        let mut values = Values(vec![[40.0, -30.0]]);
        let mut adam = Adam::new(1);
        for step in 0..2000 {
            let gradient = Values(vec![[values.0[0][0] - 7.0, 9.0 * (values.0[0][1] - 2.0)]]);
            adam.step(&mut values, &gradient, 0.5 * (1.0 - step as f32 / 2000.0));
        }
        let [a, b] = values.0[0];
        assert!((a - 7.0).abs() < 0.1 && (b - 2.0).abs() < 0.1, "{a} {b}");
    }
}
