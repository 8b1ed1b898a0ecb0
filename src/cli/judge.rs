//! The kinds of evaluation, for the command line.

use std::path::Path;

use clap::ValueEnum;

use crate::engine::EvaluationKind;
use crate::eval::Evaluation;
use crate::eval::nnue::NetworkError;

/// What judges positions.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(super) enum Judge {
    /// A network
    Nnue,
    /// Terms with tuned weights
    Classical,
}

impl From<Judge> for EvaluationKind {
    fn from(judge: Judge) -> Self {
        match judge {
            Judge::Nnue => EvaluationKind::Nnue,
            Judge::Classical => EvaluationKind::Classical,
        }
    }
}

impl Judge {
    /// The evaluation, with this network instead of the embedded one.
    pub(super) fn with(self, network: Option<&Path>) -> Result<Evaluation, NetworkError> {
        match (self, network) {
            (Judge::Classical, _) => Ok(Evaluation::Classical),
            (Judge::Nnue, None) => Ok(Evaluation::default()),
            (Judge::Nnue, Some(file)) => Evaluation::open(file),
        }
    }
}
