//! Runs test suites in the console. The current game is suspended meanwhile.

use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

use super::Console;
use super::files::{file_and_word, with_path};
use super::text::failed;
use crate::chess::position::{Color, Game};
use crate::cli::work::read_epd;
use crate::engine::controller::{Flow, MoveReason, OrderedResult};
use crate::engine::search::Limits;
use crate::support::words::parse_time;
use crate::tools::suite::solve::{SuiteRun, TIME};

pub(super) struct Solving {
    suite: SuiteRun,
    time: Duration,
    game: Game,
    /// The side that the engine plays in the suspended game.
    side: Option<Color>,
}

pub(super) fn solve(console: &mut Console, arguments: &str) -> io::Result<Flow> {
    let (name, time) = file_and_word(arguments)?;
    let why = "expected the seconds for each position after the file, such as 5 or 0.5";
    let time = time.map_or(Ok(TIME), |text| parse_time(&text).map_err(|_| failed(why)))?;
    // Reject standard input, because the console itself reads it.
    if name == "-" {
        return Err(with_path(&name, "expected a file"));
    }
    let text = read_epd(Path::new(&name)).map_err(|error| with_path(&name, error.reason))?;
    let (suite, faults) = SuiteRun::parse(&name, &text);
    faults.iter().try_for_each(|fault| console.print_text(fault).map(drop))?;
    if suite.is_empty() {
        return Err(with_path(&name, "no position to be solved in it"));
    }
    let (game, side) = (console.engine.game().clone(), console.engine.side());
    console.engine.stop_analysis();
    console.engine.force();
    console.solve_next(Solving { suite, time, game, side })?;
    Ok(Flow::Continue)
}

impl Console {
    fn solve_next(&mut self, solving: Solving) -> io::Result<()> {
        let Some(problem) = solving.suite.problem() else { return self.sum_up(&solving) };
        self.engine.set_game(Game::new(problem.position));
        // A search restricted to certain root moves does not use the book. Therefore, list all
        // legal moves as root moves, so that the engine searches instead of playing a book move.
        let root_moves = problem.position.legal_moves().iter().collect();
        self.engine.search(Limits { root_moves, ..Limits::move_time(solving.time) });
        self.solving = Some(solving);
        Ok(())
    }

    pub(super) fn found(&mut self, found: &OrderedResult) -> io::Result<()> {
        let Some(mut solving) = self.solving.take() else { return Ok(()) };
        let (score, nodes) = match &found.move_reason {
            MoveReason::Search(result) => (result.score, result.nodes),
            _ => (0, 0),
        };
        if let Some(answer) = solving.suite.answer(found.mv, score, nodes) {
            self.print_text(&answer.to_string())?;
        }
        self.solve_next(solving)
    }

    /// Stops the test suite in progress, if any. Returns true if one was running.
    pub(super) fn stop_suite(&mut self) -> io::Result<bool> {
        let Some(solving) = self.solving.take() else { return Ok(false) };
        self.print_text(&solving.suite.stopped())?;
        self.sum_up(&solving)?;
        Ok(true)
    }

    fn sum_up(&mut self, solving: &Solving) -> io::Result<()> {
        self.engine.set_game(solving.game.clone());
        // Let the engine play its side again. The suite was started on the user's turn, so this is
        // the side not to move.
        if solving.side.is_some_and(|side| side != self.position().side_to_move()) {
            self.engine.play_other();
        }
        writeln!(self.out, "{}. The game is on the board again.", solving.suite)
    }
}
