//! The Adam optimiser with decoupled weight decay (AdamW).

use super::parameters::LIMIT;

/// The decay rate of the running mean of the gradients. Adam's authors recommend this value.
const FIRST_DECAY: f32 = 0.9;
/// The decay rate of the running mean of the squared gradients. Adam's authors recommend this
/// value.
const SECOND_DECAY: f32 = 0.999;
/// A small term that is added to a divisor to prevent division by zero. Adam's authors recommend
/// this value.
const EPSILON: f32 = 1e-8;

/// The state of the optimiser: running means of each weight's gradient and squared gradient.
///
/// King buckets share part of each step. The shared step is computed from the sum of the gradients
/// of all king buckets, has its own running means, and is applied to every king bucket. King
/// buckets with few examples can therefore learn from the others. This is equivalent to a
/// factoriser, in which each weight is the sum of a common and a separate weight, except that only
/// the sum is stored.
///
/// Sources: I. Loshchilov and F. Hutter, "Decoupled Weight Decay Regularization" (2019), and D.
/// Kingma and J. Ba, "Adam: A Method for Stochastic Optimization" (2015). For the shared step:
/// "virtual features" in
/// <https://official-stockfish.github.io/docs/nnue-pytorch-wiki/docs/nnue.html>.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct AdamW {
    pub(super) each: Memory,
    /// The running means for the step shared by all king buckets.
    pub(super) common: Memory,
}

/// Exponentially decaying means of the gradients and their squares over all previous steps.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Memory {
    pub(super) first: Vec<f32>,
    pub(super) second: Vec<f32>,
}

impl Memory {
    fn new(weights: usize) -> Self {
        Memory { first: vec![0.0; weights], second: vec![0.0; weights] }
    }

    fn parts(&mut self, size: usize) -> impl Iterator<Item = MemoryPart<'_>> {
        let parts = self.first.chunks_mut(size).zip(self.second.chunks_mut(size));
        parts.map(|(first, second)| MemoryPart { first, second })
    }
}

struct MemoryPart<'m> {
    first: &'m mut [f32],
    second: &'m mut [f32],
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Stride {
    /// The step number, counted from 1.
    pub(super) step: u64,
    /// The learning rate. A step changes each weight by at most about this much.
    pub(super) rate: f32,
    /// The weight decay coefficient. Each step reduces every weight by a fraction of `rate *
    /// decay`.
    pub(super) decay: f32,
    /// The factor that converts the sum of the gradients over a batch to their mean.
    pub(super) scale: f32,
    /// The fraction of each step, from 0 to 1, that is shared by all king buckets.
    pub(super) common: f32,
}

impl AdamW {
    /// Creates the optimiser state for `weights` weights before the first step. The weights consist
    /// of king buckets of `king_bucket` weights each, followed by fewer than `king_bucket` other
    /// weights. If `king_bucket` is 0, there are no king buckets.
    pub(super) fn new(weights: usize, king_bucket: usize) -> Self {
        AdamW { each: Memory::new(weights), common: Memory::new(king_bucket) }
    }

    /// Updates `weights` with a step against the sum of `gradients`. Uses as many threads as there
    /// are gradients.
    pub(super) fn step(&mut self, weights: &mut [f32], gradients: &[&[f32]], stride: Stride) {
        let size = weights.len().div_ceil(gradients.len());
        let rate = (1.0 - stride.common) * stride.rate;
        let keep = 1.0 - stride.rate * stride.decay;
        std::thread::scope(|scope| {
            let parts = weights.chunks_mut(size).zip(self.each.parts(size));
            for (part, (weights, memory)) in parts.enumerate() {
                let slopes: Vec<&[f32]> = gradients
                    .iter()
                    .map(|slopes| &slopes[part * size..][..weights.len()])
                    .collect();
                scope.spawn(move || {
                    memory.each_move(&slopes, stride, |i, step| {
                        weights[i] = (keep * weights[i] - rate * step).clamp(-LIMIT, LIMIT);
                    });
                });
            }
        });
        if stride.common > 0.0 && !self.common.first.is_empty() {
            self.step_shared(weights, gradients, stride);
        }
    }

