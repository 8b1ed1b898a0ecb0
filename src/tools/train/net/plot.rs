//! Plots the losses during training.

use super::trainer::EpochLoss;
use crate::support::plot::{COLORS, Curve, Panel, Scale};

const WIDTH: f64 = 620.0;

pub(crate) fn plot(history: &[EpochLoss]) -> String {
    let curve = |name: &str, color, loss: fn(&EpochLoss) -> f64| Curve {
        name: name.to_owned(),
        color,
        dashed: false,
        values: history.iter().map(loss).collect(),
    };
    let learnt = curve("learnt from", COLORS[1], |loss| loss.training);
    let held_out = curve("held out", COLORS[2], |loss| loss.held_out);
    // Exclude the first training loss from the scale. It is large, mostly because of the random
    // initial weights.
    let values = learnt.values.iter().skip(1).chain(&held_out.values);
    let scale = Scale::linear(values.copied());
    let title = "mean square error of the expected result".to_owned();
    let panel = Panel { title, curves: vec![learnt, held_out] };
    crate::support::plot::plot("Losses by epoch", &[panel], WIDTH, &scale)
}
