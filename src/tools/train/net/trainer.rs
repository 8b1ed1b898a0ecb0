//! The course of training: batches, epochs, and what was reached.

use std::f32::consts::PI;

use super::adam::{AdamW, Stride};
use super::data::Data;
use super::example::Example;
use super::gradient::{add_gradient, square_errors};
use super::objective::Objective;
use super::parameters::Parameters;
use crate::engine::eval::nnue::{HIDDEN, Network, NetworkError};
use crate::support::random::Random;
use crate::tools::train::in_parallel;

/// Examples that lie together stay together: each epoch brings the blocks into another order, which
/// is as good as shuffling what has been shuffled before, and spares the memory.
const BLOCK: usize = 64;

/// The share of all steps over which the rate rises to its height.
const WARM_UP: f32 = 0.01;

/// How to train.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TrainSettings {
    /// Passes over the data.
    pub epochs: usize,
    /// Examples for each step.
    pub batch: usize,
    /// Step size after the warm-up.
    pub rate: f32,
    /// Step size at the end.
    pub final_rate: f32,
    /// Weight decay: the share of a weight that is lost at a rate of 1.
    pub decay: f32,
    /// Share of each step that the weights of all king buckets take together, from 0 to 1.
    pub common: f32,
    /// The power of the error that is made small.
    pub power: f32,
    /// How far all numbers of pieces count alike, from 0 to 1.
    pub balance: f32,
    /// Threads; training is deterministic for a given number of them.
    pub threads: usize,
    /// What the first weights and the order of the examples follow from.
    pub seed: u64,
}

/// The mean square error of the expected result, from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct EpochLoss {
    /// On the examples learnt from, while the weights changed.
    pub training: f64,
    /// On the others, at the end of the epoch.
    pub held_out: f64,
}

/// What a step has led to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct TrainProgress {
    /// Epochs that are completed.
    pub epochs: usize,
    /// Steps taken since the beginning.
    pub steps: u64,
    /// Examples of this step.
    pub examples: usize,
    /// The mean square error since the beginning of the epoch.
    pub loss: f64,
    /// The step size.
    pub rate: f32,
    /// The epoch's losses, if the step was its last.
    pub epoch_loss: Option<EpochLoss>,
}

/// All that changes in the course of training.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct State<const N: usize> {
    pub(super) parameters: Parameters<N>,
    pub(super) adam: AdamW,
    /// Steps taken.
    pub(super) steps: u64,
    /// The sum of the steps' losses in this epoch.
    pub(super) loss: f64,
    pub(super) history: Vec<EpochLoss>,
}

/// A network in training, with `N` neurons a side.
pub(crate) struct Trainer<'d, const N: usize = HIDDEN> {
    pub(super) settings: TrainSettings,
    pub(super) data: &'d Data,
    pub(super) state: State<N>,
    objective: Objective,
    /// The gradient of each thread.
    gradients: Vec<Parameters<N>>,
    /// The blocks in the order of this epoch.
    order: Vec<u32>,
}

impl<'d, const N: usize> Trainer<'d, N> {
    /// A network that has learnt nothing. There must be examples of both kinds in `data`.
    pub(crate) fn new(settings: TrainSettings, data: &'d Data) -> Self {
        let parameters = Parameters::random(settings.seed);
        Self::beginning_with(parameters, settings, data)
    }

    /// A network that begins with weights learnt before, and has learnt nothing of `data` yet.
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

    /// A network that has come so far.
    pub(super) fn continued(settings: TrainSettings, data: &'d Data, state: State<N>) -> Self {
        let gradients = vec![Parameters::zero(); settings.threads.max(1)];
        let TrainSettings { power, balance, .. } = settings;
        let objective = Objective::new(data.curve(), power, balance, &data.training);
        let order = Vec::new();
        let mut trainer = Trainer { settings, data, state, objective, gradients, order };
        trainer.shuffle();
        trainer
    }

    /// The weights.
    pub(crate) fn parameters(&self) -> &Parameters<N> {
        &self.state.parameters
    }

    /// The losses of all epochs so far.
    pub(crate) fn history(&self) -> &[EpochLoss] {
        &self.state.history
    }

    /// Steps in all epochs.
    pub(crate) fn all_steps(&self) -> u64 {
        (self.settings.epochs * self.steps_per_epoch()) as u64
    }

    /// Steps taken.
    pub(crate) fn steps(&self) -> u64 {
        self.state.steps
    }

    /// Learns from a batch; `None` if all epochs are over.
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

    /// Lets each thread compute the gradient of its share of a batch; returns the number of
    /// examples and the sum of their square errors.
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

    /// The mean square error on the examples held out.
    pub(crate) fn held_out_loss(&self) -> f64 {
        let (curve, examples) = (self.data.curve(), &self.data.held_out);
        let errors = |part: &[Example]| square_errors(&self.state.parameters, curve, part);
        let sum: f64 = in_parallel(examples, self.settings.threads, errors).iter().sum();
        sum / examples.len().max(1) as f64
    }

    /// The rate of the current step: a short rise, then half a cosine wave down.
    ///
    /// Source: I. Loshchilov and F. Hutter, "SGDR: Stochastic Gradient Descent with Warm Restarts"
    /// (2017), without the restarts.
    fn rate(&self) -> f32 {
        let TrainSettings { rate, final_rate, .. } = self.settings;
        let progress = self.state.steps as f32 / self.all_steps() as f32;
        if progress < WARM_UP {
            return rate * progress / WARM_UP;
        }
        let fall = (progress - WARM_UP) / (1.0 - WARM_UP);
        final_rate + (rate - final_rate) * 0.5 * (1.0 + (PI * fall).cos())
    }

    /// Brings the blocks into this epoch's order.
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

    /// What does not fill a batch at the end of an epoch is left out of it.
    fn steps_per_epoch(&self) -> usize {
        self.blocks() / self.blocks_per_batch()
    }

    /// Batches of this epoch that have been learnt from.
    fn place_in_epoch(&self) -> usize {
        (self.state.steps % self.steps_per_epoch().max(1) as u64) as usize
    }
}

impl Trainer<'_> {
    /// The network in integers.
    ///
    /// # Errors
    /// If a weight is larger than the trainer lets any become.
    pub(crate) fn quantised(&self) -> Result<Network, NetworkError> {
        self.state.parameters.quantised(&self.data.held_out)
    }
}

fn block_of(examples: &[Example], block: usize) -> &[Example] {
    &examples[block * BLOCK..examples.len().min((block + 1) * BLOCK)]
}
