//! Measures the effect of comparing the search tree with the book.
//!
//! The positions in the suite are not in the book, so the engine must search to find a move.
//! However, the games they come from return to the book within a few plies via a different move
//! order, so a search that compares its tree with the book can save time. Each position is searched
//! without the book and then with the book in each mode. A final search without the book, with many
//! times more nodes, serves to judge the moves that the other searches chose.

use std::collections::HashSet;
use std::io;
use std::ops::ControlFlow;

use super::Switch;
use crate::chess::position::{Game, Move, Position};
use crate::chess::score::Score;
use crate::engine::search::{BookSearch, Config, Limits, SearchResult, Searcher};
use crate::games::book::{Book, Chooser, Policy};
use crate::games::pgn::{GameEnd, GamePly, PgnInput, Reader, Tags, Visitor};
use crate::support::random::Random;

#[derive(Debug, Clone)]
pub(crate) struct SuiteSelection {
    /// The maximum number of plies until the game returns to the book.
    pub reach: usize,
    /// The maximum number of plies of each game to examine.
    pub max_plies: usize,
    pub positions: usize,
    pub seed: u64,
}

/// Collects positions that are not in the book, from games that later return to the book.
pub(crate) struct Selector<'b> {
    book: &'b Book,
    selection: SuiteSelection,
    /// Determines whether the engine would play a book move without searching.
    chooser: Chooser,
    seen: HashSet<u64>,
    found: Vec<Position>,
    answered: HashSet<u64>,
    line: Vec<Position>,
}

#[derive(Debug, Clone)]
pub(crate) struct Drawn {
    /// As many positions as requested, or all suitable positions if there are fewer.
    pub positions: Vec<Position>,
    /// The number of suitable positions, from which `positions` were chosen at random.
    pub found: usize,
    /// The number of positions that were rejected only because the engine would play a book move in
    /// them.
    pub answered: usize,
}

impl<'b> Selector<'b> {
    pub(crate) fn new(book: &'b Book, selection: SuiteSelection) -> Self {
        let chooser = Chooser::new(Policy::Prefer, selection.seed);
        let (seen, answered) = (HashSet::new(), HashSet::new());
        let (found, line) = (Vec::new(), Vec::new());
        Selector { book, selection, chooser, seen, found, answered, line }
    }

    pub(crate) fn read(&mut self, input: &PgnInput) -> io::Result<()> {
        let mut reader = Reader::new(input.open(&std::sync::Arc::default())?);
        while reader.read_game(self)?.is_some() {}
        Ok(())
    }

    pub(crate) fn finish(mut self) -> Drawn {
        let found = self.found.len();
        // Sorting makes the suite independent of the order of the games.
        self.found.sort_unstable_by_key(Position::key);
        Random::new(self.selection.seed).shuffle(&mut self.found);
        self.found.truncate(self.selection.positions);
        Drawn { positions: self.found, found, answered: self.answered.len() }
    }

    /// Returns the first suitable position of the game. A position is suitable if it is not in the
    /// book, the game soon returns to the book, and the engine would have to search.
    fn fitting(&mut self) -> Option<Position> {
        let in_book: Vec<bool> =
            self.line.iter().map(|position| self.book.reached(position).is_some()).collect();
        let fits = |&at: &usize| {
            let ahead = &in_book[at + 1..in_book.len().min(at + 1 + self.selection.reach)];
            !in_book[at] && ahead.contains(&true)
        };
        let fitting: Vec<Position> =
            (0..self.line.len()).filter(fits).map(|at| self.line[at]).collect();
        fitting.into_iter().find(|position| {
            let answer = self.chooser.choose(self.book, &Game::new(*position));
            if answer.is_some() {
                self.answered.insert(position.key());
            }
            answer.is_none()
        })
    }
}

