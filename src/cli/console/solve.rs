//! Test suites: positions with the moves that solve them, in EPD, searched one after the other.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::time::{Duration, Instant};

use super::files::{about, file_and_word};
use super::{Console, failed};
use crate::engine::{Flow, Found, Grounds};
use crate::position::{Color, Game, Move, Position};
use crate::score::{self, Score};
use crate::search::Limits;
use crate::suite::epd;

/// The time for a position where none is given.
const TIME: Duration = Duration::from_secs(5);
/// Lines of a suite that are named when they are passed over; the others are counted.
const NAMED: usize = 5;

/// One position of a suite.
#[derive(Debug, Clone)]
struct Task {
    /// Its name, or its number.
    name: String,
    position: Position,
    /// Moves that solve it (`bm`); empty if it only says what does not.
    best: Vec<Move>,
    /// Moves that do not (`am`).
    avoid: Vec<Move>,
    /// Where no moves are named: the mate in so many moves that is to be found (`dm`).
    mate: Option<i32>,
}

impl Task {
    /// Reads a line.
    fn parse(line: &str) -> Result<Self, String> {
        let (position, rest) = epd::position(line).map_err(|error| error.to_string())?;
        let (name, best, avoid) = (String::new(), Vec::new(), Vec::new());
        let mut task = Task { name, position, best, avoid, mate: None };
        for (code, operand) in epd::operations(rest) {
            match (code, operand.strip_prefix('#')) {
                // Some collections of mates have `bm #15`.
                ("bm", Some(moves)) => task.mate = Some(mate(moves)?),
                ("dm", _) => task.mate = Some(mate(operand)?),
                ("bm", None) => task.best = task.moves(code, operand)?,
                ("am", _) => task.avoid = task.moves(code, operand)?,
                ("id", _) => task.name = operand.to_owned(),
                _ => {}
            }
        }
        if position.has_no_moves() {
            return Err("the game is over there".to_owned());
        }
        match task.best.is_empty() && task.avoid.is_empty() && task.mate.is_none() {
            true => Err("no bm, am or dm: nothing says what solves it".to_owned()),
            false => Ok(task),
        }
    }

    fn moves(&self, code: &str, operand: &str) -> Result<Vec<Move>, String> {
        let parse = |text: &str| {
            self.position.parse_move(text).map_err(|error| format!("{code} {text}: {error}"))
        };
        operand.split_whitespace().map(|word| parse(word.trim_end_matches(','))).collect()
    }

    /// Whether a move, with the score that a search has for it, solves it.
    fn is_solved_by(&self, mv: Move, score: Score) -> bool {
        if self.best.is_empty() && self.avoid.is_empty() {
            let found = score::mate_distance(score);
            return found.is_some_and(|found| found > 0 && Some(found) <= self.mate);
        }
        (self.best.is_empty() || self.best.contains(&mv)) && !self.avoid.contains(&mv)
    }

