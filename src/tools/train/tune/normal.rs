//! Normalises weights. Different sets of weights can give the same predictions; normalisation
//! selects the set that is easiest to read.

use super::data::{Samples, danger_places};
use super::model::{Model, Pair};
use crate::engine::eval::tuning::{FIELDS, Field};

/// The normalised value of a pawn: the mean of its middlegame and endgame values, in centipawns. It
/// defines the unit of all weights.
const PAWN: f32 = 100.0;

/// Tables that contribute exactly one weight for each piece of a given kind, with the index of that
/// kind's material weight. The mean of such a table can therefore be moved to the material weight
/// without changing any score.
const TABLES: [(&str, usize); 9] = [
    ("pawn_placement", 0),
    ("knight_placement", 1),
    ("knight_mobility", 1),
    ("bishop_placement", 2),
    ("bishop_mobility", 2),
    ("rook_placement", 3),
    ("rook_mobility", 3),
    ("queen_placement", 4),
    ("queen_mobility", 4),
];

/// Returns an equivalent model in which each table has a mean of zero over `data`, and the mean of
/// a pawn's middlegame and endgame values is 100 centipawns.
pub(crate) fn normalised(model: &Model, data: &Samples) -> Model {
    let mut model = model.clone();
    let usage = data.usage();
    for (name, piece) in TABLES {
        let mean = take_mean(&mut model, field(name), &usage);
        let material = &mut model.values.0[field("material").first + piece];
        *material = [material[0] + mean[0], material[1] + mean[1]];
    }
    // Each side has exactly one king, so adding a constant to all squares of this table changes no
    // score.
    take_mean(&mut model, field("king_placement"), &usage);
    let [mg, eg] = model.values.0[field("material").first];
    rescale(&mut model, PAWN / ((mg + eg) / 2.0));
    model
}

fn field(name: &str) -> &'static Field {
    FIELDS.iter().find(|field| field.name == name).expect("a field of this name")
}

/// Subtracts the mean of a table from all of its values, and returns the mean. In the mean, each
/// value is weighted by how often it is used.
fn take_mean(model: &mut Model, field: &Field, usage: &[f64]) -> Pair {
    let range = field.first..field.first + field.len;
    let total: f64 = usage[range.clone()].iter().sum();
    let mean = [0, 1].map(|phase| {
        let weighted =
            range.clone().map(|place| usage[place] * f64::from(model.values.0[place][phase]));
        (weighted.sum::<f64>() / total.max(1.0)) as f32
    });
    for value in &mut model.values.0[range] {
        *value = [value[0] - mean[0], value[1] - mean[1]];
    }
    mean
}

/// Multiplies all scores by `factor` without changing the predictions. Danger weights are
/// multiplied by its square root, because the penalty is quadratic in the number of danger units.
fn rescale(model: &mut Model, factor: f32) {
    for (value, is_danger) in model.values.0.iter_mut().zip(danger_places()) {
        let factor = if is_danger { factor.sqrt() } else { factor };
        *value = value.map(|number| number * factor);
    }
    model.logistic_scale *= factor;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::position::{Game, Position};
    use crate::engine::eval::tuning::tuned;
    use crate::tools::train::Sample;
    use crate::tools::train::tune::model::Values;

    #[test]
    fn normalisation_keeps_predictions() {
        let mut game = Game::new(Position::start());
        let moves = "e4 e5 Nf3 Nc6 Bb5 a6 Bxc6 dxc6 O-O Qd4 Nxd4 exd4 d3 Be7 Nd2 Nf6 e5 Nd5";
        let mut samples = Vec::new();
        for san in moves.split(' ') {
            let mv = game.position().parse_move(san).expect(san);
            game.play(mv).expect(san);
            samples.push(Sample { position: *game.position(), score: None, result: 0.5 });
        }
        let data = Samples::new(&samples, |sample| sample.result);
        let mut model = Model { values: Values::of(tuned()), logistic_scale: 240.0 };
        rescale(&mut model, 1.3);
        let normal = normalised(&model, &data);
        for index in 0..data.len() {
            let row = data.row(index);
            let before = model.expected(model.score(&row));
            let after = normal.expected(normal.score(&row));
            assert!((before - after).abs() < 1e-4, "{index}: {before} {after}");
        }
        let [mg, eg] = normal.values.0[0];
        assert!(((mg + eg) / 2.0 - PAWN).abs() < 0.01, "{mg} {eg}");
    }
}
