//! Finds the games that several books contain.

use std::collections::HashSet;

use super::explore::Facets;
use crate::chess::position::{Move, Position};
use crate::games::book::facets::{CompiledFilter, FacetFilter, GameId};
use crate::games::book::format::counts::Counts;
use crate::games::book::lookup::Book;
use crate::games::book::lookup::castling::is_same;

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

/// The ids of the games that at least two of several books contain.
#[derive(Debug, Default)]
pub(crate) struct CommonGames(HashSet<GameId>);

/// The results of the games that a sum over several books counts more than once.
#[derive(Debug, Default)]
pub(crate) struct Repeats {
    /// The results of the games that reached the position.
    pub(crate) reached: Counts,
    moves: Vec<(Move, Counts)>,
}

impl Repeats {
    /// Returns the results of the games that played a move.
    pub(crate) fn played(&self, mv: Move) -> Counts {
        let found = self.moves.iter().find(|&&(other, _)| other == mv);
        found.map_or(Counts::default(), |&(_, counts)| counts)
    }

    fn add(&mut self, mv: Move, counts: Counts) {
        match self.moves.iter_mut().find(|(other, _)| *other == mv) {
            Some((_, sum)) => *sum += counts,
            None => self.moves.push((mv, counts)),
        }
    }
}

impl CommonGames {
    pub(crate) fn of<'b>(books: impl Iterator<Item = &'b Book>) -> Self {
        let (mut earlier, mut common) = (GameIds::default(), HashSet::new());
        for book in books {
            let repeated = earlier.add(book);
            let Some(Facets { games, .. }) = Facets::of(&book.image) else { continue };
            let again = (0..games.len()).zip(repeated).filter(|(_, is_repeated)| *is_repeated);
            common.extend(again.filter_map(|(game, _)| games.row(game)).map(|row| row.id));
        }
        CommonGames(common)
    }

    /// Returns what must be subtracted from the sum of the results in all `books`, so that each
    /// game counts once for the position, and once for each move that it played there. Games in
    /// books without facets are unknown, and therefore not subtracted.
    pub(crate) fn repeats<'b>(
        &self,
        books: impl Iterator<Item = &'b Book>,
        position: &Position,
        filter: &FacetFilter,
    ) -> Repeats {
        let mut repeats = Repeats::default();
        if self.0.is_empty() {
            return repeats;
        }
        let (compiled, legal) = (CompiledFilter::new(filter), position.legal_moves());
        // Each entry is a game that an earlier book counts for a move or, without a move, for the
        // position.
        let mut earlier: HashSet<(Option<Move>, GameId)> = HashSet::new();
        for book in books {
            let Some(facets) = Facets::of(&book.image) else { continue };
            let Some((entry, lists)) = facets.find(position.key()) else { continue };
            let to_legal = |mv: Move| legal.iter().find(|&other| is_same(mv, other, position));
            let moves: Vec<Option<Move>> =
                entry.moves.iter().map(|&(mv, _)| to_legal(mv)).collect();
            let (mut own, mut seen) = (HashSet::new(), HashSet::new());
            // Damaged lists end early, as in all statistics.
            let _ = lists.read(&entry, facets.games.len(), |list, game| {
                let row = facets.games.row(game).filter(|row| self.0.contains(&row.id));
                let tags = facets.games.game_tags(game).filter(|&tags| compiled.passes(tags));
                let Some((row, tags)) = row.zip(tags) else { return };
                let counts = Counts::of(tags.result(), 1);
                if let Some(mv) = list.checked_sub(1).and_then(|at| *moves.get(at)?) {
                    if earlier.contains(&(Some(mv), row.id)) {
                        repeats.add(mv, counts);
                    }
                    own.insert((Some(mv), row.id));
                }
                if seen.insert(game) {
                    if earlier.contains(&(None, row.id)) {
                        repeats.reached += counts;
                    }
                    own.insert((None, row.id));
                }
            });
            earlier.extend(own);
        }
        repeats
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
