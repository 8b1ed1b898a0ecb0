//! Test suites: positions with the moves that solve them, in EPD.

use std::io;
use std::time::Duration;

use crate::position::{Move, Position};

/// One position of a suite.
#[derive(Debug, Clone)]
pub(super) struct Task {
    /// Its name, or its number.
    pub(super) name: String,
    /// The position.
    pub(super) position: Position,
    /// Moves that solve it (`bm`); empty if it only says what does not.
    best: Vec<Move>,
    /// Moves that do not (`am`).
    avoid: Vec<Move>,
}

impl Task {
    /// Whether a move solves it.
    pub(super) fn is_solved_by(&self, mv: Move) -> bool {
        (self.best.is_empty() || self.best.contains(&mv)) && !self.avoid.contains(&mv)
    }

    /// The moves that solve it, or must be avoided, in words.
    pub(super) fn wanted(&self) -> String {
        let list = |moves: &[Move]| -> Vec<String> {
            moves.iter().map(|&mv| self.position.san(mv)).collect()
        };
        match self.best.is_empty() {
            true => format!("not {}", list(&self.avoid).join(", ")),
            false => list(&self.best).join(" or "),
        }
    }
}

/// A suite on its way.
pub(super) struct Suite {
    /// What is still to be solved, the next one last.
    pub(super) tasks: Vec<Task>,
    /// How many there are.
    pub(super) of: usize,
    /// How many are solved.
    pub(super) solved: usize,
    /// Nodes searched so far.
    pub(super) nodes: u64,
    /// Time for each.
    pub(super) time: Duration,
}

/// Reads a suite.
pub(super) fn load(name: &str) -> io::Result<Vec<Task>> {
    let text = std::fs::read_to_string(name)?;
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let tasks: Result<Vec<Task>, String> = lines
        .map(|(index, line)| task(line).map_err(|why| format!("line {}: {why}", index + 1)))
        .collect();
    let tasks = tasks.map_err(io::Error::other)?;
    if tasks.is_empty() { Err(io::Error::other("no position in it")) } else { Ok(tasks) }
}

/// Reads a line: four fields of a FEN, then operations that end with semicolons.
fn task(line: &str) -> Result<Task, String> {
    let fields: Vec<&str> = line.split_whitespace().take(4).collect();
    let position = Position::from_fen(&fields.join(" ")).map_err(|error| error.to_string())?;
    let rest = fields
        .iter()
        .fold(line, |rest, field| rest.trim_start().strip_prefix(field).unwrap_or(rest));
    let mut task = Task { name: String::new(), position, best: Vec::new(), avoid: Vec::new() };
    for operation in rest.split(';') {
        let (code, operand) = operation.trim().split_once(' ').unwrap_or((operation.trim(), ""));
        let moves = || -> Result<Vec<Move>, String> {
            let parse = |text: &str| {
                position.parse_move(text).map_err(|error| format!("{code} {text}: {error}"))
            };
            operand.split_whitespace().map(parse).collect()
        };
        match code {
            "bm" => task.best = moves()?,
            "am" => task.avoid = moves()?,
            "id" => task.name = operand.trim_matches('"').to_owned(),
            _ => {}
        }
    }
    match task.best.is_empty() && task.avoid.is_empty() {
        true => Err("no bm and no am: nothing says what solves it".to_owned()),
        false => Ok(task),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_of_a_line_are_read() {
        let line = "6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - bm Ra8#; id \"back rank; not\";";
        let task = task(line).expect("a task");
        let mate: Move = "a1a8".parse().expect("a move");
        assert!(task.is_solved_by(mate) && !task.is_solved_by("a1a7".parse().expect("a move")));
        assert_eq!(task.wanted(), "Ra8#");
        let avoid = super::task("6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - am Ra8").expect("a task");
        assert!(!avoid.is_solved_by(mate));
        assert_eq!(avoid.wanted(), "not Ra8#");
    }

    #[test]
    fn lines_that_solve_nothing_are_refused() {
        for line in ["", "6k1/8/8/8/8/8/8/K7 w - -", "x y z", "6k1/8/8/8/8/8/8/K7 w - - bm e4;"] {
            assert!(task(line).is_err(), "{line}");
        }
    }
}
