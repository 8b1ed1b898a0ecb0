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

impl Book {
    /// Returns the names of the players in all stored games, each with the player's number of
    /// games. In a chain of books, a name is listed once for each book that contains it, and a game
    /// in several books counts only in the first.
    pub(crate) fn player_names(&self) -> Vec<(String, u64)> {
        let mut names = Vec::new();
        let mut earlier = GameIds::default();
        for book in self.in_order() {
            let Some(Facets { games, .. }) = Facets::of(&book.image) else { continue };
            let repeated = earlier.add(&book);
            let mut counts = vec![0; games.names() as usize];
            let new = (0..games.len()).zip(repeated).filter(|(_, is_repeated)| !is_repeated);
            for row in new.filter_map(|(game, _)| games.row(game)) {
                for name in [row.white, row.black] {
                    // In a damaged book, a row can refer to a name that does not exist.
                    counts.get_mut(name as usize).into_iter().for_each(|count| *count += 1);
                }
            }
            names.extend(
                counts
                    .into_iter()
                    .zip(0..)
                    .map(|(count, name)| (games.name(name).to_owned(), count)),
            );
        }
        names
    }
}
