//! Finds the games that several books contain.

use std::collections::HashSet;

use super::explore::Facets;
use crate::games::book::facets::GameId;
use crate::games::book::lookup::Book;

/// The ids of the games in several books.
#[derive(Debug, Default)]
pub(crate) struct GameIds(HashSet<GameId>);

impl GameIds {
    /// Adds the games of a book. Returns for each of its games whether a book added earlier
    /// contains it. A game that the book itself contains twice is not marked. The list is empty if
    /// the book has no facets.
    pub(crate) fn add(&mut self, book: &Book) -> Vec<bool> {
        let Some(Facets { games, .. }) = Facets::of(&book.image) else { return Vec::new() };
        let ids = || (0..games.len()).map(|game| games.row(game).map(|row| row.id));
        let repeated = ids().map(|id| id.is_some_and(|id| self.0.contains(&id))).collect();
        self.0.extend(ids().flatten());
        repeated
    }
}
