//! Looks up in the book all positions that are one or two plies from the root.
//!
//! A search prunes poor replies or searches them late, but an analysis should show whether such
//! replies lead back into the book.

use super::observe::OptionalObserver;
use super::worker::Worker;
use crate::chess::position::Position;

impl<S: OptionalObserver> Worker<'_, S> {
    /// In analysis and while pondering, stores the lines of one and two plies that lead into the
    /// book. This takes a few thousand lookups per search.
    pub(super) fn find_near_matches(&self) {
        let Some(probe) = self.job.book.as_ref().filter(|_| !self.book_may_end()) else { return };
        let remember = |position: &Position, line: &[_]| {
            let counts = probe.holds(position).filter(|counts| !counts.is_empty());
            counts.into_iter().for_each(|counts| probe.remember(position, line, counts));
        };
        for root_move in self.job.root_moves().iter() {
            let next = self.job.root.play(root_move.mv);
            remember(&next, &[root_move.mv]);
            for reply in next.legal_moves().iter() {
                remember(&next.play(reply), &[root_move.mv, reply]);
            }
        }
    }
}
