//! The weights of a network, and how the score is computed from them.

use std::fmt::{self, Display};
use std::path::Path;
use std::sync::{Arc, LazyLock};

use super::kernel::{Kernel, Row};
use super::pieces::{Perspective, PieceSet};
use super::{BUCKETS, HIDDEN, INPUTS, OUTPUT_WEIGHT_LIMIT, QA, QB, SCALE};
use crate::chess::position::Color;
use crate::chess::score::{MAX_EVAL, Score};
use crate::support::error::ParseError;
use crate::support::files::{FileError, describe, read_plain};

/// The weights of an evaluation network.
#[derive(Clone, PartialEq, Eq)]
pub struct Network {
    pub(super) inputs: Box<[Row; INPUTS]>,
    pub(super) biases: Row,
    /// Weights from the neurons to the output. In each bucket, the weights of the side to move come
    /// before those of the other side.
    outputs: [[Row; 2]; BUCKETS],
    output_biases: [i32; BUCKETS],
}

impl fmt::Debug for Network {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "Network({:08x})", self.checksum())
    }
}

impl Network {
    /// Returns the embedded network (see `docs/measurements/network-generations.md`).
    pub fn embedded() -> Arc<Self> {
        static EMBEDDED: LazyLock<Arc<Network>> = LazyLock::new(|| {
            let network = Network::from_bytes(include_bytes!("network.bin"));
            Arc::new(network.unwrap_or_else(|error| unreachable!("built in: {error}")))
        });
        Arc::clone(&EMBEDDED)
    }

    /// Creates a network from its parts, scaled as in network files. `inputs` must contain
    /// [`INPUTS`] rows, and output weights must not exceed [`OUTPUT_WEIGHT_LIMIT`].
    pub(crate) fn new(
        inputs: impl Iterator<Item = [i16; HIDDEN]>,
        biases: [i16; HIDDEN],
        outputs: [[[i16; HIDDEN]; 2]; BUCKETS],
        output_biases: [i32; BUCKETS],
    ) -> Result<Self, ParseError> {
        let weights = outputs.iter().flatten().flatten();
        if let Some(&weight) =
            weights.clone().find(|w| w.unsigned_abs() > OUTPUT_WEIGHT_LIMIT as u16)
        {
            return Err(ParseError(format!(
                "output weight {weight} exceeds {OUTPUT_WEIGHT_LIMIT}"
            )));
        }
        let inputs: Box<[Row]> = inputs.map(Row).collect();
        let inputs = inputs.try_into().unwrap_or_else(|_| unreachable!("a row for each input"));
        let outputs = outputs.map(|sides| sides.map(Row));
        Ok(Network { inputs, biases: Row(biases), outputs, output_biases })
    }

    /// Reads a network from a file.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, or if it is not a network that this program can use.
    pub fn open(path: &Path) -> Result<Self, FileError> {
        Ok(Self::open_with_bytes(path)?.0)
    }

    pub(crate) fn open_with_bytes(path: &Path) -> Result<(Self, Vec<u8>), FileError> {
        let fail = |reason: &dyn Display| FileError::new("read the network", path, reason);
        let bytes = read_plain(path).map_err(|error| fail(&describe(&error)))?;
        let network = Self::from_bytes(&bytes).map_err(|error| fail(&error))?;
        Ok((network, bytes))
    }

    /// Returns a CRC-32 that identifies the network. It is computed from [`Network::to_bytes`].
    pub fn checksum(&self) -> u32 {
        crc32fast::hash(&self.to_bytes())
    }

    /// Returns the weights of each input and, as the last row, the biases. [`QA`] represents 1.0.
    pub(crate) fn input_rows(&self) -> impl Iterator<Item = &[i16; HIDDEN]> {
        self.inputs.iter().chain([&self.biases]).map(|row| &row.0)
    }

    /// Returns, for each bucket, the output weights of the side to move and then those of the other
    /// side. [`QB`] represents 1.0.
    pub(crate) fn output_rows(&self) -> impl Iterator<Item = &[i16; HIDDEN]> {
        self.outputs.iter().flatten().map(|row| &row.0)
    }

    /// Returns the output bias of each bucket. [`QA`] times [`QB`] represents 1.0.
    pub(crate) fn output_biases(&self) -> &[i32; BUCKETS] {
        &self.output_biases
    }

