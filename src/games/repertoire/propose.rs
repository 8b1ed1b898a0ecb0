//! Proposes an answer to a gap.

use std::cmp::Reverse;

use crate::chess::position::{Move, Position};
use crate::chess::score::Score;
use crate::games::book::Book;

/// A proposed move, and the reason for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Proposal {
    /// The best move of an analysed position, and its score for the side to move.
    Value(Move, Score),
    /// The move played most often, and its number of games.
    Games(Move, u64),
}

impl Proposal {
    /// Returns the best move according to the engine value in the book. If the book has no value
    /// for the position, returns the move played most often, or `None` if no move was played there.
    pub fn find(book: &Book, position: &Position) -> Option<Self> {
        let value = book.value(position);
        let best = value.and_then(|value| Some((value.best?, value.score)));
        if let Some((mv, score)) = best.filter(|&(mv, _)| position.is_legal(mv)) {
            return Some(Proposal::Value(mv, score));
        }
        let moves = book.moves(position);
        let played = moves.iter().filter(|found| !found.played.is_empty());
        let most = played.max_by_key(|found| (found.played.games(), Reverse(found.mv)));
        most.map(|found| Proposal::Games(found.mv, found.played.games()))
    }
}
