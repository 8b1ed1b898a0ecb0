//! Whether a book may hold a position: asked at every node of a search, and answered once the memory
//! has had time to come.

use super::Book;
use crate::chess::position::Position;
use crate::games::book::format::bucket::Row;

/// A question whose answer is on its way.
#[derive(Clone, Copy)]
pub(crate) struct PendingLookup<'a> {
    row: Row<'a>,
    /// A book behind the first one may hold the position, by its pawns.
    behind: bool,
}

impl PendingLookup<'_> {
    /// Whether the book may hold the position that was asked for: `false` is certain. The first of
    /// several books answers by the position's key, those behind it by its pawns alone.
    #[inline]
    pub(crate) fn may_hold(self, position: &Position) -> bool {
        self.behind | self.row.bucket().may_hold(position.key())
    }
}

impl Book {
    /// Asks the processor to fetch what [`Book::ask`] will read of a position with these pawns.
    #[inline]
    pub(crate) fn prefetch(&self, pawn_key: u64) {
        self.image.prefetch_pawns(pawn_key);
        if let Some(next) = &self.next {
            next.prefetch(pawn_key);
        }
    }

    /// Asks whether the book may hold a position. The processor is asked to fetch what the answer has to
    /// wait for, so that there is time for other work before.
    #[inline]
    pub(crate) fn ask(&self, position: &Position) -> PendingLookup<'_> {
        let row = self.image.ask(position.key(), position.pawn_key());
        let behind = self.next.as_ref().is_some_and(|next| next.may_contain(position));
        PendingLookup { row, behind }
    }

    /// Whether this book or one behind it may hold a position, by its pawns; where one may, the processor
    /// is asked to fetch what it will read next, of each of them.
    fn may_contain(&self, position: &Position) -> bool {
        let pawn_key = position.pawn_key();
        self.image.ask(position.key(), pawn_key);
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

    /// The positions of a game, and all those one move away from them.
    fn around(moves: &str) -> Vec<Position> {
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
    fn books_own_up_to_what_they_hold_and_to_little_else() {
        let (knights, pawns) = ("Nf3 Nf6 Nc3 Nc6", "e4 e5 d4 exd4");
        let alone = book(knights);
        let both = book(pawns).followed_by(&alone);
        let met = [around(knights), around(pawns)].concat();
        // The book behind is asked by pawns alone, and a third of these have its own.
        for (book, strangers) in [(&alone, 5), (&both, 100)] {
            let holds = |position: &&Position| book.holds(position).is_some();
            let (known, foreign): (Vec<_>, Vec<_>) = met.iter().partition(holds);
            assert!(known.len() >= 4 && foreign.len() > 100);
            assert!(known.iter().all(|position| book.ask(position).may_hold(position)));
            let passing = foreign.iter().filter(|position| book.ask(position).may_hold(position));
            assert!(passing.count() < strangers, "of {} strangers", foreign.len());
        }
    }
}