    /// Updates all king buckets with the same step, which is computed from the sum of their
    /// gradients.
    fn step_shared(&mut self, weights: &mut [f32], gradients: &[&[f32]], stride: Stride) {
        let king_bucket = self.common.first.len();
        let size = king_bucket.div_ceil(gradients.len());
        let rate = stride.common * stride.rate;
        let mut king_buckets: Vec<_> = weights
            .chunks_exact_mut(king_bucket)
            .map(|king_bucket| king_bucket.chunks_mut(size))
            .collect();
        std::thread::scope(|scope| {
            for (part, memory) in self.common.parts(size).enumerate() {
                let length = memory.first.len();
                let slopes: Vec<&[f32]> = gradients
                    .iter()
                    .flat_map(|slopes| slopes.chunks_exact(king_bucket))
                    .map(|slopes| &slopes[part * size..][..length])
                    .collect();
                let mut parts: Vec<_> =
                    king_buckets.iter_mut().filter_map(Iterator::next).collect();
                scope.spawn(move || {
                    memory.each_move(&slopes, stride, |i, step| {
                        for weights in &mut parts {
                            weights[i] = (weights[i] - rate * step).clamp(-LIMIT, LIMIT);
                        }
                    });
                });
            }
        });
    }
}

impl MemoryPart<'_> {
    /// Updates the running means with the sum of `gradients`, scaled by `stride.scale`. Calls
    /// `apply` with the index of each weight and its step, whose magnitude is at most about 1.
    /// `apply` must multiply the step by the learning rate and subtract it from the weight.
    #[inline(always)]
    fn each_move(self, gradients: &[&[f32]], stride: Stride, mut apply: impl FnMut(usize, f32)) {
        let MemoryPart { first, second } = self;
        let power = stride.step.min(i32::MAX as u64) as i32;
        let first_bias = 1.0 - FIRST_DECAY.powi(power);
        let second_bias = 1.0 - SECOND_DECAY.powi(power);
        for i in 0..first.len() {
            let slope = stride.scale * gradients.iter().map(|slopes| slopes[i]).sum::<f32>();
            first[i] = FIRST_DECAY * first[i] + (1.0 - FIRST_DECAY) * slope;
            second[i] = SECOND_DECAY * second[i] + (1.0 - SECOND_DECAY) * slope * slope;
            let size = (second[i] / second_bias).sqrt() + EPSILON;
            apply(i, first[i] / first_bias / size);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn optimiser_finds_the_minimum_with_any_number_of_threads() {
        for threads in [1, 2] {
            let mut weights = [1.5, -1.0];
            let mut adam = AdamW::new(2, 0);
            for step in 1..=2000 {
                let half = threads as f32;
                let slopes = [(weights[0] + 0.7) / half, 9.0 * (weights[1] - 0.2) / half];
                let rate = 0.02 * (1.0 - step as f32 / 2001.0);
                let stride = Stride { step, rate, decay: 0.0, scale: 1.0, common: 0.0 };
                adam.step(&mut weights, &vec![&slopes[..]; threads], stride);
            }
            let [a, b] = weights;
            assert!((a + 0.7).abs() < 0.01 && (b - 0.2).abs() < 0.01, "{a} {b}");
        }
    }

    #[test]
    fn weights_decay_and_stay_within_bounds() {
        let mut weights = [1.0, LIMIT];
        let mut adam = AdamW::new(2, 0);
        let stride = Stride { step: 1, rate: 0.1, decay: 0.5, scale: 1.0, common: 0.0 };
        adam.step(&mut weights, &[&[0.0, -1000.0]], stride);
        assert_eq!(weights, [0.95, LIMIT]);
    }
    #[test]
    fn king_buckets_share_part_of_each_step() {
        for threads in [1, 2] {
            // Two king buckets of three weights each, and one other weight. Only the first king
            // bucket and the other weight have gradients.
            let (mut weights, slopes) = ([0.0; 7], [1.0, -2.0, 0.0, 0.0, 0.0, 0.0, 4.0]);
            let mut adam = AdamW::new(7, 3);
            let stride = Stride { step: 1, rate: 0.1, decay: 0.0, scale: 1.0, common: 0.25 };
            let idle = [0.0; 7];
            adam.step(&mut weights, &[&slopes[..], &idle][..threads], stride);
            let expected = [-0.1, 0.1, 0.0, -0.025, 0.025, 0.0, -0.075];
            for (weight, expected) in weights.iter().zip(expected) {
                assert!((weight - expected).abs() < 1e-6, "{weights:?}, not {expected:?}");
            }
        }
    }
}
