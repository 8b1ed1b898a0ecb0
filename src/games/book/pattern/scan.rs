//! Searches the games in a book for a pattern.

use std::cmp::Reverse;
use std::io;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::thread::scope;

use serde::Serialize;

use super::condition::Condition;
use super::moves::MoveIndex;
use super::placement::Placement;
use super::text::Pattern;
use crate::chess::position::{Color, Move, Position};
use crate::games::book::facets::{CompiledFilter, FacetFilter, GameTags, Games};
use crate::games::book::format::counts::Counts;
use crate::games::book::lookup::Book;
use crate::games::book::statistics::summary::ListedGame;
use crate::support::threads::{STACK, start};

/// The number of games that a thread claims at a time.
const SHARE: u32 = 1024;

/// The order of games in a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Order {
    /// The latest games first.
    #[default]
    Latest,
    /// The games with the highest mean rating first. Games with equal ratings are sorted latest
    /// first.
    Rating,
}

/// A search for a pattern in the games of one book.
#[derive(Debug, Clone, Copy)]
pub struct PatternSearch<'a> {
    /// The pattern.
    pub pattern: &'a Pattern,
    /// Only games that pass this filter are searched.
    pub filter: &'a FacetFilter,
    /// For each game in the book, whether it is skipped. If the list is empty, no game is skipped.
    pub skipped: &'a [bool],
    /// The order of the listed games.
    pub order: Order,
    /// The maximum number of listed games.
    pub limit: usize,
    /// The maximum number of runs of matching positions listed for each game.
    pub positions: usize,
    /// The number of threads.
    pub threads: usize,
}

/// The first of a run of consecutive positions that match a pattern.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FoundPosition {
    /// The number of plies played before this position.
    pub ply: u32,
    /// The number of positions in the run, including this one.
    pub length: u32,
    /// Whether the pattern matches with colours swapped and the board flipped vertically.
    pub mirrored: bool,
    /// The position as FEN.
    pub fen: String,
}

/// A game that matches a pattern.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FoundGame {
    /// The game.
    #[serde(flatten)]
    pub game: ListedGame,
    /// The number of runs of consecutive matching positions in the game.
    pub occurrences: usize,
    /// The first position of each run, for at most [`PatternSearch::positions`] runs.
    pub positions: Vec<FoundPosition>,
}

/// The result of a search.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct PatternAnswer {
    /// The number of games that pass the filter and are not skipped.
    pub searched: u64,
    /// The total results (wins, draws and losses) of all games that match the pattern.
    pub found: Counts,
    /// The matching games that come first in the requested order, at most [`PatternSearch::limit`]
    /// of them.
    pub games: Vec<FoundGame>,
}

impl PatternAnswer {
    /// Adds the result of searching another book. Keeps at most `limit` games in the list.
    pub fn add(&mut self, other: PatternAnswer, order: Order, limit: usize) {
        self.searched += other.searched;
        self.found += other.found;
        self.games.extend(other.games);
        self.games.sort_by_key(|found| match order {
            Order::Latest => (None, Reverse(found.game.date)),
            Order::Rating => (Some(Reverse(found.game.mean_rating())), Reverse(found.game.date)),
        });
        self.games.truncate(limit);
    }
}

impl PatternSearch<'_> {
    /// Searches the games of a book for the pattern. Returns `None` if the search was stopped
    /// because `is_stopped` returned true.
    ///
    /// # Errors
    /// If no thread can be started, or if the index and the book have different numbers of games.
    pub fn run(
        &self,
        book: &Book,
        index: &MoveIndex,
        is_stopped: &(impl Fn() -> bool + Sync),
    ) -> io::Result<Option<PatternAnswer>> {
        let games = book.image.facets().and_then(|raw| Games::parse(raw.games));
        let Some(games) = games.filter(|games| index.fits(games)) else {
            return Err(io::Error::other("the moves do not belong to this book"));
        };
        let compiled = Compiled::new(self.pattern);
        let next = AtomicU32::new(0);
        let work = |_| {
            let (compiled, next, games) = (&compiled, &next, &games);
            move || compiled.search_shares(next, (index, games), self, is_stopped)
        };
        let shares = scope(|scope| -> io::Result<Vec<Share>> {
            let threads = start(scope, (self.threads, STACK), work)?;
            let died = |_| io::Error::other("a thread of the search has panicked");
            threads.into_iter().map(|thread| thread.join().map_err(died)).collect()
        })?;
        if is_stopped() {
            return Ok(None);
        }
        let searched = shares.iter().map(|share| share.searched).sum();
        let mut found: Vec<u32> = shares.into_iter().flat_map(|share| share.found).collect();
        found.sort_unstable();
        let results = found.iter().filter_map(|&game| games.game_tags(game));
        let counts = results.map(|tags| Counts::of(tags.result(), 1)).sum();
        if self.order == Order::Rating {
            let rating = |game: u32| games.game_tags(game).and_then(GameTags::mean_rating);
            found.sort_by_key(|&game| Reverse(rating(game)));
        }
        let listed = found.into_iter().take(self.limit);
        let listed = listed.filter_map(|game| self.listed(&compiled, (index, &games), game));
        Ok(Some(PatternAnswer { searched, found: counts, games: listed.collect() }))
    }

    fn listed(
        &self,
        compiled: &Compiled,
        (index, games): (&MoveIndex, &Games<'_>),
        game: u32,
    ) -> Option<FoundGame> {
        let (_, moves) = index.moves(game..game + 1).next()?;
        let start = index.start(game).copied().unwrap_or_else(Position::start);
        let runs = compiled.runs(&start, moves);
        let occurrences = runs.len();
        let mut position = start;
        let mut played = 0;
        let mut positions = Vec::new();
        for run in runs.into_iter().take(self.positions) {
            for word in &moves[played..run.first as usize] {
                let mv = Move::from_polyglot(u16::from_le_bytes(*word)).unwrap_or(Move::NULL);
                position = position.try_play(mv)?;
            }
            played = run.first as usize;
            positions.push(FoundPosition {
                ply: run.first,
                length: run.length,
                mirrored: run.condition > 0,
                fen: position.fen(),
            });
        }
        Some(FoundGame { game: ListedGame::of(games, game, None)?, occurrences, positions })
    }
}

