//! Adam with decoupled weight decay.

use super::parameters::LIMIT;

/// The decay rates and the guard against division by zero that Adam's authors recommend.
const FIRST_DECAY: f32 = 0.9;
const SECOND_DECAY: f32 = 0.999;
const EPSILON: f32 = 1e-8;

/// The optimiser's memory: the running mean of each weight's slope, and of the slope's square.
///
/// Source: I. Loshchilov and F. Hutter, "Decoupled Weight Decay Regularization" (2019), after
/// D. Kingma and J. Ba, "Adam: A Method for Stochastic Optimization" (2015).
#[derive(Debug, Clone, PartialEq)]
pub(super) struct AdamW {
    pub(super) first: Vec<f32>,
    pub(super) second: Vec<f32>,
}

/// How far a step goes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stride {
    /// The number of this step, counted from 1.
    pub(super) step: u64,
    /// A weight moves by about so much at most.
    pub(super) rate: f32,
    /// Share of a weight that is lost at a rate of 1.
    pub(super) decay: f32,
    /// What the gradients' sum is multiplied with.
    pub(super) scale: f32,
}

impl AdamW {
    pub(super) fn new(weights: usize) -> Self {
        AdamW { first: vec![0.0; weights], second: vec![0.0; weights] }
    }

    /// Moves `weights` against the sum of `gradients`, in several threads.
    pub(super) fn step(&mut self, weights: &mut [f32], gradients: &[&[f32]], stride: Stride) {
        let size = weights.len().div_ceil(gradients.len());
        std::thread::scope(|scope| {
            let parts = weights
                .chunks_mut(size)
                .zip(self.first.chunks_mut(size))
                .zip(self.second.chunks_mut(size));
            for (part, ((weights, first), second)) in parts.enumerate() {
                let slopes: Vec<&[f32]> = gradients
                    .iter()
                    .map(|slopes| &slopes[part * size..][..weights.len()])
                    .collect();
                scope.spawn(move || update(weights, first, second, &slopes, stride));
            }
        });
    }
}

fn update(
    weights: &mut [f32],
    first: &mut [f32],
    second: &mut [f32],
    gradients: &[&[f32]],
    stride: Stride,
) {
    let power = stride.step.min(i32::MAX as u64) as i32;
    let first_bias = 1.0 - FIRST_DECAY.powi(power);
    let second_bias = 1.0 - SECOND_DECAY.powi(power);
    let keep = 1.0 - stride.rate * stride.decay;
    for (i, weight) in weights.iter_mut().enumerate() {
        let slope = stride.scale * gradients.iter().map(|slopes| slopes[i]).sum::<f32>();
        first[i] = FIRST_DECAY * first[i] + (1.0 - FIRST_DECAY) * slope;
        second[i] = SECOND_DECAY * second[i] + (1.0 - SECOND_DECAY) * slope * slope;
        let size = (second[i] / second_bias).sqrt() + EPSILON;
        let moved = keep * *weight - stride.rate * (first[i] / first_bias) / size;
        *weight = moved.clamp(-LIMIT, LIMIT);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_finds_the_bottom_of_a_bowl_in_any_number_of_threads() {
        for threads in [1, 2] {
            let mut weights = [1.5, -1.0];
            let mut adam = AdamW::new(2);
            for step in 1..=2000 {
                let half = threads as f32;
                let slopes = [(weights[0] + 0.7) / half, 9.0 * (weights[1] - 0.2) / half];
                let rate = 0.02 * (1.0 - step as f32 / 2001.0);
                let stride = Stride { step, rate, decay: 0.0, scale: 1.0 };
                adam.step(&mut weights, &vec![&slopes[..]; threads], stride);
            }
            let [a, b] = weights;
            assert!((a + 0.7).abs() < 0.01 && (b - 0.2).abs() < 0.01, "{a} {b}");
        }
    }

    #[test]
    fn weights_decay_and_stay_in_bounds() {
        let mut weights = [1.0, LIMIT];
        let mut adam = AdamW::new(2);
        let stride = Stride { step: 1, rate: 0.1, decay: 0.5, scale: 1.0 };
        adam.step(&mut weights, &[&[0.0, -1000.0]], stride);
        assert_eq!(weights, [0.95, LIMIT]);
    }
}
