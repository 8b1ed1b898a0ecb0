//! Runs the tuning: gradient descent over shuffled batches, with early stopping based on the error
//! on validation positions.

use super::adam::Adam;
use super::data::Samples;
use super::model::{Model, Values};
use crate::engine::eval::tuning::{WEIGHTS, Weights};
use crate::support::random::Random;
use crate::tools::train::in_parallel;

#[derive(Debug, Clone)]
pub(crate) struct TuneSettings {
    /// The maximum number of passes through the data.
    pub epochs: usize,
    /// The initial learning rate, in centipawns per step. It decreases to zero along a cosine
    /// curve.
    pub rate: f32,
    pub batch: usize,
    /// How strongly the weights are pulled towards their initial values. For each centipawn of
    /// difference, this value is added to the gradient. It prevents rarely used weights from
    /// drifting without bound.
    pub decay: f32,
    /// The maximum number of consecutive epochs without a new lowest validation error. Tuning stops
    /// when it is exceeded.
    pub patience: usize,
    pub threads: usize,
    pub seed: u64,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct TuneProgress {
    pub epoch: usize,
    /// The mean squared error on the training positions, averaged over the epoch while the weights
    /// were changing.
    pub training: f64,
    pub validation: f64,
}

#[derive(Debug, Clone)]
pub(crate) struct TuneOutcome {
    /// The model with the lowest validation error.
    pub model: Model,
    /// The errors of the initial weights, with the logistic scale that fits them best.
    pub before: TuneProgress,
    pub after: TuneProgress,
}

/// Tunes the weights, starting from `start`. Calls `observe` with the errors before the first epoch
/// and after every epoch, and stops if it returns `false`.
pub(crate) fn tune(
    start: &Weights,
    training: &Samples,
    validation: &Samples,
    settings: &TuneSettings,
    mut observe: impl FnMut(TuneProgress) -> bool,
) -> TuneOutcome {
    let anchor = Values::of(start);
    let mut model = Model { values: anchor.clone(), logistic_scale: 0.0 };
    model.logistic_scale = fit_scale(&model, training, settings.threads);
    let error = |model: &Model, data: &Samples| mean_error(model, data, settings.threads);
    let before = TuneProgress {
        epoch: 0,
        training: error(&model, training),
        validation: error(&model, validation),
    };
    let mut outcome = TuneOutcome { model: model.clone(), before, after: before };
    if !observe(before) {
        return outcome;
    }
    let mut adam = Adam::new(WEIGHTS);
    let mut random = Random::new(settings.seed);
    let mut order: Vec<usize> = (0..training.len()).collect();
    for epoch in 0..settings.epochs {
        random.shuffle(&mut order);
        let done = epoch as f32 / settings.epochs as f32;
        let rate = settings.rate * 0.5 * (1.0 + (std::f32::consts::PI * done).cos());
        let mut sum = 0.0;
        for batch in order.chunks(settings.batch.max(1)) {
            let (mut gradient, error) = batch_gradient(&model, training, batch, settings.threads);
            add_anchor_gradient(&mut gradient, &model.values, &anchor, settings.decay);
            adam.step(&mut model.values, &gradient, rate);
            sum += error;
        }
        let progress = TuneProgress {
            epoch: epoch + 1,
            training: sum / training.len() as f64,
            validation: error(&model, validation),
        };
        if progress.validation < outcome.after.validation {
            outcome = TuneOutcome { model: model.clone(), before, after: progress };
        }
        let stale = progress.epoch - outcome.after.epoch > settings.patience;
        if !observe(progress) || stale {
            break;
        }
    }
    outcome
}

fn add_anchor_gradient(gradient: &mut Values, values: &Values, anchor: &Values, decay: f32) {
    for (slope, (value, anchor)) in gradient.0.iter_mut().zip(values.0.iter().zip(&anchor.0)) {
        for phase in 0..2 {
            slope[phase] += decay * (value[phase] - anchor[phase]);
        }
    }
}

/// Returns the mean gradient over a batch and the sum of the squared errors.
fn batch_gradient(model: &Model, data: &Samples, batch: &[usize], threads: usize) -> (Values, f64) {
    let share = |rows: &[usize]| {
        let mut gradient = Values::zero();
        let errors = rows.iter().map(|&row| model.add_gradient(&data.row(row), &mut gradient));
        let sum: f64 = errors.map(f64::from).sum::<f64>();
        (gradient, sum)
    };
    let (mut gradient, mut error) = (Values::zero(), 0.0);
    for (part, sum) in in_parallel(batch, threads, share) {
        for (total, slope) in gradient.0.iter_mut().zip(part.0) {
            *total = [total[0] + slope[0], total[1] + slope[1]];
        }
        error += sum;
    }
    let size = batch.len() as f32;
    gradient.0.iter_mut().for_each(|slope| *slope = slope.map(|number| number / size));
    (gradient, error)
}

fn mean_error(model: &Model, data: &Samples, threads: usize) -> f64 {
    let rows: Vec<usize> = (0..data.len()).collect();
    let share = |rows: &[usize]| {
        rows.iter().map(|&row| f64::from(model.error(&data.row(row)))).sum::<f64>()
    };
    let sum: f64 = in_parallel(&rows, threads, share).into_iter().sum::<f64>();
    sum / data.len().max(1) as f64
}

/// Returns the logistic scale with the smallest error. Golden-section search finds it because the
/// error, as a function of the scale, has only one minimum.
fn fit_scale(model: &Model, data: &Samples, threads: usize) -> f32 {
    /// The bounds within which the logistic scale is searched for, in centipawns. They are wide
    /// enough for any evaluation.
    const BOUNDS: (f32, f32) = (50.0, 1000.0);
    const PRECISION: f32 = 0.5;
    const GOLDEN: f32 = 0.618_034;
    let error = |scale: f32| {
        let model = Model { logistic_scale: scale, ..model.clone() };
        mean_error(&model, data, threads)
    };
    let (mut low, mut high) = BOUNDS;
    while high - low > PRECISION {
        let lower = high - GOLDEN * (high - low);
        let upper = low + GOLDEN * (high - low);
        if error(lower) < error(upper) {
            high = upper;
        } else {
            low = lower;
        }
    }
    (low + high) / 2.0
}

/// Returns the source code of the Rust file that contains the tuned weights. `origin` describes
/// where the weights come from.
pub(crate) fn source_file(weights: &Weights, logistic_scale: f32, origin: &str) -> String {
    let origin: String = origin.lines().map(|line| format!("//! {line}\n")).collect();
    let literal = weights.to_source();
    format!(
        "//! The weights as they were tuned; written by `tabia train tune`.
//!
{origin}
use super::weights::Weights;
use crate::engine::eval::tapered::s;

/// The expected result of a score is `1 / (1 + exp(-score / LOGISTIC_SCALE))`, fitted to the
/// games that the weights were tuned on.
pub const LOGISTIC_SCALE: f64 = {logistic_scale:.1};

/// The weights in use.
#[rustfmt::skip]
pub(in crate::engine::eval) static TUNED: Weights = {literal};
"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::position::{Color, Game, Position};
    use crate::engine::eval::tuning::tuned;
    use crate::tools::train::Sample;

    /// Returns the final positions of random games. The result is a win for White if White has more
    /// pawns, and otherwise a loss.
    fn data(seed: u64) -> Samples {
        let mut random = Random::new(seed);
        let mut samples = Vec::new();
        for _ in 0..60 {
            let mut game = Game::new(Position::start());
            while game.positions().len() < 80 && game.outcome().is_none() {
                let moves: Vec<_> = game.position().legal_moves().iter().collect();
                game.play(moves[random.below(moves.len())]).expect("a legal move");
            }
            let count = |color| {
                game.position().pieces(color, crate::chess::position::Piece::Pawn).popcnt() as f32
            };
            let result = if count(Color::White) > count(Color::Black) { 1.0 } else { 0.0 };
            let position = *game.position();
            samples.push(Sample { position, score: None, result });
        }
        Samples::new(&samples, |sample| sample.result)
    }

    #[test]
    fn tuning_reduces_training_and_validation_error() {
        let settings = TuneSettings {
            epochs: 40,
            rate: 4.0,
            batch: 32,
            decay: 1e-7,
            patience: 40,
            threads: 2,
            seed: 1,
        };
        let mut epochs = 0;
        let outcome = tune(tuned(), &data(1), &data(2), &settings, |_| {
            epochs += 1;
            true
        });
        assert_eq!(epochs, 41);
        assert!(outcome.after.training < 0.9 * outcome.before.training, "{outcome:?}");
        assert!(outcome.after.validation < outcome.before.validation);
        let pawn = outcome.model.values.0[0][0];
        assert!(pawn > tuned().material[0].middlegame() as f32, "{pawn}");
    }
}
