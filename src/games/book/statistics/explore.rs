//! Explores a position in a book: its moves and, if the book has facets, its games with their
//! results, ratings and dates.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::io::{self, Cursor};

use crate::chess::position::{Color, Move, Position};
use crate::games::book::facets::FacetFilter;
use crate::games::book::facets::{CompiledFilter, GameTags, Games};
use crate::games::book::format::counts::Counts;
use crate::games::book::format::entry::BookEntry;
use crate::games::book::format::error::BookError;
use crate::games::book::format::image::Image;
use crate::games::book::format::lists::{ListIndex, Lists, SideBySide};
use crate::games::book::format::pawn_filter::PawnSet;
use crate::games::book::format::writer::write_book;
use crate::games::book::lookup::Book;
use crate::games::book::lookup::values::BookValue;
use crate::games::pgn::GameDate;

use super::summary::{GameSummary, LISTED_GAMES, ListedGame, MonthCounts, by_month};

/// If a position has fewer games than this, the games already seen are stored in a hash set. In a
/// large book, such a set uses less memory than a bitmap of all games.
const FEW_GAMES: u64 = 4_096;

/// The statistics of a move in a position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MoveStats {
    /// The move, which is legal in the position.
    pub mv: Move,
    /// Summary of the games in which the move was played in this position.
    pub played: GameSummary,
    /// Results of the games that reached the position after this move via any move order.
    pub reached: Counts,
}

/// The statistics of a position in a book.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PositionStats {
    /// Summary of the games that reached the position via any move order. Each game is counted
    /// once.
    pub reached: GameSummary,
    /// The games that continued with a move in the book, each counted once.
    ///
    /// Without facets, a game that played several different moves in the position is counted once
    /// for each, although the counts never exceed those of `reached`.
    pub continued: GameSummary,
    /// The moves played in this position, and moves that lead to a position reached by other games.
    /// They are sorted by the number of games that reached the resulting position (or by weight, in
    /// a book of weights), in descending order.
    pub moves: Vec<MoveStats>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Breadth {
    Played,
    /// All played moves, and moves that lead to positions reached only via other move orders.
    Reached,
}

pub(super) struct Facets<'a> {
    image: &'a Image,
    pub(super) games: Games<'a>,
    index: ListIndex<'a>,
    lists: &'a [u8],
}

impl<'a> Facets<'a> {
    pub(super) fn of(image: &'a Image) -> Option<Self> {
        let raw = image.facets()?;
        let games = Games::parse(raw.games)?;
        Some(Facets { image, games, index: ListIndex::new(raw.list_index), lists: raw.lists })
    }

    pub(super) fn find(&self, key: u64) -> Option<(BookEntry, Lists<'a>)> {
        // Look up the position's entry first, because most positions are not in the book. The list
        // index cannot show that a position is missing, because it contains only some of the keys.
        self.image.find(key)?;
        let (first, start) = self.index.find(key)?;
        let mut both = SideBySide {
            entries: self.image.entries_from(first)?,
            lists: self.lists.get(usize::try_from(start).ok()?..)?,
            games: self.games.len(),
        };
        let mut entry = BookEntry::default();
        loop {
            let lists = both.next(&mut entry)?;
            if entry.key >= key {
                return (entry.key == key).then_some((entry, lists));
            }
        }
    }

    /// Returns the numbers of the games that reached a position, in ascending order.
    pub(super) fn numbers(&self, key: u64) -> Option<Vec<u32>> {
        let (entry, lists) = self.find(key)?;
        let mut numbers = Vec::new();
        lists.read(&entry, self.games.len(), |_, game| numbers.push(game))?;
        numbers.sort_unstable();
        numbers.dedup();
        Some(numbers)
    }

    fn reached(&self, key: u64, compiled: &CompiledFilter) -> Option<Counts> {
        let (entry, lists) = self.find(key)?;
        let mut tally = Tally::default();
        let mut seen = SeenGames::new(&lists, &entry);
        lists.read(&entry, self.games.len(), |_, game| {
            if seen.is_new(game) {
                self.count(&mut tally, game, compiled);
            }
        })?;
        Some(tally.counts())
    }

