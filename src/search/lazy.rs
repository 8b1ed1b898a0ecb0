//! Lazy parallel search, the yardstick of [`super::sharing`]: each thread searches a tree of its own.
//!
//! What one thread finds helps the others by the transposition table and the histories that they share, and
//! by nothing else. So that they do not all do the same, every other thread is a ply ahead. The main thread's
//! tree is the one whose result counts. <https://www.chessprogramming.org/Lazy_SMP>.

use super::observe::Spectator;
use super::worker::Worker;
use crate::score::Depth;

impl<S: Spectator> Worker<'_, S> {
    /// The life of a helper that searches a tree of its own, until the main thread is done with its.
    pub(super) fn think_aside(&mut self) {
        let last = self.job.limits.last_iteration();
        let ahead = (self.id % 2) as Depth;
        if !self.root.moves().is_empty() {
            for depth in 1..=last {
                self.forget_scores();
                self.search_lines((depth + ahead).min(last));
                if self.is_interrupted() {
                    break;
                }
            }
        }
        self.show_done();
    }
}
