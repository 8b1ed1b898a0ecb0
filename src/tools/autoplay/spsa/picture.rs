//! Plots parameter values over the iterations.

use crate::support::plot::{COLORS, Curve, Panel, Scale, Tile, round_number, tiles};

use super::parameter::Parameter;
use super::tuner::Tuner;

/// The maximum number of points on a curve.
const POINTS: usize = 400;
/// The approximate number of labels on the iteration axis.
const NUMBERS: usize = 6;
/// The width of a panel in pixels.
const WIDTH: f64 = 330.0;
const COLUMNS: usize = 3;

/// Draws an SVG image with one panel per parameter, in which the parameter's value is plotted
/// against the iteration number.
pub(crate) fn picture(tuner: &Tuner) -> String {
    let path = tuner.path();
    let last = path.len() - 1;
    let [step, numbered] = [POINTS, NUMBERS].map(|most| every(path.len(), most));
    let mut numbers: Vec<usize> = (0..=last).step_by(step).collect();
    if !last.is_multiple_of(step) {
        numbers.push(last);
    }
    let parameters = tuner.parameters().iter().enumerate();
    let panels: Vec<Tile> = parameters
        .map(|(index, parameter)| {
            tile(parameter, numbers.iter().map(|&number| path[number][index]).collect())
        })
        .collect();
    let title = format!("Tuning: {last} of {} iterations", tuner.plan().iterations);
    tiles(&title, &panels, COLUMNS, WIDTH, &|point| {
        let number = numbers[point];
        number.is_multiple_of(numbered).then(|| number.to_string())
    })
}

/// Returns a round number n such that taking every n-th of `points` points leaves at most `most` of
/// them.
fn every(points: usize, most: usize) -> usize {
    round_number((points as f64 / most as f64).max(1.0)) as usize
}

fn tile(parameter: &Parameter, values: Vec<f64>) -> Tile {
    let Parameter { name, start, c_end, .. } = parameter;
    let end = values.last().copied().unwrap_or(*start);
    // The axis covers at least one perturbation on either side of the start value, so that smaller
    // changes look negligible.
    let around = [start - c_end, start + c_end];
    let scale = Scale::linear(values.iter().copied().chain(around));
    let digits = digits(*c_end);
    let begin = Curve {
        name: "start".to_owned(),
        color: COLORS[0],
        dashed: true,
        values: vec![*start; values.len()],
    };
    let way = Curve { name: name.clone(), color: COLORS[1], dashed: false, values };
    let title = format!("{name}: {start} to {end:.digits$}");
    Tile { panel: Panel { title, curves: vec![begin, way] }, scale }
}

/// Returns the number of decimal places shown for a parameter whose final perturbation is `c_end`.
pub(crate) fn digits(c_end: f64) -> usize {
    // Show two significant digits of the perturbation.
    (2.0 - c_end.log10().floor()).clamp(1.0, 9.0) as usize - 1
}

#[cfg(test)]
mod tests {
    use super::super::tuner::Plan;
    use super::*;

    #[test]
    fn picture_has_a_panel_for_each_parameter() {
        let parameters =
            ["a<b,0,-9,9,1,0.5", "c,100,0,200,20,0.5", "d,-5,-6,-4,0.1,0.1", "e,1,0,2,1,1"];
        let parameters = parameters.map(|text| text.parse().expect(text)).to_vec();
        let mut tuner = Tuner::new(parameters, Plan { iterations: 1000, pairs: 1, seed: 1 });
        let begun = picture(&tuner);
        assert_eq!(begun.matches("<polyline ").count(), 8);
        (0..901).for_each(|number| tuner.update(number % 5 - 2));
        let svg = picture(&tuner);
        assert!(svg.contains("Tuning: 901 of 1000 iterations") && svg.contains("a&lt;b: 0 to "));
        let points =
            |line: &str| line.split("points=\"").nth(1).map(|text| text.split(' ').count());
        let longest = svg.lines().filter_map(points).max();
        assert!(
            longest.is_some_and(|points| (POINTS / 3..=POINTS + 1).contains(&points)),
            "{longest:?}"
        );
        assert!(svg.contains(">200<") && svg.contains(">800<"), "iterations are numbered");
    }

    #[test]
    fn digits_depend_on_the_perturbation() {
        assert_eq!([0.05, 0.4, 1.0, 8.0, 400.0].map(digits), [3, 2, 1, 1, 0]);
    }
}
