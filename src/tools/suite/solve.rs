//! Runs test suites, which are lists of EPD positions with solutions. The positions are searched
//! one after another.

use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::time::{Duration, Instant};

use super::Switch;
use crate::chess::epd;
use crate::chess::position::{Game, Move, Position};
use crate::chess::score::{self, Score};
use crate::engine::search::{Limits, Searcher};
use crate::support::words::plural;

pub(crate) const TIME: Duration = Duration::from_secs(5);
/// The maximum number of skipped lines to report individually. Any others are only counted.
const NAMED: usize = 5;

#[derive(Debug, Clone)]
pub(crate) struct Problem {
    /// The name from the problem's `id` operation, or the problem's number in the suite if it has
    /// no name.
    pub name: String,
    /// The position to search. It has at least one legal move.
    pub position: Position,
    /// The moves that solve the problem (`bm`). Empty if the problem specifies only a mate or moves
    /// to avoid.
    best: Vec<Move>,
    avoid: Vec<Move>,
    /// The mate to find (`dm`), in moves. Only used if the problem gives neither moves to play nor
    /// moves to avoid.
    mate: Option<i32>,
}

impl Problem {
    fn parse(line: &str) -> Result<Self, String> {
        let (position, rest) = epd::position(line).map_err(|error| error.to_string())?;
        let (name, best, avoid) = (String::new(), Vec::new(), Vec::new());
        let mut problem = Problem { name, position, best, avoid, mate: None };
        for (code, operand) in epd::operations(rest) {
            match (code, operand.strip_prefix('#')) {
                // In some collections of mate problems, `bm #15` means a mate in 15.
                ("bm", Some(moves)) => problem.mate = Some(mate(moves)?),
                ("dm", _) => problem.mate = Some(mate(operand)?),
                ("bm", None) => problem.best = epd::moves(&position, code, operand)?,
                ("am", _) => problem.avoid = epd::moves(&position, code, operand)?,
                ("id", _) => problem.name = operand.to_owned(),
                _ => {}
            }
        }
        if position.has_no_moves() {
            return Err("the game is over".to_owned());
        }
        match problem.best.is_empty() && problem.avoid.is_empty() && problem.mate.is_none() {
            true => Err("no bm, am or dm: the solution is missing".to_owned()),
            false => Ok(problem),
        }
    }

    fn is_solved_by(&self, mv: Move, score: Score) -> bool {
        if self.best.is_empty() && self.avoid.is_empty() {
            let found = score::mate_distance(score);
            return found.is_some_and(|found| found > 0 && Some(found) <= self.mate);
        }
        (self.best.is_empty() || self.best.contains(&mv)) && !self.avoid.contains(&mv)
    }

    pub(crate) fn wanted(&self) -> String {
        let list = |moves: &[Move]| -> Vec<String> {
            moves.iter().map(|&mv| self.position.san(mv)).collect()
        };
        match (self.best.is_empty(), self.mate.filter(|_| self.avoid.is_empty())) {
            (false, _) => list(&self.best).join(" or "),
            (true, Some(moves)) => format!("mate in {moves}"),
            (true, None) => format!("not {}", list(&self.avoid).join(", ")),
        }
    }
}

fn mate(moves: &str) -> Result<i32, String> {
    let parsed = moves.trim().parse().ok().filter(|&moves: &i32| moves > 0);
    parsed.ok_or_else(|| format!("expected the moves of a mate, found {moves:?}"))
}

/// The result of searching a problem. Displays as one line.
#[derive(Debug, Clone)]
pub(crate) struct Solution {
    pub problem: Problem,
    /// The problem's number in the suite, counted from 1, and the total number of problems.
    pub number: (usize, usize),
    /// The chosen move, if the search completed one.
    pub mv: Option<Move>,
    /// The score of the chosen move in centipawns, from the point of view of the side to move.
    pub score: Score,
    pub nodes: u64,
    pub solved: bool,
}

impl Solution {
    pub(crate) fn san(&self) -> Option<String> {
        self.mv.map(|mv| self.problem.position.san(mv))
    }
}

impl fmt::Display for Solution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (number, of) = self.number;
        let mark = if self.solved { "solved" } else { "FAILED" };
        let san = self.san().unwrap_or_else(|| "no move".to_owned());
        let Problem { name, .. } = &self.problem;
        write!(f, "{number:4}/{of} {mark} {name}: {san} (expected {})", self.problem.wanted())
    }
}

/// The progress of a run through a suite. Displays as a summary of the problems searched so far.
#[derive(Debug, Clone)]
pub(crate) struct SuiteRun {
    open: VecDeque<Problem>,
    pub searched: usize,
    pub solved: usize,
    pub nodes: u64,
    begun: Instant,
}