    /// What solves it, in words.
    fn wanted(&self) -> String {
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

/// A suite on its way.
pub(super) struct Suite {
    tasks: VecDeque<Task>,
    /// How many have been searched.
    done: usize,
    solved: usize,
    nodes: u64,
    /// Time for each.
    time: Duration,
    begun: Instant,
    /// The game that was on the board, and the side that the engine played in it.
    game: Game,
    side: Option<Color>,
}

/// Reads a suite, and which lines of it are no tasks.
fn load(name: &str) -> io::Result<(VecDeque<Task>, Vec<String>)> {
    let text = std::fs::read(name).map_err(|error| about(name, error))?;
    let (mut tasks, mut faults) = (VecDeque::new(), Vec::new());
    for (line, text) in epd::lines(&String::from_utf8_lossy(&text)) {
        match Task::parse(text) {
            Ok(task) => tasks.push_back(task),
            Err(why) => faults.push(format!("{name}, line {line}: {why}")),
        }
    }
    for (number, task) in (1..).zip(&mut tasks) {
        if task.name.is_empty() {
            task.name = format!("{number}");
        }
    }
    Ok((tasks, faults))
}

/// Reads the seconds for a position.
fn seconds(text: &str) -> io::Result<Duration> {
    let time = text.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    let why = "expected the seconds for each position after the file, such as 5 or 0.5";
    time.filter(|time| !time.is_zero()).ok_or_else(|| failed(why))
}

/// The command `solve`.
pub(super) fn solve(console: &mut Console, arguments: &str) -> io::Result<Flow> {
    let (name, time) = file_and_word(arguments)?;
    let time = time.map_or(Ok(TIME), |text| seconds(&text))?;
    let (tasks, faults) = load(&name)?;
    for fault in faults.iter().take(NAMED) {
        console.tell(&format!("Passed over: {fault}"))?;
    }
    if let Some(more) = faults.len().checked_sub(NAMED).filter(|&more| more > 0) {
        console.tell(&format!("Passed over: {more} more lines"))?;
    }
    if tasks.is_empty() {
        return Err(about(&name, "no position to be solved in it"));
    }
    let (game, side) = (console.engine.game().clone(), console.engine.side());
    let begun = Instant::now();
    console.engine.stop_analysis();
    console.engine.force();
    console.go_on(Suite { tasks, done: 0, solved: 0, nodes: 0, time, begun, game, side })?;
    Ok(Flow::Continue)
}

impl Console {
    /// Searches the next position of a suite, or sums up.
    fn go_on(&mut self, suite: Suite) -> io::Result<()> {
        let Some(task) = suite.tasks.front() else { return self.sum_up(&suite) };
        self.engine.set_game(Game::new(task.position));
        // All moves by name: so the book is not asked.
        let root_moves = task.position.legal_moves().iter().collect();
        self.engine.search(Limits { root_moves, ..Limits::move_time(suite.time) });
        self.suite = Some(suite);
        Ok(())
    }

    /// A position of a suite has been searched.
    pub(super) fn found(&mut self, found: &Found) -> io::Result<()> {
        let Some(mut suite) = self.suite.take() else { return Ok(()) };
        let Some(task) = suite.tasks.pop_front() else { return Ok(()) };
        suite.done += 1;
        let mut score = 0;
        if let Grounds::Search(result) = &found.grounds {
            suite.nodes += result.nodes;
            score = result.score;
        }
        let solved = found.mv.is_some_and(|mv| task.is_solved_by(mv, score));
        suite.solved += usize::from(solved);
        let san = found.mv.map_or("no move".to_owned(), |mv| task.position.san(mv));
        let mark = if solved { "solved" } else { "FAILED" };
        let (number, of) = (suite.done, suite.done + suite.tasks.len());
        let (name, wanted) = (&task.name, task.wanted());
        self.tell(&format!("{number:4}/{of} {mark} {name}: {san} (wanted {wanted})"))?;
        self.go_on(suite)
    }

    /// Ends a suite before its end; tells whether there was one.
    pub(super) fn stop_suite(&mut self) -> io::Result<bool> {
        let Some(suite) = self.suite.take() else { return Ok(false) };
        let (done, of) = (suite.done, suite.done + suite.tasks.len());
        self.tell(&format!("Stopped after {done} of {of} positions."))?;
        self.sum_up(&suite)?;
        Ok(true)
    }

    /// Tells how a suite went, and goes back to the game.
    fn sum_up(&mut self, suite: &Suite) -> io::Result<()> {
        self.engine.set_game(suite.game.clone());
        // The user had the turn, or could not have asked for the suite.
        if suite.side.is_some_and(|side| side != self.position().side_to_move()) {
            self.engine.play_other();
        }
        let Suite { solved, done, nodes, .. } = *suite;
        let percent = 100.0 * solved as f64 / done.max(1) as f64;
        let seconds = suite.begun.elapsed().as_secs_f64();
        writeln!(
            self.out,
            "{solved} of {done} solved ({percent:.1}%) in {seconds:.1} s, {nodes} nodes. \
             The game is on the board again."
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::score::{mate_in, mated_in};

    fn mv(text: &str) -> Move {
        text.parse().expect("a move")
    }

    #[test]
    fn operations_of_a_line_are_read() {
        let board = "6k1/5ppp/8/8/8/8/5PPP/R5K1 w - -";
        let task = Task::parse(&format!("{board} 0 1 bm Ra8#; id \"back rank; not\";"));
        let task = task.expect("a task");
        let mate = mv("a1a8");
        assert!(task.is_solved_by(mate, 0) && !task.is_solved_by(mv("a1a7"), 0));
        assert_eq!((task.wanted().as_str(), task.name.as_str()), ("Ra8#", "back rank; not"));
        let avoid = Task::parse(&format!("{board} am Ra8")).expect("a task");
        assert!(!avoid.is_solved_by(mate, 0));
        assert_eq!(avoid.wanted(), "not Ra8#");
        for operation in ["dm 2;", "bm #2;"] {
            let task = Task::parse(&format!("{board} {operation}")).expect("a task");
            assert_eq!(task.wanted(), "mate in 2");
            assert!(task.is_solved_by(mate, mate_in(1)) && task.is_solved_by(mate, mate_in(3)));
            let others = [mate_in(5), mated_in(2), 900];
            assert!(others.iter().all(|&score| !task.is_solved_by(mate, score)));
        }
    }

    #[test]
    fn lines_that_solve_nothing_are_refused() {
        for line in ["", "x y z", "6k1/8/8/8/8/8/8/K7 w - -", "6k1/8/8/8/8/8/8/K7 w - - bm e4;"] {
            assert!(Task::parse(line).is_err(), "{line}");
        }
    }

    #[test]
    fn times_are_positive() {
        assert_eq!(seconds("0.5").ok(), Some(Duration::from_millis(500)));
        for text in ["-1", "0", "x", "1e300", "NaN"] {
            assert!(seconds(text).is_err(), "{text}");
        }
    }
}
