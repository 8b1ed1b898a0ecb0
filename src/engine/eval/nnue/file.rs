//! The network file format.
//!
//! A file consists of a line of text, `tabia network 3; zones Z; hidden H; buckets B`, and
//! little-endian numbers:
//!
//! 1. the weights from each input to the H neurons, by king bucket, and the neurons' biases (i16;
//!    [`QA`](super::QA) represents 1.0),
//! 2. for each bucket, the weights of the H neurons of the side to move and of the H neurons of the
//!    other side (i16; [`QB`](super::QB) represents 1.0),
//! 3. for each bucket, the bias of the output (i32; QA * QB represents 1.0).
//!
//! If all king buckets have the same weights, the file has version 2. It then contains the weights
//! of only one king bucket, and its first line omits `zones`. If a file has fewer neurons than this
//! program uses, the weights of the missing neurons are set to zero.

use super::kernel::Row;
use super::network::Network;
use super::{BUCKETS, HIDDEN, INPUTS, INPUTS_PER_KING_BUCKET, KING_BUCKETS};
use crate::support::error::ParseError;

/// Upper bound (exclusive) on the length of the first line, in bytes.
const LONGEST_LINE: usize = 100;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Shape {
    /// Number of king buckets stored in the file; 1 if all king buckets share the same weights.
    king_buckets: usize,
    hidden: usize,
}

impl Shape {
    fn line(self) -> String {
        let Shape { king_buckets, hidden } = self;
        let start = match king_buckets {
            1 => "tabia network 2".to_owned(),
            _ => format!("tabia network 3; zones {king_buckets}"),
        };
        format!("{start}; hidden {hidden}; buckets {BUCKETS}")
    }

    /// Parses the first line of a file. Returns the dimensions of the network and the bytes after
    /// the line.
    fn split_from(bytes: &[u8]) -> Option<(Self, &[u8])> {
        let start = &bytes[..bytes.len().min(LONGEST_LINE)];
        let end = start.iter().position(|&byte| byte == b'\n')?;
        let line = std::str::from_utf8(&start[..end]).ok()?;
        let number = |key: &str| -> Option<usize> {
            line.split("; ").find_map(|part| part.strip_prefix(key))?.parse().ok()
        };
        let shape =
            Shape { king_buckets: number("zones ").unwrap_or(1), hidden: number("hidden ")? };
        let is_read =
            [1, KING_BUCKETS].contains(&shape.king_buckets) && (1..=HIDDEN).contains(&shape.hidden);
        (is_read && shape.line() == line).then(|| (shape, &bytes[end + 1..]))
    }

    fn inputs(self) -> usize {
        self.king_buckets * INPUTS_PER_KING_BUCKET
    }

    fn length(self) -> usize {
        2 * self.hidden * (self.inputs() + 1 + 2 * BUCKETS) + 4 * BUCKETS
    }
}