impl Visitor for Selector<'_> {
    fn begin(&mut self, _: &Tags, start: &Position) -> ControlFlow<()> {
        self.line.clear();
        self.line.push(*start);
        ControlFlow::Continue(())
    }

    fn played(&mut self, ply: &GamePly) -> ControlFlow<()> {
        let before = self.line[self.line.len() - 1];
        self.line.push(before.try_play(ply.mv).unwrap_or(before));
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

pub(crate) const MODES: [BookSearch; 4] =
    [BookSearch::Stop, BookSearch::Value, BookSearch::Steer, BookSearch::First];

/// The cap on absolute scores, in centipawns, when computing the loss of a move. Beyond it, the
/// game is decided. Without the cap, a missed mate would cost hundreds of pawns.
const DECIDED: Score = 1_000;

#[derive(Debug, Clone)]
pub(crate) struct ModeTrial {
    /// The search without the book.
    pub plain: SearchResult,
    /// The searches with the book, one for each requested mode, in the same order.
    pub modes: Vec<SearchResult>,
    /// The judge: a search without the book that uses many times more nodes than the plain search.
    pub judge: SearchResult,
    /// Each move chosen by `plain`, `modes` or `judge`, with its score. To score a move, the judge
    /// searches only that move, with the same node limit as in `judge`. Empty if all searches chose
    /// the same move.
    worth: Vec<(Option<Move>, Score)>,
}

impl ModeTrial {
    fn above(&self, mv: Option<Move>, other: Option<Move>) -> f64 {
        let worth = |mv| {
            let found = self.worth.iter().find(|(known, _)| *known == mv);
            found.map_or(0, |(_, score)| (*score).clamp(-DECIDED, DECIDED))
        };
        f64::from(worth(mv) - worth(other))
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Attempt<'a> {
    pub book: &'a Book,
    pub modes: &'a [BookSearch],
    /// The limits for all searches except the judge's.
    pub limits: &'a Limits,
    /// The judge's node limit, as a multiple of the number of nodes searched without the book.
    pub judge_factor: u64,
}

/// Searches a position without the book, then with the book in each mode, and finally as the judge.
/// Clears the searcher before each search.
pub(crate) fn attempt(
    searcher: &mut Searcher,
    position: &Position,
    how: &Attempt,
    switch: &Switch,
) -> ModeTrial {
    let game = Game::new(*position);
    let mut search = |mode, limits: &Limits| {
        searcher.new_game();
        let config = searcher.config().clone();
        searcher.configure(Config { book: Some(how.book.clone()), book_search: mode, ..config });
        searcher.search_without_events(&game, limits, &switch.control())
    };
    let plain = search(BookSearch::Off, how.limits);
    let modes: Vec<SearchResult> = how.modes.iter().map(|&mode| search(mode, how.limits)).collect();
    let many = Limits::nodes(how.judge_factor * plain.nodes.max(1));
    let judge = search(BookSearch::Off, &many);
    let played = [&plain, &judge].into_iter().chain(&modes);
    let moves: HashSet<Move> = played.filter_map(|result| result.best).collect();
    let mut judged = |mv: Move| {
        let limits = Limits { root_moves: vec![mv], ..many.clone() };
        (Some(mv), search(BookSearch::Off, &limits).score)
    };
    let worth = match moves.len() {
        0 | 1 => Vec::new(),
        _ => moves.into_iter().map(&mut judged).collect(),
    };
    ModeTrial { plain, modes, judge, worth }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Mean {
    pub mean: f64,
    pub error: f64,
}

impl Mean {
    /// Computes the mean of independent values and the standard error of the mean. Both are 0 if
    /// there are no values.
    fn of(values: &[f64]) -> Self {
        let count = values.len().max(1) as f64;
        let mean = values.iter().sum::<f64>() / count;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        Mean { mean, error: (squares / (count - 1.0).max(1.0) / count).sqrt() }
    }
}

/// The effect of a mode on a suite. In each array, the first element is for the search without the
/// book, and the second is for the search in this mode.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ModeSummary {
    pub mode: BookSearch,
    pub positions: usize,
    /// The number of positions in which a line into the book (a book match) ended the search.
    pub used: usize,
    /// The number of nodes searched with the book divided by the number searched without it, for
    /// those positions in which a book match ended the search.
    pub cost_used: f64,
    /// The number of nodes searched with the book divided by the number searched without it, for
    /// all positions.
    pub cost: f64,
    /// The number of positions in which the search chose the judge's move, counting only positions
    /// in which a match ended the search.
    pub agreement_used: [usize; 2],
    /// The number of positions in which the search chose the judge's move.
    pub agreement: [usize; 2],
    /// The average loss of the chosen move compared with the judge's move, in centipawns, according
    /// to the judge.
    pub loss: [Mean; 2],
    /// The average of the mode's loss minus the plain search's loss, in centipawns, over the
    /// positions in which a match ended the search.
    pub price_used: Mean,
    /// The average of the mode's loss minus the plain search's loss, in centipawns, over all
    /// positions.
    pub price: Mean,
}

/// Summarises the effect of each mode. `modes` must be in the same order as the searches in each
/// trial.
pub(crate) fn summarise(modes: &[BookSearch], trials: &[ModeTrial]) -> Vec<ModeSummary> {
    let summary = |(index, &mode)| summary(trials, index, mode);
    modes.iter().enumerate().map(summary).collect()
}

fn summary(trials: &[ModeTrial], index: usize, mode: BookSearch) -> ModeSummary {
    let all: Vec<(&ModeTrial, &SearchResult)> =
        trials.iter().map(|trial| (trial, &trial.modes[index])).collect();
    let used: Vec<_> = all.iter().copied().filter(|(_, with)| with.book.is_some()).collect();
    ModeSummary {
        mode,
        positions: all.len(),
        used: used.len(),
        cost_used: cost(&used),
        cost: cost(&all),
        agreement_used: agreement(&used),
        agreement: agreement(&all),
        loss: loss(&all),
        price_used: price(&used),
        price: price(&all),
    }
}

fn loss(searches: &[(&ModeTrial, &SearchResult)]) -> [Mean; 2] {
    let lost = |trial: &ModeTrial, mv| trial.above(trial.judge.best, mv);
    let plain: Vec<f64> = searches.iter().map(|(trial, _)| lost(trial, trial.plain.best)).collect();
    let with: Vec<f64> = searches.iter().map(|(trial, with)| lost(trial, with.best)).collect();
    [Mean::of(&plain), Mean::of(&with)]
}

fn price(searches: &[(&ModeTrial, &SearchResult)]) -> Mean {
    let lost =
        |(trial, with): &(&ModeTrial, &SearchResult)| trial.above(trial.plain.best, with.best);
    Mean::of(&searches.iter().map(lost).collect::<Vec<f64>>())
}

fn cost(searches: &[(&ModeTrial, &SearchResult)]) -> f64 {
    let with: u64 = searches.iter().map(|(_, with)| with.nodes).sum();
    let without: u64 = searches.iter().map(|(trial, _)| trial.plain.nodes).sum();
    with as f64 / without.max(1) as f64
}

fn agreement(searches: &[(&ModeTrial, &SearchResult)]) -> [usize; 2] {
    let plain = searches.iter().filter(|(trial, _)| trial.plain.best == trial.judge.best);
    let with = searches.iter().filter(|(trial, with)| with.best == trial.judge.best);
    [plain.count(), with.count()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::games::book::{BuildOptions, build_in_memory};

    fn input(text: &'static str) -> PgnInput {
        PgnInput::Text("test".to_owned(), text.as_bytes().into())
    }

    fn book() -> Book {
        let games = input("[Result \"1-0\"]\n\n1. d4 Nf6 2. c4 e6 3. Nf3 d5 4. Nc3 Be7 1-0\n\n");
        build_in_memory(&[games], &BuildOptions::default(), "test").expect("a book").0
    }

    fn suite(reach: usize) -> Drawn {
        let book = book();
        let selection = SuiteSelection { reach, max_plies: 40, positions: 10, seed: 1 };
        let mut selector = Selector::new(&book, selection);
        // The first game leaves the book with 1.Nf3 and returns to it with 3.c4. The second game
        // never returns to the book, and the third never leaves it.
        let games = input(
            "[Result \"*\"]\n\n1. Nf3 Nf6 2. d4 e6 3. c4 d5 *\n\n\
             [Result \"*\"]\n\n1. e4 e5 *\n\n[Result \"*\"]\n\n1. d4 Nf6 2. c4 *\n\n",
        );
        selector.read(&games).expect("readable");
        selector.finish()
    }

    #[test]
    fn positions_before_a_return_to_the_book_are_selected() {
        let line = |moves: &[&str]| {
            moves.iter().fold(Position::start(), |position, text| {
                position.play(text.parse().expect("a move"))
            })
        };
        let drawn = suite(6);
        assert_eq!(drawn.positions, [line(&["g1f3"])]);
        assert_eq!((drawn.found, drawn.answered), (1, 0));
    }

    #[test]
    fn positions_answered_by_the_book_are_excluded() {
        // The position after 2...e6 is not in the book. However, 3.c4 transposes to a book position
        // (usually reached by 3.Nf3), so the engine plays it without a search.
        let drawn = suite(1);
        assert_eq!((drawn.positions.len(), drawn.found, drawn.answered), (0, 0, 1));
    }

    #[test]
    fn trial_compares_all_modes() {
        let mut searcher = Searcher::new(Config { memory_mb: 4, ..Config::default() });
        let (book, limits) = (book(), Limits { soft_nodes: Some(20_000), ..Limits::depth(9) });
        let how = Attempt { book: &book, modes: &MODES, limits: &limits, judge_factor: 4 };
        // Two plies lead from this position back into the book, so every mode soon finds a match.
        let moves = ["g1f3", "g8f6", "d2d4"].map(|text| text.parse().expect("a move"));
        let position = moves.iter().fold(Position::start(), |position, &mv| position.play(mv));
        let trial = attempt(&mut searcher, &position, &how, &Switch::default());
        let summaries = summarise(&MODES, std::slice::from_ref(&trial));
        assert_eq!(summaries.len(), MODES.len());
        let first = summaries[MODES.len() - 1];
        assert_eq!((first.mode, first.positions, first.used), (BookSearch::First, 1, 1));
        // If the book has no analysis values, the modes `Stop` and `Value` give the same result.
        assert_eq!(trial.modes[0].nodes, trial.modes[1].nodes);
        assert!(first.cost_used < 1.0 && first.cost < 1.0, "{first:?}");
        assert!(trial.judge.nodes >= trial.plain.nodes);
        // `price` is the loss of the move chosen with the book minus the loss of the move chosen
        // without it.
        for summary in summaries {
            let [plain, with] = summary.loss.map(|loss| loss.mean);
            assert!((summary.price.mean - (with - plain)).abs() < 1e-9, "{summary:?}");
        }
    }

    #[test]
    fn mean_loss_has_a_standard_error() {
        let estimate = Mean::of(&[1.0, 3.0]);
        assert!((estimate.mean - 2.0).abs() < 1e-9 && (estimate.error - 1.0).abs() < 1e-9);
        assert_eq!(Mean::of(&[]), Mean { mean: 0.0, error: 0.0 });
        let mv = |text: &str| text.parse::<Move>().ok();
        let found = |text| SearchResult { best: mv(text), ..SearchResult::default() };
        let trial = ModeTrial {
            plain: found("e2e4"),
            modes: vec![found("d2d4")],
            judge: found("g1f3"),
            worth: vec![(mv("e2e4"), 20), (mv("d2d4"), -29_000), (mv("g1f3"), 50)],
        };
        let summary = summarise(&MODES[..1], &[trial])[0];
        assert_eq!(summary.loss.map(|loss| loss.mean), [30.0, 1_050.0]);
        assert_eq!((summary.price.mean, summary.price_used.mean), (1_020.0, 0.0));
    }
}
