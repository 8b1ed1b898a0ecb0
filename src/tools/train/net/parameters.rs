//! The floating-point weights of a network during training.

use crate::engine::eval::nnue::{
    BUCKETS, HIDDEN, INPUTS, INPUTS_PER_KING_BUCKET, Network, OUTPUT_WEIGHT_LIMIT, QA, QB,
};
use crate::support::random::Random;

/// The index of the row with the neurons' biases, which follows the rows for the inputs.
pub(super) const BIASES: usize = INPUTS;
/// The index of the first row of output weights. Each bucket has a pair of rows: one for the side
/// to move and one for the opponent.
const OUTPUTS: usize = BIASES + 1;
const ROWS: usize = OUTPUTS + 2 * BUCKETS;

/// The maximum absolute value of a weight. It ensures that the sum of a neuron's bias and its
/// weights for 32 pieces fits in 16 bits.
pub(super) const LIMIT: f32 = 1.98;
const _: () = assert!(33.0 * LIMIT * (QA as f32) < i16::MAX as f32);

/// The maximum absolute value of an output weight. Larger values could overflow the integer
/// network's arithmetic.
pub(super) const OUTPUT_LIMIT: f32 = OUTPUT_WEIGHT_LIMIT as f32 / QB as f32;

/// The maximum absolute value of the initial input weights. They are small and symmetric around 0,
/// so about half of the neurons are active at first.
pub(super) const INPUT_SPREAD: f32 = 0.1;
const OUTPUT_SPREAD: f32 = 0.05;

/// The weights of a network with `N` neurons per side, or the gradient of these weights.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Parameters<const N: usize>(Vec<f32>);

impl<const N: usize> Parameters<N> {
    pub(super) const LEN: usize = ROWS * N + BUCKETS;
    /// The number of weights in a king bucket. The king buckets come before the other weights.
    pub(super) const KING_BUCKET: usize = INPUTS_PER_KING_BUCKET * N;

    pub(super) fn zero() -> Self {
        Parameters(vec![0.0; Self::LEN])
    }

    pub(crate) fn random(seed: u64) -> Self {
        let mut random = Random::new(seed);
        let mut parameters = Self::zero();
        let (rows, _) = parameters.split_mut();
        for (row, weights) in rows.iter_mut().enumerate().filter(|&(row, _)| row != BIASES) {
            let spread = if row < BIASES { INPUT_SPREAD } else { OUTPUT_SPREAD };
            weights.fill_with(|| random_weight(&mut random, spread));
        }
        parameters
    }

    /// Creates parameters from weights in the order of [`Parameters::as_slice`]. Returns `None` if
    /// the number of weights is wrong.
    pub(super) fn from_vec(weights: Vec<f32>) -> Option<Self> {
        (weights.len() == Self::LEN).then_some(Parameters(weights))
    }

    pub(super) fn as_slice(&self) -> &[f32] {
        &self.0
    }

    pub(super) fn as_mut_slice(&mut self) -> &mut [f32] {
        &mut self.0
    }

    #[inline(always)]
    pub(super) fn rows(&self) -> &[[f32; N]] {
        self.0[..ROWS * N].as_chunks().0
    }

    pub(super) fn input_rows_mut(&mut self) -> &mut [[f32; N]] {
        &mut self.split_mut().0[..INPUTS]
    }

    /// Returns the indices of a bucket's two rows of output weights: the row for the side to move,
    /// and the row for the other side.
    #[inline(always)]
    pub(super) const fn output_rows(bucket: usize) -> [usize; 2] {
        [OUTPUTS + 2 * bucket, OUTPUTS + 2 * bucket + 1]
    }

    pub(super) fn clip_outputs(&mut self) {
        for weight in &mut self.0[OUTPUTS * N..ROWS * N] {
            *weight = weight.clamp(-OUTPUT_LIMIT, OUTPUT_LIMIT);
        }
    }

    #[inline(always)]
    pub(super) fn output_biases(&self) -> &[f32] {
        &self.0[ROWS * N..]
    }

    #[inline(always)]
    pub(super) fn split_mut(&mut self) -> (&mut [[f32; N]], &mut [f32]) {
        let (rows, biases) = self.0.split_at_mut(ROWS * N);
        (rows.as_chunks_mut().0, biases)
    }
}

pub(super) fn random_weight(random: &mut Random, spread: f32) -> f32 {
    spread * (2.0 * random.fraction() as f32 - 1.0)
}

impl From<&Network> for Parameters<HIDDEN> {
    fn from(network: &Network) -> Self {
        let mut parameters = Self::zero();
        let (rows, biases) = parameters.split_mut();
        let (inputs, outputs) = rows.split_at_mut(OUTPUTS);
        for (row, weights) in inputs.iter_mut().zip(network.input_rows()) {
            *row = weights.map(|weight| f32::from(weight) / QA as f32);
        }
        for (row, weights) in outputs.iter_mut().zip(network.output_rows()) {
            *row = weights.map(|weight| f32::from(weight) / QB as f32);
        }
        for (bias, &whole) in biases.iter_mut().zip(network.output_biases()) {
            *bias = whole as f32 / (QA * QB) as f32;
        }
        parameters
    }
}