    /// Returns the score in centipawns for the side to move. `values` contains the neuron values of
    /// the side to move, followed by those of the other side.
    #[inline]
    pub(super) fn score(&self, kernel: Kernel, bucket: usize, values: [&Row; 2]) -> Score {
        let [own, enemy] = &self.outputs[bucket];
        let sum = kernel.weighted_sum(values[0], own) + kernel.weighted_sum(values[1], enemy);
        let output = sum / i64::from(QA) + i64::from(self.output_biases[bucket]);
        let score = output * i64::from(SCALE) / i64::from(QA * QB);
        score.clamp(-i64::from(MAX_EVAL), MAX_EVAL.into()) as Score
    }

    /// Returns the score in centipawns for the side to move, computed without an accumulator.
    pub(crate) fn evaluate(&self, pieces: &PieceSet, side_to_move: Color) -> Score {
        let [own, enemy] = [side_to_move, !side_to_move].map(|color| {
            let view = Perspective::new(pieces, color);
            let changes = pieces.changes(&PieceSet::NONE);
            let added = changes.added.as_slice().iter();
            let rows: Vec<&Row> = added.map(|&piece| &self.inputs[view.input(piece)]).collect();
            let mut values = self.biases;
            Kernel::Portable.update(&self.biases, &rows, &[], &mut values);
            values
        });
        self.score(Kernel::Portable, pieces.bucket(), [&own, &enemy])
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::INPUTS_PER_KING_BUCKET;
    use super::*;
    use crate::chess::position::{Position, Square};
    use crate::support::random::Random;

    /// Returns a network with random weights in the range of trained weights.
    pub(in crate::engine::eval) fn random_network(seed: u64) -> Network {
        let mut random = Random::new(seed);
        let mut weight = |limit: usize| random.below(2 * limit + 1) as i16 - limit as i16;
        let inputs: Vec<_> = (0..INPUTS).map(|_| [(); HIDDEN].map(|()| weight(60))).collect();
        let biases = [(); HIDDEN].map(|()| weight(100));
        let outputs = [(); BUCKETS].map(|()| [(); 2].map(|()| [(); HIDDEN].map(|()| weight(40))));
        let output_biases = [(); BUCKETS].map(|()| i32::from(weight(3000)));
        let network = Network::new(inputs.into_iter(), biases, outputs, output_biases);
        network.expect("weights in bounds")
    }

    #[test]
    fn score_matches_the_formula() {
        let network = random_network(2);
        let position = Position::from_fen("4k3/8/8/3p4/8/8/8/R3K3 b - - 0 1").expect("legal");
        let pieces = PieceSet::of(&position);
        // Squares are numbered from a1. Both kings are on the e-file, so both views are mirrored;
        // Black's is also flipped.
        let black = [
            64 * 5 + (60 ^ 56 ^ 7),
            35 ^ 56 ^ 7,
            384 + 64 * 5 + (4 ^ 56 ^ 7),
            384 + 64 * 3 + (56 ^ 7),
        ];
        let white = [64 * 5 + (4 ^ 7), 64 * 3 + 7, 384 + 64 * 5 + (60 ^ 7), 384 + (35 ^ 7)];
        let neurons = |inputs: [usize; 4], i: usize| -> f64 {
            // Both kings are in the middle of their first rank, so both views use the second king
            // bucket.
            let weight = |input: usize| network.inputs[INPUTS_PER_KING_BUCKET + input].0[i];
            let sum: i16 = inputs.into_iter().map(weight).sum();
            f64::from((sum + network.biases.0[i]).clamp(0, 255)) / 255.0
        };
        let mut output = f64::from(network.output_biases[0]) / f64::from(QA * QB);
        for i in 0..HIDDEN {
            for (side, inputs) in [black, white].into_iter().enumerate() {
                let weight = f64::from(network.outputs[0][side].0[i]) / f64::from(QB);
                output += neurons(inputs, i).powi(2) * weight;
            }
        }
        let expected = output * f64::from(SCALE);
        let score = network.evaluate(&pieces, Color::Black);
        assert!((f64::from(score) - expected).abs() < 1.1, "{score} for {expected}");
        let without = network.evaluate(&pieces.without(Square::A1), Color::Black);
        assert_ne!(without, score);
    }
}
