//! How far a network is from what searches said, by the number of men.

use std::sync::Arc;

use super::example::Example;
use super::sigmoid::Sigmoid;
use crate::eval::nnue::Network;
use crate::position::Color;

/// Numbers of men that are told together: from the first to the last.
const CLASSES: [(usize, usize); 8] =
    [(2, 5), (6, 9), (10, 13), (14, 17), (18, 21), (22, 25), (26, 29), (30, 32)];

/// The error of several networks on the positions of so many men.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ErrorByMen {
    /// The fewest and the most men.
    pub men: (usize, usize),
    /// Positions.
    pub positions: usize,
    /// The mean square error of the expected result, of each network.
    pub errors: Vec<f64>,
}

/// The errors of the networks by the number of men, then those of all positions together. What the
/// networks are held against are the examples' targets.
pub(crate) fn errors_by_men(
    networks: &[Arc<Network>],
    curve: Sigmoid,
    examples: &[Example],
) -> Vec<ErrorByMen> {
    let classes = CLASSES.into_iter().chain([(CLASSES[0].0, CLASSES[CLASSES.len() - 1].1)]);
    let mut rows: Vec<ErrorByMen> = classes
        .map(|men| ErrorByMen { men, positions: 0, errors: vec![0.0; networks.len()] })
        .collect();
    for example in examples {
        let square = |network: &Arc<Network>| {
            let score = network.evaluate(&example.board(), Color::White);
            f64::from(curve.of_score(score as f32) - example.target).powi(2)
        };
        let squares: Vec<f64> = networks.iter().map(square).collect();
        let here = rows.iter_mut().filter(|row| (row.men.0..=row.men.1).contains(&example.men()));
        for row in here {
            row.positions += 1;
            row.errors.iter_mut().zip(&squares).for_each(|(sum, square)| *sum += square);
        }
    }
    for row in &mut rows {
        row.errors.iter_mut().for_each(|error| *error /= row.positions.max(1) as f64);
    }
    rows
}
