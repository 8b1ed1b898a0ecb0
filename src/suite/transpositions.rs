//! The transposition suite: what comparing the tree with the book is worth.
//!
//! Its positions are not in the book, but their own games come back into it within a few plies,
//! by another order of moves. On these a search that compares its tree with the book can save its
//! time. Each position is searched without the book, in each mode with it, and once more without
//! it and with many times the nodes, as a judge of both moves.

use std::io;
use std::ops::ControlFlow;

use hashbrown::HashSet;

use super::Switch;
use crate::book::Book;
use crate::pgn::{GameEnd, Input, Ply, Reader, Tags, Visitor};
use crate::position::{Game, Position};
use crate::random::Random;
use crate::search::{BookSearch, Limits, SearchResult, Searcher};

/// Which positions of games make a suite.
#[derive(Debug, Clone)]
pub struct Selection {
    /// Plies within which the game comes back into the book.
    pub reach: usize,
    /// Plies of a game that are looked at.
    pub max_plies: usize,
    /// Positions wanted.
    pub positions: usize,
    /// What the choice follows from.
    pub seed: u64,
}

/// Collects positions that are out of the book and on their way back into it.
pub struct Selector<'b> {
    book: &'b Book,
    selection: Selection,
    seen: HashSet<u64>,
    found: Vec<Position>,
    line: Vec<Position>,
}

impl<'b> Selector<'b> {
    /// A selector that has seen no game yet.
    pub fn new(book: &'b Book, selection: Selection) -> Self {
        let (seen, found, line) = (HashSet::new(), Vec::new(), Vec::new());
        Selector { book, selection, seen, found, line }
    }

    /// Looks through the games of an input.
    ///
    /// # Errors
    /// If it cannot be read. Broken games count as far as they go.
    pub fn read(&mut self, input: &Input) -> io::Result<()> {
        let mut reader = Reader::new(input.open(&std::sync::Arc::default())?);
        while reader.read_game(self)?.is_some() {}
        Ok(())
    }

    /// The suite: as many positions as wanted, drawn at random, and how many there were.
    pub fn finish(mut self) -> (Vec<Position>, usize) {
        let found = self.found.len();
        // The same suite whatever the order of the games.
        self.found.sort_unstable_by_key(Position::key);
        Random::new(self.selection.seed).shuffle(&mut self.found);
        self.found.truncate(self.selection.positions);
        (self.found, found)
    }

    /// The first position of the game that fits.
    fn fitting(&self) -> Option<Position> {
        let in_book: Vec<bool> =
            self.line.iter().map(|position| self.book.reached(position).is_some()).collect();
        let fits = |&at: &usize| {
            let ahead = &in_book[at + 1..in_book.len().min(at + 1 + self.selection.reach)];
            !in_book[at] && ahead.contains(&true)
        };
        (0..self.line.len()).find(fits).map(|at| self.line[at])
    }
}

impl Visitor for Selector<'_> {
    fn begin(&mut self, _: &Tags, start: &Position) -> ControlFlow<()> {
        self.line.clear();
        self.line.push(*start);
        ControlFlow::Continue(())
    }

    fn played(&mut self, ply: &Ply) -> ControlFlow<()> {
        let before = self.line[self.line.len() - 1];
        self.line.push(before.play(ply.mv));
        match self.line.len() <= self.selection.max_plies {
            true => ControlFlow::Continue(()),
            false => ControlFlow::Break(()),
        }
    }

    fn end(&mut self, _: &GameEnd) {
        if let Some(position) = self.fitting()
            && self.seen.insert(position.key())
        {
            self.found.push(position);
        }
    }
}

/// The modes that are compared with plain search.
pub const MODES: [BookSearch; 3] = [BookSearch::Stop, BookSearch::Score, BookSearch::First];

/// What the searches of one position gave.
#[derive(Debug, Clone)]
pub struct Trial {
    /// Without the book.
    pub plain: SearchResult,
    /// With it, in the order of [`MODES`].
    pub modes: [SearchResult; MODES.len()],
    /// Without it, with many times the nodes of the plain search.
    pub judge: SearchResult,
}

/// Searches a position in all ways. The searcher forgets everything in between.
pub fn attempt(
    searcher: &mut Searcher,
    book: &Book,
    position: &Position,
    limits: &Limits,
    judge_factor: u64,
    switch: &Switch,
) -> Trial {
    let game = Game::new(*position);
    let mut search = |mode, limits: &Limits| {
        searcher.new_game();
        searcher.set_book(Some(book.clone()), mode);
        searcher.search_silently(&game, limits, &switch.control())
    };
    let plain = search(BookSearch::Off, limits);
    let modes = MODES.map(|mode| search(mode, limits));
    let judge = search(BookSearch::Off, &Limits::nodes(judge_factor * plain.nodes.max(1)));
    Trial { plain, modes, judge }
}

