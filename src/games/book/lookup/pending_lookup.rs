//! Prefetched lookups, which determine whether a book may contain a position. The search starts a
//! lookup at every node, and reads the result only after the data has had time to arrive from
//! memory.
//!
//! Before making a move, the search prefetches the pawn filter bit of the resulting position. On
//! entering the resulting node, it prefetches the position's row in the table of buckets. It reads
//! the row only after updating the network and probing the transposition table. Until then, no
//! branch depends on the filter bit, so the search does not stall if the bit has not arrived yet.

use super::Book;
use crate::chess::position::Position;
use crate::games::book::format::bucket::Row;

#[derive(Clone, Copy)]
pub(crate) struct PendingLookup<'a> {
    row: Row<'a>,
    /// Whether the position passes the pawn filter of a book chained after the first one.
    behind: bool,
}

impl PendingLookup<'_> {
    /// Returns false if the position is certainly not in the chain of books. There are no false
    /// negatives. For books after the first one, only the pawn filters are tested.
    #[inline]
    pub(crate) fn may_hold(self, position: &Position) -> bool {
        self.behind | self.row.bucket().may_hold(position.key())
    }
}

impl Book {
    /// Prefetches the data that [`Book::start_lookup`] reads for a position with this pawn key.
    #[inline]
    pub(crate) fn prefetch(&self, pawn_key: u64) {
        self.image.prefetch_pawns(pawn_key);
        if let Some(next) = &self.next {
            next.prefetch(pawn_key);
        }
    }

    /// Starts looking up a position by prefetching its row in the table of buckets.
    #[inline]
    pub(crate) fn start_lookup(&self, position: &Position) -> PendingLookup<'_> {
        let row = self.image.prefetch(position.key(), position.pawn_key());
        let behind = self.next.as_ref().is_some_and(|next| next.may_contain(position));
        PendingLookup { row, behind }
    }

    /// Whether a position passes the pawn filter of this book or of any book chained after it. Also
    /// prefetches the position's row in the bucket table of each of these books.
    fn may_contain(&self, position: &Position) -> bool {
        let pawn_key = position.pawn_key();
        self.image.prefetch(position.key(), pawn_key);
        self.image.may_hold_pawns(pawn_key)
            | self.next.as_ref().is_some_and(|next| next.may_contain(position))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::position::Game;
    use crate::games::book::builder::{BuildOptions, build_in_memory};
    use crate::games::pgn::PgnInput;

    fn book(moves: &str) -> Book {
        let inputs =
            [PgnInput::Text("test".to_owned(), format!("{moves} 1-0\n").into_bytes().into())];
        build_in_memory(&inputs, &BuildOptions::default(), "test").expect("a book").0
    }

    fn neighbours(moves: &str) -> Vec<Position> {
        let mut game = Game::default();
        for san in moves.split_ascii_whitespace() {
            game.play(game.position().parse_move(san).expect(san)).expect(san);
        }
        let positions = game.positions().iter();
        positions
            .flat_map(|position| {
                position.legal_moves().iter().map(|mv| position.play(mv)).collect::<Vec<_>>()
            })
            .collect()
    }

    #[test]
    fn prefetched_lookup_finds_all_book_positions_and_few_others() {
        let (knights, pawns) = ("Nf3 Nf6 Nc3 Nc6", "e4 e5 d4 exd4");
        let alone = book(knights);
        let both = book(pawns).followed_by(&alone);
        let met = [neighbours(knights), neighbours(pawns)].concat();
        // For the second book, a prefetched lookup tests only the pawn filter, which a third of the
        // positions outside the books pass.
        for (book, max_passing) in [(&alone, 5), (&both, 100)] {
            let holds = |position: &&Position| book.holds(position).is_some();
            let (known, foreign): (Vec<_>, Vec<_>) = met.iter().partition(holds);
            assert!(known.len() >= 4 && foreign.len() > 100);
            assert!(known.iter().all(|position| book.start_lookup(position).may_hold(position)));
            let passing =
                foreign.iter().filter(|position| book.start_lookup(position).may_hold(position));
            assert!(passing.count() < max_passing, "of {} other positions", foreign.len());
        }
    }
}