impl Network {
    /// Parses the contents of a network file.
    ///
    /// # Errors
    ///
    /// If the bytes are not a valid network, or if the network has too many neurons.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, ParseError> {
        let whole = Shape { king_buckets: KING_BUCKETS, hidden: HIDDEN };
        let (shape, numbers) = Shape::split_from(bytes).ok_or_else(|| {
            let line = whole.line();
            ParseError(format!("not a network of this version: it must begin with `{line}`"))
        })?;
        if numbers.len() != shape.length() {
            let expected = bytes.len() - numbers.len() + shape.length();
            let found = bytes.len();
            return Err(ParseError(format!(
                "a network has {expected} bytes, but this has {found}"
            )));
        }
        let (words, output_biases) = numbers.split_at(shape.length() - 4 * BUCKETS);
        let mut words = words.as_chunks().0.iter().map(|&word| i16::from_le_bytes(word));
        let mut row = || {
            let mut row = [0; HIDDEN];
            row[..shape.hidden].fill_with(|| words.next().unwrap_or_default());
            row
        };
        let inputs: Vec<_> = (0..shape.inputs()).map(|_| row()).collect();
        let biases = row();
        let outputs = [(); BUCKETS].map(|()| [row(), row()]);
        let mut output_biases =
            output_biases.as_chunks().0.iter().map(|&word| i32::from_le_bytes(word));
        let output_biases = [(); BUCKETS].map(|()| output_biases.next().unwrap_or_default());
        Self::new(inputs.into_iter().cycle().take(INPUTS), biases, outputs, output_biases)
    }

    /// Returns the number of neurons of the network in the file, or `None` if `bytes` is not a
    /// network file.
    pub(crate) fn neurons_in(bytes: &[u8]) -> Option<usize> {
        Shape::split_from(bytes).map(|(shape, _)| shape.hidden)
    }

    /// Returns the network in the format of a network file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let (one_king_bucket, others) = self.inputs.split_at(INPUTS_PER_KING_BUCKET);
        let are_alike =
            others.chunks(INPUTS_PER_KING_BUCKET).all(|king_bucket| king_bucket == one_king_bucket);
        let shape =
            Shape { king_buckets: if are_alike { 1 } else { KING_BUCKETS }, hidden: HIDDEN };
        let mut bytes = format!("{}\n", shape.line()).into_bytes();
        let inputs = self.inputs[..shape.inputs()].iter().map(|Row(row)| row);
        for weight in inputs.chain([&self.biases.0]).chain(self.output_rows()).flatten() {
            bytes.extend(weight.to_le_bytes());
        }
        bytes.extend(self.output_biases().iter().flat_map(|bias| bias.to_le_bytes()));
        bytes
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::super::network::tests::random_network;
    use super::*;

    /// Returns `network` in the network file format, reduced to its first `hidden` neurons.
    pub(crate) fn narrowed(network: &Network, hidden: usize) -> Vec<u8> {
        let bytes = network.to_bytes();
        let (shape, numbers) = Shape::split_from(&bytes).expect("a network");
        let (rows, biases) = numbers.split_at(numbers.len() - 4 * BUCKETS);
        let mut narrow = format!("{}\n", Shape { hidden, ..shape }.line()).into_bytes();
        narrow.extend(rows.chunks(2 * HIDDEN).flat_map(|row| &row[..2 * hidden]));
        narrow.extend(biases);
        narrow
    }

    #[test]
    fn network_round_trips() {
        let network = random_network(1);
        let bytes = network.to_bytes();
        assert!(Network::from_bytes(&bytes).is_ok_and(|read| read == network));
    }

    #[test]
    fn network_without_king_buckets_has_equal_king_buckets() {
        let network = random_network(1);
        let bytes = network.to_bytes();
        let (_, numbers) = Shape::split_from(&bytes).expect("a network");
        let (inputs, rest) = numbers.split_at(2 * HIDDEN * INPUTS);
        let line = format!("{}\n", Shape { king_buckets: 1, hidden: HIDDEN }.line());
        let old = [line.as_bytes(), &inputs[..2 * HIDDEN * INPUTS_PER_KING_BUCKET], rest].concat();
        let read = Network::from_bytes(&old).expect("a network");
        let first = &network.inputs[..INPUTS_PER_KING_BUCKET];
        assert!(read.inputs.chunks(INPUTS_PER_KING_BUCKET).all(|king_bucket| king_bucket == first));
        assert!(read.biases == network.biases && read.output_rows().eq(network.output_rows()));
        assert!(read.to_bytes() == old);
        let short = Network::from_bytes(&old[..old.len() - 1]).expect_err("refused");
        let lengths = format!("has {} bytes, but this has {}", old.len(), old.len() - 1);
        assert!(short.to_string().contains(&lengths), "{short}");
    }

    #[test]
    fn missing_neurons_are_zero() {
        const FEW: usize = HIDDEN / 2;
        let network = random_network(2);
        let bytes = narrowed(&network, FEW);
        assert_eq!(Network::neurons_in(&bytes), Some(FEW));
        let few = Network::from_bytes(&bytes).expect("a network");
        let is_cut = |(here, there): (&[i16; HIDDEN], &[i16; HIDDEN])| {
            here[..FEW] == there[..FEW] && here[FEW..].iter().all(|&weight| weight == 0)
        };
        assert!(few.input_rows().zip(network.input_rows()).all(is_cut));
        assert!(few.output_rows().zip(network.output_rows()).all(is_cut));
        assert_eq!(few.output_biases(), network.output_biases());
    }

    #[test]
    fn foreign_and_damaged_files_are_rejected() {
        let bytes = random_network(1).to_bytes();
        let refused = |bytes: &[u8]| Network::from_bytes(bytes).expect_err("refused").to_string();
        let foreign = [
            "",
            "tabia network 1; ",
            "tabia network 2; hidden 0; buckets 8\n",
            "tabia network 2; hidden 257; buckets 8\n",
            "tabia network 2; hidden 99999999999999999999; buckets 8\n",
            "tabia network 2; hidden 256; buckets 9\n",
            "tabia network 2; zones 4; hidden 256; buckets 8\n",
            "tabia network 3; zones 5; hidden 256; buckets 8\n",
            "tabia network 3; zones 4; hidden 256; buckets 8",
        ];
        for line in foreign {
            assert!(refused(line.as_bytes()).contains("must begin with"), "{line}");
        }
        assert!(refused(&bytes[..bytes.len() - 1]).contains("bytes, but"));
        assert!(refused(&[&bytes[..], &[0]].concat()).contains("bytes, but"));
        let mut large = bytes;
        let end = large.len() - 4 * BUCKETS;
        large[end - 2..end].copy_from_slice(&128_i16.to_le_bytes());
        assert!(refused(&large).starts_with("output weight 128 exceeds"));
    }
}