/// What a mode was worth on a suite.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Summary {
    /// The mode.
    pub mode: BookSearch,
    /// Positions.
    pub positions: usize,
    /// Positions where a match ended the search.
    pub used: usize,
    /// Nodes with the book over nodes without, where a match was used.
    pub cost_used: f64,
    /// The same over all positions.
    pub cost: f64,
    /// How often the plain search's move, and the mode's, is the judge's, where a match was used.
    pub agreement_used: [usize; 2],
    /// The same over all positions.
    pub agreement: [usize; 2],
}

/// Sums up what each mode was worth.
pub fn summarise(trials: &[Trial]) -> Vec<Summary> {
    MODES.iter().enumerate().map(|(index, &mode)| summary(trials, index, mode)).collect()
}

fn summary(trials: &[Trial], index: usize, mode: BookSearch) -> Summary {
    let all: Vec<(&Trial, &SearchResult)> =
        trials.iter().map(|trial| (trial, &trial.modes[index])).collect();
    let used: Vec<_> = all.iter().copied().filter(|(_, with)| with.book.is_some()).collect();
    Summary {
        mode,
        positions: all.len(),
        used: used.len(),
        cost_used: cost(&used),
        cost: cost(&all),
        agreement_used: agreement(&used),
        agreement: agreement(&all),
    }
}

/// Nodes with the book over nodes without.
fn cost(searches: &[(&Trial, &SearchResult)]) -> f64 {
    let with: u64 = searches.iter().map(|(_, with)| with.nodes).sum();
    let without: u64 = searches.iter().map(|(trial, _)| trial.plain.nodes).sum();
    with as f64 / without.max(1) as f64
}

/// How often the plain search's move, and the mode's, is the judge's.
fn agreement(searches: &[(&Trial, &SearchResult)]) -> [usize; 2] {
    let plain = searches.iter().filter(|(trial, _)| trial.plain.best == trial.judge.best);
    let with = searches.iter().filter(|(trial, with)| with.best == trial.judge.best);
    [plain.count(), with.count()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::book::{BuildOptions, build_in_memory};
    use crate::search::Options;

    fn input(text: &'static str) -> Input {
        Input::Text("test".to_owned(), text.as_bytes().into())
    }

    fn book() -> Book {
        let games = input("[Result \"1-0\"]\n\n1. d4 Nf6 2. c4 e6 3. Nf3 d5 4. Nc3 Be7 1-0\n\n");
        build_in_memory(&[games], &BuildOptions::default(), "test").expect("a book").0
    }

    fn suite(reach: usize) -> Vec<Position> {
        let book = book();
        let selection = Selection { reach, max_plies: 40, positions: 10, seed: 1 };
        let mut selector = Selector::new(&book, selection);
        // Out of the book from 1.Nf3 until 3...d5; never back; never out.
        let games = input(
            "[Result \"*\"]\n\n1. Nf3 Nf6 2. d4 e6 3. c4 d5 *\n\n\
             [Result \"*\"]\n\n1. e4 e5 *\n\n[Result \"*\"]\n\n1. d4 Nf6 2. c4 *\n\n",
        );
        selector.read(&games).expect("readable");
        let (positions, found) = selector.finish();
        assert_eq!(found, positions.len());
        positions
    }

    #[test]
    fn positions_on_their_way_back_into_the_book_are_found() {
        let line = |moves: &[&str]| {
            moves.iter().fold(Position::start(), |position, text| {
                position.play(text.parse().expect("a move"))
            })
        };
        assert_eq!(suite(6), [line(&["g1f3"])]);
        // 2...e6 is in no game of the book; 3.c4 brings its position after 3.Nf3 about.
        assert_eq!(suite(1), [line(&["g1f3", "g8f6", "d2d4", "e7e6"])]);
    }

    #[test]
    fn a_trial_compares_all_modes() {
        let mut searcher = Searcher::new(Options { memory_mb: 4, threads: 1 });
        let (book, limits) = (book(), Limits { soft_nodes: Some(20_000), ..Limits::depth(9) });
        let trials: Vec<Trial> = suite(1)
            .iter()
            .map(|position| attempt(&mut searcher, &book, position, &limits, 4, &Switch::default()))
            .collect();
        let summaries = summarise(&trials);
        assert_eq!(summaries.len(), MODES.len());
        let first = summaries[2];
        assert_eq!((first.mode, first.positions, first.used), (BookSearch::First, 1, 1));
        assert!(first.cost_used < 1.0 && first.cost < 1.0, "{first:?}");
        assert!(trials[0].judge.nodes >= trials[0].plain.nodes);
    }
}
