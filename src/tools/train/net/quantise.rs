//! Converts trained weights to an integer network.

use super::example::Example;
use super::gradient::output;
use super::parameters::{BIASES, Parameters};
use super::sigmoid::Sigmoid;
use crate::chess::position::Color;
use crate::engine::eval::nnue::{BUCKETS, HIDDEN, INPUTS, Network, QA, QB, SCALE};
use crate::support::error::ParseError;

/// The number of examples used to calibrate the biases of the integer network.
const CALIBRATED_ON: usize = 1 << 15;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct QuantisationError {
    /// The mean absolute difference between the scores of the integer network and of the trained
    /// weights, in centipawns.
    pub mean: f64,
    /// The maximum absolute error, in centipawns.
    pub max: f64,
    /// The mean squared error of the integer network's expected results, compared with the training
    /// targets.
    pub loss: f64,
}

impl Parameters<HIDDEN> {
    /// Converts the weights to an integer network. Rounding the weights shifts the scores in each
    /// output bucket by a roughly constant amount. This shift is measured on the first
    /// [`CALIBRATED_ON`] examples and subtracted from the output biases. Fails if an output weight
    /// is too large for the integer network.
    pub(crate) fn quantised(&self, examples: &[Example]) -> Result<Network, ParseError> {
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

    fn rounded(&self, shifts: [f32; BUCKETS]) -> Result<Network, ParseError> {
        let row = |row: usize, one: i32| self.rows()[row].map(|weight| rounded(weight, one) as i16);
        let inputs = (0..INPUTS).map(|input| row(input, QA));
        let outputs =
            std::array::from_fn(|bucket| Self::output_rows(bucket).map(|output| row(output, QB)));
        let bias = |bucket: usize| self.output_biases()[bucket] + shifts[bucket];
        let biases = std::array::from_fn(|bucket| rounded(bias(bucket), QA * QB));
        Network::new(inputs, row(BIASES, QA), outputs, biases)
    }

    /// Compares the scores of `network`, which must come from [`Parameters::quantised`], with those
    /// of the trained weights.
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