#[derive(Default)]
struct Share {
    searched: u64,
    found: Vec<u32>,
}

/// A run of consecutive positions in which a condition holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Run {
    /// The ply of the first position in the run.
    first: u32,
    length: u32,
    condition: usize,
}

/// A pattern compiled for the search.
struct Compiled {
    conditions: Vec<Condition>,
    plies: (u32, u32),
    lasting: u32,
    usual: Placement,
}

impl Compiled {
    fn new(pattern: &Pattern) -> Self {
        Compiled {
            conditions: pattern.conditions(),
            plies: pattern.plies,
            lasting: pattern.lasting,
            usual: Placement::of(&Position::start()),
        }
    }

    fn search_shares(
        &self,
        next: &AtomicU32,
        (index, games): (&MoveIndex, &Games<'_>),
        search: &PatternSearch<'_>,
        is_stopped: &impl Fn() -> bool,
    ) -> Share {
        let filter = CompiledFilter::new(search.filter);
        let mut share = Share::default();
        loop {
            let first = next.fetch_add(SHARE, Relaxed);
            if first >= index.games() || is_stopped() {
                return share;
            }
            for (game, moves) in index.moves(first..first.saturating_add(SHARE)) {
                let is_skipped = search.skipped.get(game as usize).is_some_and(|&skipped| skipped);
                if is_skipped || !games.game_tags(game).is_some_and(|tags| filter.passes(tags)) {
                    continue;
                }
                share.searched += 1;
                let matches = match index.start(game) {
                    None => self.matches(self.usual.clone(), Color::White, moves),
                    Some(start) => self.matches(Placement::of(start), start.side_to_move(), moves),
                };
                if matches {
                    share.found.push(game);
                }
            }
        }
    }

    /// Returns true if a match may start at this ply, given the pattern's range of plies and side
    /// to move. `start` is the side to move in the game's start position.
    #[inline]
    fn may_begin(&self, condition: &Condition, ply: u32, start: Color) -> bool {
        let side = if ply.is_multiple_of(2) { start } else { !start };
        (self.plies.0..=self.plies.1).contains(&ply)
            && condition.turn.is_none_or(|turn| turn == side)
    }

    /// Whether the pattern matches anywhere in a game.
    #[inline]
    fn matches(&self, mut placement: Placement, start: Color, moves: &[[u8; 2]]) -> bool {
        // For each condition, the number of consecutive positions in which it has held, up to and
        // including the current one.
        let mut held = [0_u32; 2];
        let last = self.plies.1.saturating_add(self.lasting - 1);
        let mut rest = moves.iter();
        for ply in 0..=last {
            for (condition, held) in self.conditions.iter().zip(&mut held) {
                *held = if condition.holds(&placement) { *held + 1 } else { 0 };
                if *held >= self.lasting && self.may_begin(condition, ply + 1 - self.lasting, start)
                {
                    return true;
                }
            }
            match rest.next() {
                Some(word) => placement.play(u16::from_le_bytes(*word)),
                None => return false,
            }
        }
        false
    }

    /// Returns all runs of consecutive positions in a game that match the pattern, sorted by ply.
    fn runs(&self, start: &Position, moves: &[[u8; 2]]) -> Vec<Run> {
        let mut runs = Vec::new();
        for (number, condition) in self.conditions.iter().enumerate() {
            let mut placement = Placement::of(start);
            let mut since = None;
            for ply in 0..=moves.len() as u32 {
                match (condition.holds(&placement), since) {
                    (true, None) => since = Some(ply),
                    (false, Some(first)) => {
                        runs.extend(self.run(
                            condition,
                            number,
                            (first, ply),
                            start.side_to_move(),
                        ));
                        since = None;
                    }
                    _ => {}
                }
                if let Some(word) = moves.get(ply as usize) {
                    placement.play(u16::from_le_bytes(*word));
                }
            }
            let end = moves.len() as u32 + 1;
            runs.extend(
                since.and_then(|first| {
                    self.run(condition, number, (first, end), start.side_to_move())
                }),
            );
        }
        runs.sort_by_key(|run| run.first);
        runs
    }

    /// Shortens a run of matching positions so that it starts at the first ply allowed by the
    /// pattern. Returns `None` if there is no such ply, or if the rest of the run is too short for
    /// the pattern.
    fn run(
        &self,
        condition: &Condition,
        number: usize,
        (first, end): (u32, u32),
        start: Color,
    ) -> Option<Run> {
        let last = (end + 1).saturating_sub(self.lasting);
        let first = (first..last).find(|&ply| self.may_begin(condition, ply, start))?;
        Some(Run { first, length: end - first, condition: number })
    }
}
