//! Selects some of a book's games.

use std::io::Cursor;

use super::combine::insert_pawns;
use super::regroup::select_known;
use crate::chess::position::Color;
use crate::games::book::builder::{names_player, of_side};
use crate::games::book::facets::FacetFilter;
use crate::games::book::facets::{CompiledFilter, Games};
use crate::games::book::format::entry::BookEntry;
use crate::games::book::format::error::BookError;
use crate::games::book::format::pawn_filter::PawnSet;
use crate::games::book::lookup::Book;

/// Selects games from a book with facets. By default, all games are selected.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Selection {
    /// The accepted rating groups, speeds and dates.
    pub facets: FacetFilter,
    /// Full or partial player names in lower case. A game is selected only if one of these is part
    /// of the name of one of its players. An empty list selects the games of all players.
    pub players: Vec<String>,
    /// The side whose player's name is compared with `players`; `None` if either player may match.
    pub side: Option<Color>,
}

impl Selection {
    /// Whether all games are selected.
    pub fn is_everything(&self) -> bool {
        self.facets.is_everything() && self.players.is_empty()
    }

    fn choose(&self, games: &Games<'_>) -> Vec<bool> {
        let compiled = CompiledFilter::new(&self.facets);
        let is_wanted: Vec<bool> =
            (0..games.names()).map(|name| names_player(&self.players, games.name(name))).collect();
        let players_pass = |game| {
            let row = games.row(game);
            self.players.is_empty()
                || row.is_some_and(|row| {
                    of_side(self.side, [row.white, row.black])
                        .any(|name| is_wanted.get(name as usize).is_some_and(|&is| is))
                })
        };
        let passes = |game| {
            games.game_tags(game).is_some_and(|game_tags| compiled.passes(game_tags))
                && players_pass(game)
        };
        (0..games.len()).map(passes).collect()
    }

    fn describe(&self) -> Vec<String> {
        let mut words = self.facets.describe();
        words.extend(
            (!self.players.is_empty()).then(|| format!("player {}", self.players.join(","))),
        );
        words
    }

    /// Builds a book in memory from the selected games of `book`, with their facets but without
    /// analysis values. Its entries are the same as if it were built from the games themselves,
    /// except that it lacks all positions and moves that `book` lacks.
    pub fn of_book(&self, book: &Book) -> Result<Book, BookError> {
        if book.image.facets().is_none() {
            return Err(BookError::NoFacets { name: book.name().to_owned() });
        }
        let mut manifest = book.manifest()?;
        manifest.filters.extend(self.describe());
        let choose = |games: &Games<'_>| self.choose(games);
        let pawns_of = |stays: &dyn Fn(&BookEntry) -> bool| {
            let mut pawns = PawnSet::new();
            insert_pawns(book, &book.starts(), &|entry| stays(entry), &mut pawns);
            pawns
        };
        let output = Cursor::new(Vec::new());
        let bytes = select_known(book, choose, pawns_of, manifest, output)
            .map_err(|error| BookError::writing(book.name(), &error))?;
        Book::from_bytes(bytes.into_inner(), book.name())
    }
}
