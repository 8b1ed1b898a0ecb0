//! Command line arguments that select the evaluation.

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};

use crate::engine::controller::EvaluationKind;
use crate::engine::eval::Evaluation;
use crate::support::files::FileError;

/// Which evaluation a command uses.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct Judge {
    /// What judges positions: nnue (a network) or classical
    #[arg(
        long,
        value_name = "KIND",
        default_value = EvaluationKind::default().name(),
        hide_default_value = true,
        hide_possible_values = true,
        value_parser = evaluation_kind()
    )]
    pub evaluation: EvaluationKind,
    /// Use this network, made by `tabia train net`
    #[arg(long, value_name = "FILE")]
    pub network: Option<PathBuf>,
}

/// Parses a kind of evaluation; errors list all kinds.
fn evaluation_kind() -> impl TypedValueParser<Value = EvaluationKind> {
    PossibleValuesParser::new(EvaluationKind::ALL.map(EvaluationKind::name)).try_map(|name| {
        let kind = EvaluationKind::ALL.into_iter().find(|kind| kind.name() == name);
        kind.ok_or("no such kind of evaluation")
    })
}

impl Judge {
    /// Opens the evaluation.
    ///
    /// # Errors
    /// If the network's file cannot be used.
    pub(super) fn open(&self) -> Result<Evaluation, FileError> {
        self.evaluation.open(self.network.as_deref())
    }
}
