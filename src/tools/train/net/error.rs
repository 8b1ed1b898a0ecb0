//! Errors of networks and small searches against deep searches, by the number of pieces.

use std::collections::HashMap;

use super::example::Example;
use super::sigmoid::Sigmoid;
use crate::chess::position::Color;
use crate::engine::eval::nnue::Network;

/// Ranges of the number of pieces, inclusive.
const CLASSES: [(usize, usize); 8] =
    [(2, 5), (6, 9), (10, 13), (14, 17), (18, 21), (22, 25), (26, 29), (30, 32)];

/// The errors of several judges on positions with a range of piece counts.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ErrorByPieceCount {
    pub piece_count: (usize, usize),
    pub positions: usize,
    /// The mean square error of the expected result, for each judge.
    pub errors: Vec<f64>,
}

/// The expected results of a judge; `None` where it has none.
pub(crate) type Expected = Vec<Option<f32>>;

pub(crate) fn expected_by(network: &Network, curve: Sigmoid, examples: &[Example]) -> Expected {
    let score = |example: &Example| network.evaluate(&example.board(), Color::White);
    examples.iter().map(|example| Some(curve.of_score(score(example) as f32))).collect()
}

/// The expected results of other searches for the same positions, where they found them quiet, too.
/// For a position that occurs more than once the last one counts.
pub(crate) fn expected_by_others(others: &[Example], examples: &[Example]) -> Expected {
    let judged: HashMap<_, f32> =
        others.iter().map(|other| (other.position(), other.target)).collect();
    examples.iter().map(|example| judged.get(&example.position()).copied()).collect()
}

/// The errors of the judges by the number of pieces, then over all positions. They are measured
/// against the examples' targets. Examples not judged by all are excluded.
pub(crate) fn errors_by_piece_count(
    judges: &[Expected],
    examples: &[Example],
) -> Vec<ErrorByPieceCount> {
    let classes = CLASSES.into_iter().chain([(CLASSES[0].0, CLASSES[CLASSES.len() - 1].1)]);
    let mut rows: Vec<ErrorByPieceCount> = classes
        .map(|piece_count| ErrorByPieceCount {
            piece_count,
            positions: 0,
            errors: vec![0.0; judges.len()],
        })
        .collect();
    for (place, example) in examples.iter().enumerate() {
        let expected: Option<Vec<f32>> = judges.iter().map(|expected| expected[place]).collect();
        let Some(expected) = expected else { continue };
        for row in rows
            .iter_mut()
            .filter(|row| (row.piece_count.0..=row.piece_count.1).contains(&example.piece_count()))
        {
            row.positions += 1;
            for (sum, expected) in row.errors.iter_mut().zip(&expected) {
                *sum += f64::from(expected - example.target).powi(2);
            }
        }
    }
    for row in &mut rows {
        row.errors.iter_mut().for_each(|error| *error /= row.positions.max(1) as f64);
    }
    rows
}
