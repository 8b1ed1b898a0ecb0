//! Checkpoints from which training can be resumed.
//!
//! A checkpoint can only be resumed with the same settings and data. It starts with these
//! little-endian numbers: the number of steps taken (u64), the sum of the losses over the steps in
//! the current epoch (f64), the number of completed epochs (u64), and the training and held-out
//! losses of each completed epoch (f64). They are followed by f32 values: the weights, Adam's two
//! running means for each weight, and the two running means for the step common to all king
//! buckets.

use std::iter;
use std::path::Path;

use super::adam::{AdamW, Memory};
use super::data::{Data, Selection};
use super::parameters::Parameters;
use super::sigmoid::Sigmoid;
use super::trainer::{EpochLoss, State, TrainSettings, Trainer};
use crate::support::files::{Fault, FileError, JournalError, Kind};

static KIND: Kind = Kind { magic: "tabia checkpoint 3; ", name: "the checkpoint" };

impl<'d, const N: usize> Trainer<'d, N> {
    pub(crate) fn save(&self, path: &Path) -> Result<(), FileError> {
        let mut bytes = Vec::new();
        let State { parameters, adam, steps, loss, history } = &self.state;
        bytes.extend(steps.to_le_bytes());
        bytes.extend(loss.to_le_bytes());
        bytes.extend((history.len() as u64).to_le_bytes());
        for loss in history.iter().flat_map(|epoch| [epoch.training, epoch.held_out]) {
            bytes.extend(loss.to_le_bytes());
        }
        let AdamW { each, common } = adam;
        let memories = [each, common].map(|memory| [&memory.first[..], &memory.second]);
        let numbers = iter::once(parameters.as_slice()).chain(memories.into_iter().flatten());
        bytes.extend(numbers.flatten().flat_map(|number| number.to_le_bytes()));
        KIND.save(path, &owner::<N>(&self.settings, self.data), &bytes)
    }

    /// Resumes training from a checkpoint written by [`Trainer::save`]. With the same number of
    /// threads, the result is the same as if training had not been interrupted.
    pub(crate) fn resume(
        settings: TrainSettings,
        data: &'d Data,
        path: &Path,
    ) -> Result<Self, JournalError> {
        let content = KIND.load(path, &owner::<N>(&settings, data))?;
        let state = decode(&content).ok_or_else(|| {
            KIND.error(path, Fault::Damaged(format!("{} bytes of content", content.len())))
        })?;
        Ok(Self::continued(settings, data, state))
    }
}

/// Describes the settings and data for which a checkpoint is valid. The number of threads is left
/// out, so that training can be resumed with a different number.
fn owner<const N: usize>(settings: &TrainSettings, data: &Data) -> String {
    let TrainSettings { epochs, batch, rate, final_rate, decay, common, power, balance, .. } =
        settings;
    let seed = settings.seed;
    let (training, held_out) = (data.training.len(), data.held_out.len());
    let Selection { curve: Sigmoid { scale }, result_share, lambda, lambda_few, .. } =
        data.selection;
    format!(
        "hidden {N}; {training} positions; {held_out} held out; scale {scale}; result {result_share}; \
         lambda {lambda}, few men {lambda_few}; {epochs} epochs; batch {batch}; rate {rate} to {final_rate}; \
         decay {decay}; common {common}; power {power}; balance {balance}; seed {seed}"
    )
}

fn decode<const N: usize>(bytes: &[u8]) -> Option<State<N>> {
    let (words, _) = bytes.as_chunks::<8>();
    let mut words = words.iter().copied();
    let steps = u64::from_le_bytes(words.next()?);
    let loss = f64::from_le_bytes(words.next()?);
    let epochs = usize::try_from(u64::from_le_bytes(words.next()?)).ok()?;
    let mut history = Vec::new();
    for _ in 0..epochs {
        let [training, held_out] = [words.next()?, words.next()?].map(f64::from_le_bytes);
        history.push(EpochLoss { training, held_out });
    }
    let (numbers, rest) = bytes[8 * (3 + 2 * epochs)..].as_chunks::<4>();
    let sizes = [Parameters::<N>::LEN, Parameters::<N>::KING_BUCKET];
    let [weights, king_bucket] = sizes;
    if numbers.len() != 3 * weights + 2 * king_bucket || !rest.is_empty() {
        return None;
    }
    let mut numbers = numbers.iter().map(|&number| f32::from_le_bytes(number));
    let mut part = |length: usize| numbers.by_ref().take(length).collect::<Vec<_>>();
    let parameters = Parameters::from_vec(part(weights))?;
    let [each, common] = sizes.map(|length| Memory { first: part(length), second: part(length) });
    Some(State { parameters, adam: AdamW { each, common }, steps, loss, history })
}
