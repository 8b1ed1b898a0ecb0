//! Initialises a network for training from a trained network that may have fewer neurons.

use std::path::Path;

use super::parameters::{INPUT_SPREAD, Parameters, random_weight};
use crate::engine::eval::nnue::{HIDDEN, Network};
use crate::support::files::FileError;
use crate::support::random::Random;

impl Parameters<HIDDEN> {
    /// Initialises the weights from a network file. If the file has fewer than [`HIDDEN`] neurons,
    /// the missing ones are added with random input weights and zero output weights, so that the
    /// network's output does not change.
    ///
    /// Source: T. Chen, I. Goodfellow and J. Shlens, "Net2Net: Accelerating Learning via Knowledge
    /// Transfer" (2016). Unlike in that paper, the added neurons are not copies of existing ones.
    pub(crate) fn grown_from(path: &Path, seed: u64) -> Result<Self, FileError> {
        let (network, bytes) = Network::open_with_bytes(path)?;
        let mut parameters = Parameters::from(&network);
        let known = Network::neurons_in(&bytes).unwrap_or(HIDDEN);
        parameters.randomize_inputs(known.., seed);
        Ok(parameters)
    }

    fn randomize_inputs(&mut self, neurons: std::ops::RangeFrom<usize>, seed: u64) {
        let mut random = Random::new(seed);
        for row in self.input_rows_mut() {
            row[neurons.clone()].fill_with(|| random_weight(&mut random, INPUT_SPREAD));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::example::Example;
    use super::super::gradient::output;
    use super::*;
    use crate::chess::position::Position;
    use crate::engine::eval::nnue::{BUCKETS, narrowed};

    #[test]
    fn new_neurons_keep_the_output_and_have_gradients() {
        const FEW: usize = HIDDEN / 2;
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("few.bin");
        let few = narrowed(&Network::embedded(), FEW);
        std::fs::write(&path, &few).expect("written");
        let parameters = Parameters::grown_from(&path, 1).expect("a network");
        let zeros = Network::from_bytes(&few).expect("a network");
        let example = Example::new(&Position::start(), 0.5);
        let expected = output(&parameters, &example);
        assert_eq!(expected, output(&Parameters::from(&zeros), &example));
        assert_ne!(expected, 0.0);
        let rows = parameters.rows();
        assert!(rows[0][FEW..].iter().all(|weight| *weight != 0.0 && weight.abs() < INPUT_SPREAD));
        let [own, enemy] = Parameters::<HIDDEN>::output_rows(0);
        assert!(rows[own][FEW..].iter().chain(&rows[enemy][FEW..]).all(|weight| *weight == 0.0));
        assert!(rows[own][..FEW].iter().any(|weight| *weight != 0.0));
    }

    #[test]
    fn network_of_the_same_size_is_unchanged() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("net.bin");
        let network = Network::embedded();
        std::fs::write(&path, network.to_bytes()).expect("written");
        let parameters = Parameters::grown_from(&path, 1).expect("a network");
        assert!(parameters == Parameters::from(&*network));
    }

    #[test]
    fn invalid_or_larger_networks_are_rejected() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("net.bin");
        let refused = |bytes: &[u8]| {
            std::fs::write(&path, bytes).expect("written");
            Parameters::grown_from(&path, 1).expect_err("refused").to_string()
        };
        let more = format!("tabia network 2; hidden {}; buckets {BUCKETS}\n", 2 * HIDDEN);
        assert!(refused(more.as_bytes()).contains("must begin with"));
        assert!(refused(b"tabia network 3; hidden 0;").contains("must begin with"));
        let few = narrowed(&Network::embedded(), HIDDEN / 2);
        assert!(refused(&few[..few.len() - 1]).contains("bytes, but"));
        let missing = Parameters::grown_from(&dir.path().join("none.bin"), 1);
        assert!(missing.is_err_and(|error| error.reason == "it does not exist"));
    }
}
