//! The training loop: batches, epochs and losses.

use std::f32::consts::PI;

use super::adam::{AdamW, Stride};
use super::data::Data;
use super::example::Example;
use super::gradient::{add_gradient, square_errors};
use super::objective::Objective;
use super::parameters::Parameters;
use crate::engine::eval::nnue::{HIDDEN, Network};
use crate::support::error::ParseError;
use crate::support::random::Random;
use crate::tools::train::in_parallel;

/// The number of examples in a block. Each epoch shuffles whole blocks, which makes better use of
/// the cache than shuffling individual examples. The result is just as good, because the examples
/// were already shuffled individually when they were read.
const BLOCK: usize = 64;

/// The duration of the warm-up, in which the learning rate rises, as a fraction of all steps.
const WARM_UP: f32 = 0.01;

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TrainSettings {
    pub epochs: usize,
    pub batch: usize,
    /// The peak learning rate, reached at the end of the warm-up.
    pub rate: f32,
    pub final_rate: f32,
    /// The weight decay coefficient. Each step reduces every weight by a fraction equal to the
    /// learning rate times this value.
    pub decay: f32,
    /// The fraction of each step, from 0 to 1, that is shared by all king buckets.
    pub common: f32,
    /// The exponent applied to each error in the objective. It is 2 for the squared error.
    pub power: f32,
    /// How strongly the weights of examples compensate for the frequency of their piece counts,
    /// from 0 (not at all) to 1 (completely). See `Objective::new`.
    pub balance: f32,
    /// The number of threads. It affects the result, because the gradients are summed per thread,
    /// but training is deterministic for a given number.
    pub threads: usize,
    /// The seed for the initial weights and the order of the examples.
    pub seed: u64,
}

/// The mean squared errors of the network's expected results in an epoch. Expected results range
/// from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct EpochLoss {
    /// The error on the training examples, averaged over the epoch while the weights were changing.
    pub training: f64,
    /// The mean squared error on the held-out examples at the end of the epoch.
    pub held_out: f64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct TrainProgress {
    pub epochs: usize,
    /// The number of steps since training began.
    pub steps: u64,
    pub examples: usize,
    /// The mean squared error on the training examples since the start of the epoch.
    pub loss: f64,
    pub rate: f32,
    /// The losses of the epoch, or `None` if the epoch is not finished.
    pub epoch_loss: Option<EpochLoss>,
}

/// The state that changes during training, which a checkpoint stores.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct State<const N: usize> {
    pub(super) parameters: Parameters<N>,
    pub(super) adam: AdamW,
    pub(super) steps: u64,
    /// The sum of the losses over the steps in the current epoch.
    pub(super) loss: f64,
    pub(super) history: Vec<EpochLoss>,
}

/// Trains a network with `N` neurons per side.
pub(crate) struct Trainer<'d, const N: usize = HIDDEN> {
    pub(super) settings: TrainSettings,
    pub(super) data: &'d Data,
    pub(super) state: State<N>,
    objective: Objective,
    gradients: Vec<Parameters<N>>,
    order: Vec<u32>,
}

impl<'d, const N: usize> Trainer<'d, N> {
    /// Creates a trainer with random initial weights. `data` must contain both training and
    /// held-out examples.
    pub(crate) fn new(settings: TrainSettings, data: &'d Data) -> Self {
        let parameters = Parameters::random(settings.seed);
        Self::beginning_with(parameters, settings, data)
    }

    /// Starts training from the first step, with existing weights.
    pub(crate) fn beginning_with(
        parameters: Parameters<N>,
        settings: TrainSettings,
        data: &'d Data,
    ) -> Self {
        let state = State {
            parameters,
            adam: AdamW::new(Parameters::<N>::LEN, Parameters::<N>::KING_BUCKET),
            steps: 0,
            loss: 0.0,
            history: Vec::new(),
        };
        Self::continued(settings, data, state)
    }

    pub(super) fn continued(settings: TrainSettings, data: &'d Data, state: State<N>) -> Self {
        let gradients = vec![Parameters::zero(); settings.threads.max(1)];
        let TrainSettings { power, balance, .. } = settings;
        let objective = Objective::new(data.curve(), power, balance, &data.training);
        let order = Vec::new();
        let mut trainer = Trainer { settings, data, state, objective, gradients, order };
        trainer.shuffle();
        trainer
    }

    pub(crate) fn parameters(&self) -> &Parameters<N> {
        &self.state.parameters
    }

    pub(crate) fn history(&self) -> &[EpochLoss] {
        &self.state.history
    }

    pub(crate) fn all_steps(&self) -> u64 {
        (self.settings.epochs * self.steps_per_epoch()) as u64
    }

    pub(crate) fn steps(&self) -> u64 {
        self.state.steps
    }