    fn count(&self, tally: &mut Tally, game: u32, compiled: &CompiledFilter) {
        if let Some(game_tags) =
            self.games.game_tags(game).filter(|&game_tags| compiled.passes(game_tags))
        {
            tally.results[game_tags.result() as usize] += 1;
        }
    }

    fn summary(&self, position: &Position, compiled: &CompiledFilter) -> Option<Summary> {
        let (entry, lists) = self.find(position.key())?;
        let mut tallies = vec![Tally::default(); entry.moves.len() + 1];
        let side = position.side_to_move();
        let take = |tally: &mut Tally, game| {
            if let Some(game_tags) =
                self.games.game_tags(game).filter(|&game_tags| compiled.passes(game_tags))
            {
                tally.add(game, game_tags, side);
            }
        };
        let mut seen = SeenGames::new(&lists, &entry);
        // The first list contains games that ended in this position or continued with a pruned
        // move.
        let mut without_move = HashSet::new();
        let (mut again, mut moved_later) = (Vec::new(), Vec::new());
        lists.read(&entry, self.games.len(), |list, game| {
            take(&mut tallies[list], game);
            match seen.is_new(game) {
                true if list == 0 && lists.repeats() => {
                    without_move.insert(game);
                }
                true => {}
                false if without_move.remove(&game) => moved_later.push(game),
                false => again.push(game),
            }
        })?;
        let words: Vec<Option<Move>> =
            std::iter::once(None).chain(entry.moves.iter().map(|&(mv, _)| Some(mv))).collect();
        let mut by_list = tallies.iter().zip(&words).map(|(tally, &mv)| self.with_names(tally, mv));
        let ended = by_list.next().unwrap_or_default();
        let moves: Vec<(Move, GameSummary)> =
            words[1..].iter().flatten().copied().zip(by_list).collect();
        let sums_of = |games: Vec<u32>| {
            let mut tally = Tally::default();
            games.into_iter().for_each(|game| take(&mut tally, game));
            tally.sums()
        };
        // Games that repeated the position may be in several lists, but are counted only once.
        let mut continued = GameSummary::default();
        moves.iter().for_each(|(_, played)| continued.add(played.clone()));
        continued.remove(&sums_of(again));
        let mut reached = continued.clone();
        reached.add(ended);
        reached.remove(&sums_of(moved_later));
        Some(Summary { reached, continued, moves })
    }

    fn with_names(&self, tally: &Tally, mv: Option<Move>) -> GameSummary {
        let list = |numbers: &mut dyn Iterator<Item = u32>| {
            numbers.filter_map(|game| ListedGame::of(&self.games, game, mv)).collect()
        };
        GameSummary {
            top: list(&mut tally.top.iter().map(|&(_, Reverse(game))| game)),
            latest: list(&mut tally.latest.iter().copied()),
            ..tally.sums()
        }
    }
}

enum SeenGames {
    /// No games are stored, because each game is in only one of the position's lists and so cannot
    /// be seen twice.
    Nowhere,
    /// One bit for each game in the book.
    Bits(Vec<u64>),
    /// A set of game numbers, used if the position has fewer than [`FEW_GAMES`] games.
    Few(HashSet<u32>),
}

impl SeenGames {
    fn new(lists: &Lists<'_>, entry: &BookEntry) -> Self {
        match () {
            () if !lists.repeats() => SeenGames::Nowhere,
            () if entry.reached.games() < FEW_GAMES => SeenGames::Few(HashSet::new()),
            () => SeenGames::Bits(Vec::new()),
        }
    }

    #[inline]
    fn is_new(&mut self, game: u32) -> bool {
        match self {
            SeenGames::Nowhere => true,
            SeenGames::Few(games) => games.insert(game),
            SeenGames::Bits(bits) => {
                let (word, bit) = (game as usize / 64, 1 << (game % 64));
                if word >= bits.len() {
                    bits.resize(word + 1, 0);
                }
                let is_new = bits[word] & bit == 0;
                bits[word] |= bit;
                is_new
            }
        }
    }
}

#[derive(Default)]
struct Summary {
    reached: GameSummary,
    continued: GameSummary,
    moves: Vec<(Move, GameSummary)>,
}

