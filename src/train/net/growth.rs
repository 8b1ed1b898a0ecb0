//! A network with fewer neurons as the beginning of one with more.

use std::path::Path;

use super::parameters::{INPUT_SPREAD, Parameters, small};
use crate::eval::nnue::{BUCKETS, HIDDEN, Network, NetworkError};
use crate::random::Random;

/// What stands before the number of neurons in a network's first line.
const WIDTH_KEY: &[u8] = b"hidden ";

impl Parameters<HIDDEN> {
    /// The weights of a network's file, to begin with. Where it has fewer neurons than networks of
    /// this build, others are added that see something at random and that the output does not heed
    /// yet: what the network says stays the same.
    ///
    /// Source: T. Chen, I. Goodfellow and J. Shlens, "Net2Net: Accelerating Learning via Knowledge
    /// Transfer" (2016), with new neurons in place of copies.
    ///
    /// # Errors
    /// If the file cannot be read, or is no network or one with more neurons.
    pub(crate) fn grown_from(path: &Path, seed: u64) -> Result<Self, NetworkError> {
        let bytes = Network::read_file(path)?;
        match width(&bytes) {
            Some(known) if known < HIDDEN => {
                let network = Network::from_bytes(&widened(&bytes, known, HIDDEN))?;
                let mut parameters = Parameters::from(&network);
                parameters.sees_at_random(known.., seed);
                Ok(parameters)
            }
            _ => Ok(Parameters::from(&Network::from_bytes(&bytes)?)),
        }
    }

    /// Gives these neurons small random weights from all inputs.
    fn sees_at_random(&mut self, neurons: std::ops::RangeFrom<usize>, seed: u64) {
        let mut random = Random::new(seed);
        for row in self.input_rows_mut() {
            row[neurons.clone()].fill_with(|| small(&mut random, INPUT_SPREAD));
        }
    }
}

/// The number of neurons that a network's file speaks of.
fn width(bytes: &[u8]) -> Option<usize> {
    let line = bytes.split(|&byte| byte == b'\n').next()?;
    let at = line.windows(WIDTH_KEY.len()).position(|part| part == WIDTH_KEY)? + WIDTH_KEY.len();
    let digits = line[at..].split(|byte| !byte.is_ascii_digit()).next()?;
    std::str::from_utf8(digits).ok()?.parse().ok()
}

/// The file of a network of `known` neurons with zeros in it for those up to `wanted`.
fn widened(bytes: &[u8], known: usize, wanted: usize) -> Vec<u8> {
    let end = bytes.iter().position(|&byte| byte == b'\n').map_or(bytes.len(), |at| at + 1);
    let (line, numbers) = bytes.split_at(end);
    let line = String::from_utf8_lossy(line)
        .replace(&format!("hidden {known};"), &format!("hidden {wanted};"));
    let (rows, biases) = numbers.split_at(numbers.len().saturating_sub(4 * BUCKETS));
    let mut widened = line.into_bytes();
    for row in rows.chunks((2 * known).max(1)) {
        widened.extend(row);
        widened.resize(widened.len() + 2 * (wanted - known), 0);
    }
    widened.extend(biases);
    widened
}

#[cfg(test)]
mod tests {
    use super::super::example::Example;
    use super::super::gradient::output;
    use super::*;
    use crate::position::Position;

    /// The file of a network without its last neurons.
    fn narrowed(bytes: &[u8], wanted: usize) -> Vec<u8> {
        let end = bytes.iter().position(|&byte| byte == b'\n').expect("a line") + 1;
        let line = String::from_utf8_lossy(&bytes[..end])
            .replace(&format!("hidden {HIDDEN};"), &format!("hidden {wanted};"));
        let (rows, biases) = bytes[end..].split_at(bytes.len() - end - 4 * BUCKETS);
        let kept = rows.chunks(2 * HIDDEN).flat_map(|row| &row[..2 * wanted]);
        line.bytes().chain(kept.copied()).chain(biases.iter().copied()).collect()
    }

    #[test]
    fn new_neurons_do_not_change_what_is_said_but_can_learn() {
        const FEW: usize = HIDDEN / 2;
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("few.bin");
        let few = narrowed(&Network::embedded().to_bytes(), FEW);
        std::fs::write(&path, &few).expect("written");
        let parameters = Parameters::grown_from(&path, 1).expect("a network");
        let zeros = Network::from_bytes(&widened(&few, FEW, HIDDEN)).expect("a network");
        let example = Example::new(&Position::start(), 0.5);
        let said = output(&parameters, &example);
        assert_eq!(said, output(&Parameters::from(&zeros), &example));
        assert_ne!(said, 0.0);
        let rows = parameters.rows();
        assert!(rows[0][FEW..].iter().all(|weight| *weight != 0.0 && weight.abs() < INPUT_SPREAD));
        let [own, enemy] = Parameters::<HIDDEN>::output_rows(0);
        assert!(rows[own][FEW..].iter().chain(&rows[enemy][FEW..]).all(|weight| *weight == 0.0));
        assert!(rows[own][..FEW].iter().any(|weight| *weight != 0.0));
    }

    #[test]
    fn a_network_of_this_build_is_as_it_was() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("net.bin");
        let network = Network::embedded();
        std::fs::write(&path, network.to_bytes()).expect("written");
        let parameters = Parameters::grown_from(&path, 1).expect("a network");
        assert!(parameters == Parameters::from(&*network));
    }

    #[test]
    fn what_is_no_network_or_has_more_neurons_is_refused() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("net.bin");
        let refused = |bytes: &[u8]| {
            std::fs::write(&path, bytes).expect("written");
            Parameters::grown_from(&path, 1).expect_err("refused")
        };
        let bytes = Network::embedded().to_bytes();
        let more = widened(&bytes, HIDDEN, 2 * HIDDEN);
        assert!(matches!(refused(&more), NetworkError::Foreign(_)));
        assert!(matches!(refused(b"tabia network 3; hidden 0;"), NetworkError::Foreign(_)));
        let few = narrowed(&bytes, HIDDEN / 2);
        assert!(matches!(refused(&few[..few.len() - 1]), NetworkError::Length { .. }));
        let missing = Parameters::grown_from(&dir.path().join("none.bin"), 1);
        assert!(matches!(missing, Err(NetworkError::Unreadable { .. })));
    }
}
