//! What judges positions, for the command line.

use std::path::Path;

use crate::eval::Evaluation;
use crate::eval::nnue::NetworkError;

/// The network of a file; the classical terms without one.
pub(super) fn evaluation(network: Option<&Path>) -> Result<Evaluation, NetworkError> {
    network.map_or(Ok(Evaluation::default()), Evaluation::open)
}