impl Summary {
    fn of_counts(entry: &BookEntry) -> Self {
        let counted = |counts| GameSummary { counts, ..GameSummary::default() };
        let played: Counts = entry.moves.iter().map(|&(_, played)| played).sum();
        Summary {
            reached: counted(entry.reached),
            continued: counted(played.at_most(entry.reached)),
            moves: entry.moves.iter().map(|&(mv, played)| (mv, counted(played))).collect(),
        }
    }
}

fn counts([white, draws, black, undecided]: [u32; 4]) -> Counts {
    Counts { white, draws, black, undecided }
}

#[derive(Debug, Clone, Default)]
struct Tally {
    results: [u32; 4],
    ratings: (u64, u64),
    /// For each run of games in the same month: the month (see `GameDate::split`) and the results.
    /// The latest month comes first.
    months: Vec<(u32, [u32; 4])>,
    /// The highest-rated games, as pairs of mean rating and game number, highest rating first.
    top: Vec<(Option<u16>, Reverse<u32>)>,
    latest: Vec<u32>,
}

impl Tally {
    #[inline]
    fn add(&mut self, game: u32, game_tags: GameTags, side: Color) {
        let result = game_tags.result();
        self.results[result as usize] += 1;
        if let Some(rating) = game_tags.rating(side) {
            self.ratings.0 += u64::from(rating);
            self.ratings.1 += 1;
        }
        let month = game_tags.date().without_day().number();
        if self.months.last().is_none_or(|&(last, _)| last != month) {
            self.months.push((month, [0; 4]));
        }
        if let Some((_, results)) = self.months.last_mut() {
            results[result as usize] += 1;
        }
        if self.latest.len() < LISTED_GAMES {
            self.latest.push(game);
        }
        let ranked = (game_tags.mean_rating(), Reverse(game));
        if self.top.len() < LISTED_GAMES || self.top.last().is_some_and(|&last| ranked > last) {
            self.top.truncate(LISTED_GAMES - 1);
            let place = self.top.partition_point(|&other| other > ranked);
            self.top.insert(place, ranked);
        }
    }

    fn counts(&self) -> Counts {
        counts(self.results)
    }

    fn sums(&self) -> GameSummary {
        let dated = self.months.iter().filter_map(|&(month, results)| {
            let month = GameDate::from_number(month).month()?;
            Some(MonthCounts { month, counts: counts(results) })
        });
        GameSummary {
            counts: self.counts(),
            ratings: self.ratings,
            history: by_month(dated),
            ..GameSummary::default()
        }
    }
}

impl Book {
    /// Whether this book, or one chained after it, has facets, which are required for filtering
    /// games.
    pub fn has_facets(&self) -> bool {
        self.image.facets().is_some() || self.next.as_ref().is_some_and(|next| next.has_facets())
    }

    /// Checks that this book, or one chained after it, has facets.
    ///
    /// # Errors
    /// [`BookError::NoFacets`] if none has.
    pub(crate) fn check_facets(&self) -> Result<(), BookError> {
        match self.has_facets() {
            true => Ok(()),
            false => Err(BookError::NoFacets { name: self.name().to_owned() }),
        }
    }

    /// Returns the number of games in the facets of the book; 0 without facets.
    pub fn facet_games(&self) -> u32 {
        Facets::of(&self.image).map_or(0, |facets| facets.games.len())
    }

    /// Returns the statistics of a position (counts, mean ratings, history and games), based on the
    /// games that pass a filter.
    ///
    /// In a chain, the first book that contains the position is used. If none contains it, the
    /// first book that contains a position one move later is used. Books without facets provide
    /// only counts, and are skipped if there is a filter. Pruned moves and positions are missing
    /// from the counts.
    pub fn explore(&self, position: &Position, filter: &FacetFilter) -> PositionStats {
        self.explore_to(position, filter, Breadth::Reached)
    }

    /// Like [`Book::explore`], but restricts the moves to the given `breadth`.
    pub(crate) fn explore_to(
        &self,
        position: &Position,
        filter: &FacetFilter,
        breadth: Breadth,
    ) -> PositionStats {
        let asked = || {
            let is_fit = |book: &Book| filter.is_everything() || book.image.facets().is_some();
            self.in_order().filter(is_fit)
        };
        let explore = |book: Book| book.explore_alone(position, filter, breadth);
        match asked().find(|book| book.contains(position)) {
            Some(book) => explore(book),
            None => asked().map(explore).find(|found| !found.moves.is_empty()).unwrap_or_default(),
        }
    }

