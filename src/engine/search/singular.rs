//! Singular extensions: if the table move is the only good move, it is searched more deeply.
//!
//! Source: <https://www.chessprogramming.org/Singular_Extensions>.

use super::constants as c;
use super::node::{Node, Window};
use super::observe::{OptionalObserver, SearchReason};
use super::prune;
use super::worker::Worker;
use crate::chess::score::{Depth, Score, is_decided};

/// Maximum number of double extensions in a line. Without a maximum, the search might not
/// terminate. Chosen by hand.
const DOUBLE_EXTENSIONS: u8 = 8;

pub(super) enum Singularity {
    /// Other moves than the table move are expected to fail high too, so the node fails high with
    /// this score.
    MultiCut(Score),
    /// Extension of the table move, in plies. A negative value is a reduction.
    Extension(Depth),
}

impl<S: OptionalObserver> Worker<'_, S> {
    /// Searches the node without the table move, to test whether that move is the only good one.
    pub(super) fn singularity(&mut self, node: &Node) -> Singularity {
        let bound = prune::singular_beta(node).filter(|_| !self.proving);
        let Some(bound) = bound else { return Singularity::Extension(0) };
        let depth = (node.depth - 1) / 2;
        self.stack[node.ply].excluded = node.table_move();
        self.set_reason(SearchReason::Singularity);
        let score = self.pvs(&node.position, node.ply, depth, Window::null(bound - 1), node.cut);
        self.stack[node.ply].excluded = None;
        let table_score = node.table.map_or(bound, |entry| entry.score);
        if score < bound {
            let doubled = !node.pv
                && score < bound - c::double_extension_margin()
                && self.stack[node.ply].double_extensions < DOUBLE_EXTENSIONS;
            return Singularity::Extension(1 + Depth::from(doubled));
        }
        if bound >= node.window.beta && !is_decided(bound) && !self.is_interrupted() {
            return Singularity::MultiCut(bound);
        }
        let is_one_of_many = node.cut || table_score >= node.window.beta;
        Singularity::Extension(if is_one_of_many { -2 } else { 0 })
    }
}
