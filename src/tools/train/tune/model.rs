//! The evaluation as a differentiable function of its weights, and the gradient of its error.

use super::data::{Coefficient, TuneRow};
use crate::engine::eval::tuning::{DANGER_DIVISOR, DANGER_LIMIT, Tapered, WEIGHTS, Weights};

pub(super) type Pair = [f32; 2];

/// The middlegame and endgame values of all weights, as floating-point numbers.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Values(pub Vec<Pair>);

impl Values {
    pub(crate) fn of(weights: &Weights) -> Self {
        let pair = |w: &Tapered| [w.middlegame() as f32, w.endgame() as f32];
        Values(weights.to_vec().iter().map(pair).collect())
    }

    pub(crate) fn zero() -> Self {
        Values(vec![[0.0; 2]; WEIGHTS])
    }

    pub(crate) fn rounded(&self) -> Weights {
        let round = |[mg, eg]: &Pair| Tapered::new(mg.round() as i32, eg.round() as i32);
        Weights::from_values(&self.0.iter().map(round).collect::<Vec<_>>())
    }
}

/// The evaluation's weights, and the scale of the logistic curve that converts a score to an
/// expected result.
#[derive(Debug, Clone)]
pub(crate) struct Model {
    pub values: Values,
    /// The increase in score, in centipawns, that multiplies the odds of winning by e.
    pub logistic_scale: f32,
}

/// The evaluation of a position, with the intermediate values needed to compute the gradient.
struct Forward {
    score: f32,
    units: [Pair; 2],
    /// The derivatives of the score with respect to the middlegame and endgame sums.
    shares: Pair,
}

fn dot(list: &[Coefficient], values: &Values) -> Pair {
    list.iter().fold([0.0; 2], |[mg, eg], coefficient| {
        let [weight_mg, weight_eg] = values.0[usize::from(coefficient.place)];
        let count = f32::from(coefficient.count);
        [mg + weight_mg * count, eg + weight_eg * count]
    })
}

/// Returns the king-safety penalty for a number of danger units, as in the evaluation but without
/// rounding.
fn penalty(units: f32) -> f32 {
    let units = units.clamp(0.0, DANGER_LIMIT as f32);
    units * units / DANGER_DIVISOR as f32
}

fn penalty_slope(units: f32) -> f32 {
    let inside = (0.0..DANGER_LIMIT as f32).contains(&units);
    if inside { 2.0 * units / DANGER_DIVISOR as f32 } else { 0.0 }
}

impl Model {
    /// Returns White's expected result, from 0 to 1, for a score in centipawns from White's point
    /// of view.
    pub(crate) fn expected(&self, score: f32) -> f32 {
        1.0 / (1.0 + (-score / self.logistic_scale).exp())
    }

    pub(crate) fn score(&self, row: &TuneRow<'_>) -> f32 {
        self.forward(row).score
    }

    fn forward(&self, row: &TuneRow<'_>) -> Forward {
        let mut sum = dot(row.linear, &self.values);
        let units = row.danger.map(|danger| dot(danger, &self.values));
        for phase in 0..2 {
            sum[phase] += penalty(units[1][phase]) - penalty(units[0][phase]);
        }
        let scale = row.scales[usize::from(sum[1] < 0.0)];
        let shares = [row.phase, (1.0 - row.phase) * scale];
        Forward { score: sum[0] * shares[0] + sum[1] * shares[1], units, shares }
    }

    pub(crate) fn error(&self, row: &TuneRow<'_>) -> f32 {
        (self.expected(self.score(row)) - row.target).powi(2)
    }

    /// Adds the gradient of the position's squared error to `gradient`. Returns the squared error.
    pub(crate) fn add_gradient(&self, row: &TuneRow<'_>, gradient: &mut Values) -> f32 {
        let forward = self.forward(row);
        let expected = self.expected(forward.score);
        let difference = expected - row.target;
        let slope = 2.0 * difference * expected * (1.0 - expected) / self.logistic_scale;
        let slopes = forward.shares.map(|share| share * slope);
        add_scaled(row.linear, slopes, gradient);
        for (side, sign) in [(0, -1.0), (1, 1.0)] {
            let units = forward.units[side];
            let slopes = [0, 1].map(|phase| sign * slopes[phase] * penalty_slope(units[phase]));
            add_scaled(row.danger[side], slopes, gradient);
        }
        difference * difference
    }
}

fn add_scaled(list: &[Coefficient], slopes: Pair, gradient: &mut Values) {
    for coefficient in list {
        let count = f32::from(coefficient.count);
        let [mg, eg] = &mut gradient.0[usize::from(coefficient.place)];
        *mg += slopes[0] * count;
        *eg += slopes[1] * count;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::position::{Color, Position};
    use crate::engine::eval::breakdown;
    use crate::engine::eval::tuning::tuned;
    use crate::tools::train::Sample;
    use crate::tools::train::tune::Samples;

    const POSITIONS: [&str; 6] = [
        "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
        "r1bq1rk1/pp2bppp/2n1pn2/3p4/2PP4/2N2N2/PP2BPPP/R1BQ1RK1 w - - 0 9",
        "r4rk1/ppp3pp/2n5/3q1pN1/6Q1/3B4/PPP3PP/4R1K1 b - - 0 20",
        "6k1/5ppp/1r2p3/3pP3/1P1P4/P4N2/5PPP/2R3K1 b - - 0 30",
        "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
        "8/5pk1/6p1/1P1b3p/4B2P/6P1/5P1K/8 w - - 0 45",
    ];

    fn data() -> (Vec<Sample>, Samples) {
        let sample = |fen: &&str| Sample {
            position: Position::from_fen(fen).expect(fen),
            score: None,
            result: 0.75,
        };
        let samples: Vec<Sample> = POSITIONS.iter().map(sample).collect();
        let data = Samples::new(&samples, |sample| sample.result);
        (samples, data)
    }

    fn model() -> Model {
        Model { values: Values::of(tuned()), logistic_scale: 250.0 }
    }

    #[test]
    fn model_matches_the_evaluation_except_for_rounding() {
        let (samples, data) = data();
        for (index, sample) in samples.iter().enumerate() {
            let sign = if sample.position.side_to_move() == Color::White { 1 } else { -1 };
            let evaluation = (sign * breakdown(&sample.position).score()) as f32;
            let score = model().score(&data.row(index));
            assert!((evaluation - score).abs() <= 3.0, "{}: {score}", sample.position);
        }
    }

    #[test]
    fn gradient_matches_finite_differences() {
        const STEP: f32 = 0.5;
        let (_, data) = data();
        for (index, fen) in POSITIONS.iter().enumerate() {
            let row = data.row(index);
            let mut gradient = Values::zero();
            model().add_gradient(&row, &mut gradient);
            let lists = row.danger.into_iter().chain([row.linear]).flatten();
            for place in lists.map(|coefficient| usize::from(coefficient.place)) {
                for phase in 0..2 {
                    let error = |step: f32| {
                        let mut model = model();
                        model.values.0[place][phase] += step;
                        model.error(&row)
                    };
                    let slope = (error(STEP) - error(-STEP)) / (2.0 * STEP);
                    let computed = gradient.0[place][phase];
                    let close = (slope - computed).abs() < 2e-6 + 0.02 * computed.abs();
                    assert!(close, "{fen}, weight {place}: {slope} {computed}");
                }
            }
        }
    }
}