impl SuiteRun {
    /// Parses an EPD file and starts the clock. Returns the run and messages about skipped lines.
    pub(crate) fn parse(file: &str, text: &str) -> (Self, Vec<String>) {
        let (mut open, mut faults) = (VecDeque::new(), Vec::new());
        for (number, line) in epd::lines(text) {
            match Problem::parse(line) {
                Ok(problem) => open.push_back(problem),
                Err(why) => faults.push(format!("Skipped: {file}, line {number}: {why}")),
            }
        }
        if let Some(more @ 1..) = faults.len().checked_sub(NAMED) {
            faults.truncate(NAMED);
            faults.push(format!("Skipped: {more} more {}", plural(more as u64, "line")));
        }
        for (number, problem) in (1..).zip(&mut open) {
            if problem.name.is_empty() {
                problem.name = format!("{number}");
            }
        }
        (SuiteRun { open, searched: 0, solved: 0, nodes: 0, begun: Instant::now() }, faults)
    }

    pub(crate) fn len(&self) -> usize {
        self.searched + self.open.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(crate) fn problem(&self) -> Option<&Problem> {
        self.open.front()
    }

    pub(crate) fn stopped(&self) -> String {
        format!("Stopped after {} of {} positions.", self.searched, self.len())
    }

    pub(crate) fn elapsed(&self) -> Duration {
        self.begun.elapsed()
    }

    /// Records the search result for the next problem and returns the problem's solution, or `None`
    /// if no problems are left.
    pub(crate) fn answer(
        &mut self,
        mv: Option<Move>,
        score: Score,
        nodes: u64,
    ) -> Option<Solution> {
        let problem = self.open.pop_front()?;
        let solved = mv.is_some_and(|mv| problem.is_solved_by(mv, score));
        self.searched += 1;
        self.solved += usize::from(solved);
        self.nodes += nodes;
        let number = (self.searched, self.len());
        Some(Solution { problem, number, mv, score, nodes, solved })
    }

    /// Searches the remaining problems, each with empty tables, and passes each solution to
    /// `hand_on`. If the switch is stopped, the current problem is not counted.
    pub(crate) fn solve(
        &mut self,
        searcher: &mut Searcher,
        limits: &Limits,
        switch: &Switch,
        mut hand_on: impl FnMut(Solution) -> io::Result<()>,
    ) -> io::Result<()> {
        while let Some(problem) = self.problem() {
            searcher.new_game();
            let game = Game::new(problem.position);
            let found = searcher.search_without_events(&game, limits, &switch.control());
            if switch.is_stopped() {
                break;
            }
            self.answer(found.best, found.score, found.nodes).map_or(Ok(()), &mut hand_on)?;
        }
        Ok(())
    }
}

impl fmt::Display for SuiteRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let SuiteRun { solved, searched, nodes, .. } = self;
        let percent = 100.0 * *solved as f64 / (*searched).max(1) as f64;
        let seconds = self.elapsed().as_secs_f64();
        write!(f, "{solved} of {searched} solved ({percent:.1}%) in {seconds:.1} s, {nodes} nodes")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::score::{mate_in, mated_in};
    use crate::engine::search::Config;

    fn mv(text: &str) -> Move {
        text.parse().expect("a move")
    }

    #[test]
    fn problem_operations_are_parsed() {
        let board = "6k1/5ppp/8/8/8/8/5PPP/R5K1 w - -";
        let problem = Problem::parse(&format!("{board} 0 1 bm Ra8#; id \"back rank; not\";"));
        let problem = problem.expect("a problem");
        let mate = mv("a1a8");
        assert!(problem.is_solved_by(mate, 0) && !problem.is_solved_by(mv("a1a7"), 0));
        assert_eq!((problem.wanted().as_str(), problem.name.as_str()), ("Ra8#", "back rank; not"));
        let avoid = Problem::parse(&format!("{board} am Ra8")).expect("a problem");
        assert!(!avoid.is_solved_by(mate, 0));
        assert_eq!(avoid.wanted(), "not Ra8#");
        for operation in ["dm 2;", "bm #2;"] {
            let problem = Problem::parse(&format!("{board} {operation}")).expect("a problem");
            assert_eq!(problem.wanted(), "mate in 2");
            assert!(problem.is_solved_by(mate, mate_in(1)));
            assert!(problem.is_solved_by(mate, mate_in(3)));
            let others = [mate_in(5), mated_in(2), 900];
            assert!(others.iter().all(|&score| !problem.is_solved_by(mate, score)));
        }
    }

    #[test]
    fn lines_without_a_valid_problem_are_rejected() {
        for line in ["", "x y z", "6k1/8/8/8/8/8/8/K7 w - -", "6k1/8/8/8/8/8/8/K7 w - - bm e4;"] {
            assert!(Problem::parse(line).is_err(), "{line}");
        }
    }

    #[test]
    fn stopping_a_suite_keeps_the_results_so_far() {
        let line = "6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - dm 1;\n";
        let (mut suite, faults) = SuiteRun::parse("f", &format!("{line}odd\n{line}{line}"));
        assert!(suite.len() == 3 && faults[0].starts_with("Skipped: f, line 2: "));
        let mut searcher = Searcher::new(Config { memory_mb: 1, ..Config::default() });
        let switch = Switch::default();
        let stop_at_second = |answer: Solution| {
            if answer.number == (2, 3) {
                switch.stop();
            }
            Ok(())
        };
        let limits = Limits::depth(3);
        suite.solve(&mut searcher, &limits, &switch, stop_at_second).expect("written");
        assert_eq!((suite.searched, suite.solved, suite.len()), (2, 2, 3));
    }
}
