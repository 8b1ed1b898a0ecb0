//! Finds the games that reached a position in a book with facets, and reads their tags and text.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::explore::Facets;
use super::summary::ListedGame;
use crate::chess::position::Position;
use crate::games::book::facets::{CompiledFilter, FacetFilter, GameRow};
use crate::games::book::lookup::Book;
use crate::games::pgn::{GameDate, GameResult, InputParts, PgnInput};

/// The games in a single book that reached a given position.
#[derive(Debug)]
pub(crate) struct PositionGames {
    book: Book,
    filter: CompiledFilter,
    numbers: Vec<u32>,
}

/// Facts about a game: its date, the mean rating of both players (or the only known rating), and
/// its result.
#[derive(Debug, Clone, Copy)]
pub(crate) struct GameFacts {
    pub(crate) date: GameDate,
    pub(crate) rating: Option<u16>,
    pub(crate) result: GameResult,
}

impl GameFacts {
    /// Returns the year of the game, if it is known.
    pub(crate) fn year(&self) -> Option<u16> {
        self.date.month().map(|month| month.year)
    }
}

impl Book {
    /// Returns the games that reached a position and pass a filter, taken from the first book in
    /// the chain that contains the position. Returns `None` if no book contains it, or if that book
    /// has no facets.
    pub(crate) fn position_games(
        &self,
        position: &Position,
        filter: &FacetFilter,
    ) -> Option<PositionGames> {
        let (book, filter) =
            (self.in_order().find(|book| book.contains(position))?, CompiledFilter::new(filter));
        let facets = Facets::of(&book.image)?;
        let mut numbers = facets.numbers(position.key())?;
        numbers.retain(|&game| {
            facets.games.game_tags(game).is_some_and(|game_tags| filter.passes(game_tags))
        });
        Some(PositionGames { book, filter, numbers })
    }
}

impl PositionGames {
    /// Returns the numbers of the games, latest game first. These numbers identify the games in
    /// calls to the other methods.
    pub(crate) fn numbers(&self) -> &[u32] {
        &self.numbers
    }

    /// Returns the book that contains the games.
    pub(crate) fn book(&self) -> &Book {
        &self.book
    }

    /// Passes each game and its number to `take`, latest game first.
    pub(crate) fn each(&self, mut take: impl FnMut(u32, GameFacts)) {
        let Some(facets) = Facets::of(&self.book.image) else { return };
        for &number in &self.numbers {
            if let Some(tags) = facets.games.game_tags(number) {
                let (date, rating, result) = (tags.date(), tags.mean_rating(), tags.result());
                take(number, GameFacts { date, rating, result });
            }
        }
    }

    /// Counts all games in the book that pass the filter by year. Games without a date are counted
    /// under `None`.
    pub(crate) fn years_of_book(&self) -> BTreeMap<Option<u16>, u64> {
        let mut years = BTreeMap::new();
        let Some(facets) = Facets::of(&self.book.image) else { return years };
        let all = (0..facets.games.len()).filter_map(|game| facets.games.game_tags(game));
        for tags in all.filter(|&game_tags| self.filter.passes(game_tags)) {
            *years.entry(tags.date().month().map(|month| month.year)).or_default() += 1;
        }
        years
    }

    /// Returns the players, the date and the id of a game.
    pub(crate) fn listed(&self, number: u32) -> Option<ListedGame> {
        ListedGame::of(&Facets::of(&self.book.image)?.games, number, None)
    }

    /// Reads the text of the `wanted` games, one file after another, and passes each text to `take`
    /// along with the game's number. The text is `None` if the file is missing or has changed.
    /// Looks for the files at their original paths, in `folders`, and next to the book. Stops when
    /// `is_stopped` returns true.
    pub(crate) fn read(
        &self,
        wanted: &[u32],
        folders: &[PathBuf],
        is_stopped: &dyn Fn() -> bool,
        mut take: impl FnMut(u32, Option<&[u8]>),
    ) {
        let Some(facets) = Facets::of(&self.book.image) else { return };
        let row = |&number: &u32| Some((number, facets.games.row(number)?));
        let mut rows: Vec<(u32, GameRow)> = wanted.iter().filter_map(row).collect();
        rows.sort_unstable_by_key(|(_, row)| (row.file, row.offset));
        let files = facets.games.files().unwrap_or_default();
        for rows in rows.chunk_by(|(_, one), (_, other)| one.file == other.file) {
            let file = rows.first().and_then(|(_, row)| files.get(row.file as usize));
            // Some games have no file, for example those read from standard input.
            let file = file.filter(|file| !file.absolute.is_empty());
            let places = file.map(|file| self.book.places(file, folders)).unwrap_or_default();
            let mut sources: Vec<InputParts> =
                places.iter().filter_map(|place| open(place)).collect();
            for &(number, ref row) in rows {
                let mut read = |source: &mut InputParts| {
                    let text = source.read(row.offset, row.length.into(), is_stopped).ok()?;
                    row.is_text(&text).then_some(text)
                };
                let text = sources.iter_mut().find_map(&mut read);
                if is_stopped() {
                    return;
                }
                take(number, text.as_deref());
            }
        }
    }
}

fn open(place: &Path) -> Option<InputParts> {
    PgnInput::File(place.to_owned()).parts().ok()
}