    /// Like [`Book::explore_to`], but ignores the books chained after this one.
    fn explore_alone(
        &self,
        position: &Position,
        filter: &FacetFilter,
        breadth: Breadth,
    ) -> PositionStats {
        let facets = Facets::of(&self.image);
        let compiled = CompiledFilter::new(filter);
        let summary = match &facets {
            Some(facets) => facets.summary(position, &compiled),
            None => self.entry(position).map(|entry| Summary::of_counts(&entry)),
        };
        let Summary { reached, continued, mut moves } = summary.unwrap_or_default();
        let reached_by = |mv: Move| {
            let key = position.play(mv).key();
            match &facets {
                Some(facets) if !filter.is_everything() => facets.reached(key, &compiled),
                _ => self.image.reached(key),
            }
        };
        let legal = position.legal_moves();
        let explored = legal.iter().filter_map(|mv| {
            let at = moves.iter().position(|&(other, _)| {
                crate::games::book::lookup::castling::is_same(other, mv, position)
            });
            let played = at.map(|at| moves.swap_remove(at).1).unwrap_or_default();
            if breadth == Breadth::Played && played.counts.is_empty() {
                return None;
            }
            let reached = reached_by(mv).unwrap_or(played.counts);
            let known = !played.counts.is_empty() || !reached.is_empty();
            known.then_some(MoveStats { mv, played, reached })
        });
        let mut moves: Vec<MoveStats> = explored.collect();
        let weights = self.holds_weights();
        moves.sort_by_key(|found| {
            let weight = if weights { found.played.counts } else { found.reached };
            (Reverse(weight.games()), found.mv)
        });
        PositionStats { reached, continued, moves }
    }

    /// Returns a small book built from the games that pass the filter. It contains only `position`
    /// and the positions one move later. Values are copied from this book.
    ///
    /// # Errors
    /// If the book has no facets or is damaged.
    pub fn filtered(&self, position: &Position, filter: &FacetFilter) -> Result<Self, BookError> {
        self.check_facets()?;
        let explored = self.explore(position, filter);
        let played = |found: &MoveStats| {
            let counts = found.played.counts;
            (!counts.is_empty()).then_some((found.mv, counts))
        };
        let mut moves: Vec<_> = explored.moves.iter().filter_map(played).collect();
        moves.sort_by_key(|&(mv, _)| mv);
        let own = BookEntry { key: position.key(), reached: explored.reached.counts, moves };
        let after = explored.moves.iter().map(|found| BookEntry {
            key: position.play(found.mv).key(),
            reached: found.reached,
            moves: Vec::new(),
        });
        let mut entries: Vec<BookEntry> = std::iter::once(own).chain(after).collect();
        entries.retain(|entry| !entry.reached.is_empty());
        entries.sort_by_key(|entry| entry.key);
        entries.dedup_by_key(|entry| entry.key);
        let mut manifest = self.manifest()?;
        manifest.filters.extend(filter.describe());
        let with_names = |error: io::Error| BookError::writing(self.name(), &error);
        let bytes = write_book(
            Cursor::new(Vec::new()),
            entries.into_iter(),
            &PawnSet::everything(),
            &manifest,
        );
        let bytes = bytes.map_err(with_names)?.into_inner();
        Self::from_bytes(bytes, self.name())?.with_values(&self.values_around(position))
    }

    fn values_around(&self, position: &Position) -> Vec<BookValue> {
        let after = position.legal_moves().iter().map(|mv| position.play(mv)).collect::<Vec<_>>();
        let mut values: Vec<BookValue> =
            std::iter::once(position).chain(&after).filter_map(|at| self.value(at)).collect();
        values.sort_by_key(|value| value.key);
        values.dedup_by_key(|value| value.key);
        values
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn game_is_new_only_once(games in vec(0_u32..300, 0..100)) {
            let (mut few, mut bits) = (SeenGames::Few(HashSet::new()), SeenGames::Bits(Vec::new()));
            for (place, game) in games.iter().enumerate() {
                let is_new = !games[..place].contains(game);
                prop_assert_eq!((few.is_new(*game), bits.is_new(*game)), (is_new, is_new));
            }
        }
    }
}