    pub(crate) fn step(&mut self) -> Option<TrainProgress> {
        if self.state.steps >= self.all_steps() {
            return None;
        }
        let place = self.place_in_epoch();
        let (examples, squares) = self.add_gradients(place);
        self.state.steps += 1;
        let rate = self.rate();
        let stride = Stride {
            step: self.state.steps,
            rate,
            decay: self.settings.decay,
            scale: 1.0 / examples as f32,
            common: self.settings.common,
        };
        let gradients: Vec<&[f32]> = self.gradients.iter().map(Parameters::as_slice).collect();
        self.state.adam.step(self.state.parameters.as_mut_slice(), &gradients, stride);
        self.state.parameters.clip_outputs();
        self.state.loss += squares / examples as f64;
        let loss = self.state.loss / (place + 1) as f64;
        let epoch_loss = (self.place_in_epoch() == 0).then(|| self.end_epoch(loss));
        let epochs = self.state.history.len();
        Some(TrainProgress { epochs, steps: self.state.steps, examples, loss, rate, epoch_loss })
    }

    /// Computes the gradient of a batch as one partial sum per thread. Returns the number of
    /// examples and the sum of squared errors.
    fn add_gradients(&mut self, batch: usize) -> (usize, f64) {
        let training = &self.data.training;
        let blocks: Vec<&[Example]> = self.order[batch * self.blocks_per_batch()..]
            .iter()
            .take(self.blocks_per_batch())
            .map(|&block| block_of(training, block as usize))
            .collect();
        let share = blocks.len().div_ceil(self.gradients.len());
        let (parameters, objective) = (&self.state.parameters, &self.objective);
        let squares = std::thread::scope(|scope| {
            let shares = blocks.chunks(share).chain(std::iter::repeat(&[][..]));
            let workers: Vec<_> = self
                .gradients
                .iter_mut()
                .zip(shares)
                .map(|(gradient, blocks)| {
                    scope.spawn(move || {
                        gradient.as_mut_slice().fill(0.0);
                        add_gradient(parameters, objective, blocks, gradient)
                    })
                })
                .collect();
            workers.into_iter().map(|worker| worker.join().expect("a worker panicked")).sum()
        });
        (blocks.iter().map(|block| block.len()).sum(), squares)
    }

    fn end_epoch(&mut self, training: f64) -> EpochLoss {
        let held_out = self.held_out_loss();
        let loss = EpochLoss { training, held_out };
        self.state.history.push(loss);
        self.state.loss = 0.0;
        self.shuffle();
        loss
    }

    pub(crate) fn held_out_loss(&self) -> f64 {
        let (curve, examples) = (self.data.curve(), &self.data.held_out);
        let errors = |part: &[Example]| square_errors(&self.state.parameters, curve, part);
        let sum: f64 = in_parallel(examples, self.settings.threads, errors).iter().sum();
        sum / examples.len().max(1) as f64
    }

    /// Returns the learning rate for the current step. The rate rises linearly during the warm-up
    /// and then falls along half a cosine wave, as in I. Loshchilov and F. Hutter, "SGDR:
    /// Stochastic Gradient Descent with Warm Restarts" (2017), but without restarts.
    fn rate(&self) -> f32 {
        let TrainSettings { rate, final_rate, .. } = self.settings;
        let progress = self.state.steps as f32 / self.all_steps() as f32;
        if progress < WARM_UP {
            return rate * progress / WARM_UP;
        }
        let fall = (progress - WARM_UP) / (1.0 - WARM_UP);
        final_rate + (rate - final_rate) * 0.5 * (1.0 + (PI * fall).cos())
    }

    fn shuffle(&mut self) {
        let epoch = self.state.history.len() as u64;
        let mixed = Random::new(self.settings.seed).next_u64() ^ epoch;
        self.order = (0..self.blocks() as u32).collect();
        Random::new(Random::new(mixed).next_u64()).shuffle(&mut self.order);
    }

    fn blocks(&self) -> usize {
        self.data.training.len().div_ceil(BLOCK)
    }

    fn blocks_per_batch(&self) -> usize {
        (self.settings.batch / BLOCK).clamp(1, self.blocks().max(1))
    }

    /// Returns the number of full batches in an epoch. Examples left over after the last full batch
    /// are skipped in that epoch.
    fn steps_per_epoch(&self) -> usize {
        self.blocks() / self.blocks_per_batch()
    }

    fn place_in_epoch(&self) -> usize {
        (self.state.steps % self.steps_per_epoch().max(1) as u64) as usize
    }
}

impl Trainer<'_> {
    pub(crate) fn quantised(&self) -> Result<Network, ParseError> {
        self.state.parameters.quantised(&self.data.held_out)
    }
}

fn block_of(examples: &[Example], block: usize) -> &[Example] {
    &examples[block * BLOCK..examples.len().min((block + 1) * BLOCK)]
}
