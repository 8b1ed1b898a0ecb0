//! Looks up the nodes of a search in the book and decides what to do at a match.

use super::book_known::known;
use super::book_probe::BookProbe;
use super::config::BookSearch;
use super::observe::{OptionalObserver, SearchStep};
use super::report::Transposition;
use super::table::TableEntry;
use super::worker::Worker;
use crate::chess::position::{Move, Position};
use crate::chess::score::Ply;
use crate::games::book::{Counts, PendingLookup};

pub(super) enum BookHit {
    /// The match ends the search ([`BookSearch::First`]).
    Decisive,
    Known(TableEntry),
}

impl<'a, S: OptionalObserver> Worker<'a, S> {
    /// Starts the book lookup for an inner node. Returns `None` if there is no book, or if a move
    /// of the node is excluded (singular verification).
    #[inline]
    pub(super) fn prefetch_book(&self, position: &Position, ply: Ply) -> Option<PendingLookup<'a>> {
        let probe = self.job.book.as_ref()?;
        self.stack[ply].excluded.is_none().then(|| probe.start_lookup(position))
    }

    /// Looks up the position of an inner node in the book. Returns a hit only if it affects the
    /// search.
    #[inline]
    pub(super) fn probe_book(&mut self, position: &Position, ply: Ply) -> Option<BookHit> {
        let probe = self.job.book.as_ref()?;
        let counts = probe.holds(position)?;
        self.book_match(probe, position, ply, counts)
    }

    #[cold]
    fn book_match(
        &mut self,
        probe: &BookProbe,
        position: &Position,
        ply: Ply,
        counts: Counts,
    ) -> Option<BookHit> {
        self.show(|_| SearchStep::BookMatch { games: counts.games() });
        let line = self.line_to(ply).filter(|_| !counts.is_empty());
        if let Some(line) = &line {
            probe.remember(position, line, counts);
        }
        match self.job.config.book_search {
            BookSearch::Off | BookSearch::Stop => None,
            BookSearch::Value | BookSearch::Steer => {
                probe.value(position).map(|value| BookHit::Known(known(&value, ply)))
            }
            BookSearch::First => {
                let line = line.filter(|_| self.book_may_end() && !self.is_interrupted())?;
                probe.decide(Transposition { line, counts, value: None });
                self.job.control.stop();
                Some(BookHit::Decisive)
            }
        }
    }

    /// Returns the moves from the root to `ply`, or `None` if one of them is a null move.
    fn line_to(&self, ply: Ply) -> Option<Vec<Move>> {
        self.stack[..ply].iter().map(|entry| entry.mv).collect()
    }
}
