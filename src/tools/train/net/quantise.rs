//! From trained weights to the integers of a network that plays.

use super::example::Example;
use super::gradient::output;
use super::parameters::{BIASES, Parameters};
use super::sigmoid::Sigmoid;
use crate::chess::position::Color;
use crate::engine::eval::nnue::{BUCKETS, HIDDEN, INPUTS, Network, NetworkError, QA, QB, SCALE};

/// Examples that the integer network's biases are set by.
const CALIBRATED_ON: usize = 1 << 15;

/// How far the integer network is from the weights that it comes of.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct QuantisationError {
    /// In centipawns, on average over the positions.
    pub mean: f64,
    /// The largest one, in centipawns.
    pub max: f64,
    /// The mean square error of the integer network's expected result.
    pub loss: f64,
}

impl Parameters<HIDDEN> {
    /// The network in integers. Rounded output weights shift the scores of each bucket by about a
    /// constant; that is taken back by the biases, for which a sample of `examples` is looked at.
    ///
    /// # Errors
    /// If a weight is larger than the trainer lets any become.
    pub(crate) fn quantised(&self, examples: &[Example]) -> Result<Network, NetworkError> {
        let shifted = self.rounded([0.0; BUCKETS])?;
        let mut shifts = [0.0; BUCKETS];
        let mut counts = [0.0; BUCKETS];
        for example in examples.iter().take(CALIBRATED_ON) {
            let score = shifted.evaluate(&example.board(), Color::White);
            shifts[example.bucket()] += output(self, example) - score as f32 / SCALE as f32;
            counts[example.bucket()] += 1.0;
        }
        self.rounded(std::array::from_fn(|i| shifts[i] / f32::max(counts[i], 1.0)))
    }

    /// The network in integers, with this added to the biases of the output.
    fn rounded(&self, shifts: [f32; BUCKETS]) -> Result<Network, NetworkError> {
        let row = |row: usize, one: i32| self.rows()[row].map(|weight| rounded(weight, one) as i16);
        let inputs = (0..INPUTS).map(|input| row(input, QA));
        let outputs =
            std::array::from_fn(|bucket| Self::output_rows(bucket).map(|output| row(output, QB)));
        let bias = |bucket: usize| self.output_biases()[bucket] + shifts[bucket];
        let biases = std::array::from_fn(|bucket| rounded(bias(bucket), QA * QB));
        Network::new(inputs, row(BIASES, QA), outputs, biases)
    }

    /// How far `network`, made by [`Parameters::quantised`], is off on average and at most.
    pub(crate) fn quantisation_error(
        &self,
        network: &Network,
        curve: Sigmoid,
        examples: &[Example],
    ) -> QuantisationError {
        let mut error = QuantisationError { mean: 0.0, max: 0.0, loss: 0.0 };
        for example in examples {
            let exact = f64::from(output(self, example)) * f64::from(SCALE);
            let score = network.evaluate(&example.board(), Color::White);
            let off = (exact - f64::from(score)).abs();
            error.mean += off / examples.len() as f64;
            error.max = error.max.max(off);
            let expected = curve.of_score(score as f32);
            error.loss += f64::from(expected - example.target).powi(2) / examples.len() as f64;
        }
        error
    }
}

fn rounded(weight: f32, one: i32) -> i32 {
    (weight * one as f32).round() as i32
}
