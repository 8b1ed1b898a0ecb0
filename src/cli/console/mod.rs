//! The prompt in the terminal, in the manner of GNU Chess: a board, moves and commands.

mod board;
mod commands;
mod files;
mod solve;

use std::io::{self, Write};

use crossbeam::channel::{Receiver, Sender};
use rustyline::DefaultEditor;
use rustyline::error::ReadlineError;

use crate::cecp::transposition;
use crate::engine::{Engine, Event, Face, Flow, Found, Input, Mode, Moved, News, Progress};
use crate::pgn::GameResult;
use crate::position::{Color, Move, Outcome, Position};
use crate::score;
use board::Look;
use commands::COMMANDS;
use solve::Suite;

/// The console. It asks for a line by sending the prompt, so that nothing is printed into a line
/// that is being typed, analysis left aside.
pub(super) struct Console {
    engine: Engine,
    out: Box<dyn Write>,
    prompts: Sender<String>,
    look: Look,
    /// Whether the board is shown after every move.
    graphic: bool,
    /// Whether the thinking is shown.
    post: bool,
    /// Moves taken back by `previous` and `first`, the next one last.
    later: Vec<Move>,
    /// How the game ended, where the board does not tell.
    result: GameResult,
    suite: Option<Suite>,
}

impl Console {
    /// A console that has not asked for anything yet.
    pub(super) fn new(
        mut engine: Engine,
        out: Box<dyn Write>,
        prompts: Sender<String>,
        fancy: bool,
    ) -> Self {
        engine.force();
        engine.play_other();
        let look = Look { unicode: fancy, colours: fancy, coordinates: true };
        Console {
            engine,
            out,
            prompts,
            look,
            graphic: true,
            post: false,
            later: Vec::new(),
            result: GameResult::Undecided,
            suite: None,
        }
    }

    /// Greets and asks for the first line.
    pub(super) fn greet(&mut self) -> io::Result<()> {
        writeln!(self.out, "Tabia {}. Type a move or `help`.", env!("CARGO_PKG_VERSION"))?;
        self.show_board()?;
        self.ask();
        Ok(())
    }

    fn position(&self) -> &Position {
        self.engine.position()
    }

    fn show_board(&mut self) -> io::Result<()> {
        let text = board::draw(self.position(), self.look);
        if self.graphic { write!(self.out, "\n{text}\n") } else { Ok(()) }
    }

    /// Asks for the next line.
    fn ask(&mut self) {
        let side = color_name(self.position().side_to_move());
        let prompt = format!("{side} ({}): ", self.position().fullmove_number());
        let _ = self.prompts.send(prompt);
    }

    fn line(&mut self, line: &str) -> io::Result<Flow> {
        let line = line.trim();
        let (name, arguments) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        if let Some(row) = COMMANDS.iter().find(|row| row.names.contains(&name)) {
            return match (row.run)(self, arguments.trim()) {
                Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                    writeln!(self.out, "{name}: {error}")?;
                    Ok(Flow::Continue)
                }
                done => done,
            };
        }
        if !line.is_empty() {
            self.user_move(line)?;
        }
        Ok(Flow::Continue)
    }

    fn user_move(&mut self, text: &str) -> io::Result<()> {
        match self.position().parse_move(text) {
            Ok(mv) if self.engine.play(mv).is_ok() => {
                self.later.clear();
                self.show_board()
            }
            Ok(_) => writeln!(self.out, "It is not your turn."),
            Err(_) => {
                writeln!(self.out, "{text} is neither a legal move nor a command; see `help`.")
            }
        }
    }

    /// Tells what there is to tell, then asks for a line if it is for the user to act.
    fn settle(&mut self, line_done: bool) -> io::Result<()> {
        let mut moved = line_done;
        for event in self.engine.take_events() {
            moved |= matches!(event, Event::Moved(_) | Event::Found(_) | Event::Resigned);
            self.event(event)?;
        }
        if moved && self.suite.is_none() && self.engine.mode() != Mode::Thinking {
            self.ask();
        }
        self.out.flush()
    }

    fn event(&mut self, event: Event) -> io::Result<()> {
        match event {
            Event::Report(progress) if self.post || self.engine.mode() == Mode::Analysing => {
                self.report(&progress)
            }
            Event::Transposed(found) if self.post => {
                writeln!(self.out, "{}", transposition(&found.position, &found.found))
            }
            // Only a GUI sends pings.
            Event::Report(_) | Event::Transposed(_) | Event::Pong(_) => Ok(()),
            Event::Moved(moved) => self.moved(&moved),
            Event::Found(found) => self.found(&found),
            Event::Over(outcome) => writeln!(self.out, "{}", ending(outcome)),
            Event::OfferDraw => writeln!(self.out, "I would take a draw."),
            Event::Resigned => writeln!(self.out, "I resign."),
            Event::BookFailed(why) => writeln!(self.out, "{why}"),
        }
    }

    fn moved(&mut self, moved: &Moved) -> io::Result<()> {
        self.later.clear();
        writeln!(self.out, "My move is: {}", moved.position.san(moved.mv))?;
        self.show_board()
    }

    fn report(&mut self, progress: &Progress) -> io::Result<()> {
        let report = &progress.report;
        let value = match score::mate_distance(report.score) {
            Some(moves) => format!("mate {moves}"),
            None => format!("{:+.2}", f64::from(report.score) / 100.0),
        };
        let moves: Vec<Move> = progress.expected.iter().chain(&report.pv).copied().collect();
        let line = crate::cecp::san_line(&progress.position, &moves);
        let seconds = report.elapsed.as_secs_f64();
        writeln!(
            self.out,
            "{:3} {value:>8} {seconds:7.2}s {:>11} {line}",
            report.depth, report.nodes
        )
    }

    /// A position of a suite has been searched.
    fn found(&mut self, found: &Found) -> io::Result<()> {
        let Some(mut suite) = self.suite.take() else { return Ok(()) };
        let (Some(task), Some(mv)) = (suite.tasks.pop(), found.mv) else { return Ok(()) };
        let solved = task.is_solved_by(mv);
        suite.solved += usize::from(solved);
        if let crate::engine::Grounds::Search(result) = &found.grounds {
            suite.nodes += result.nodes;
        }
        let number = suite.of - suite.tasks.len();
        let (san, mark) = (task.position.san(mv), if solved { "solved" } else { "FAILED" });
        let (of, wanted) = (suite.of, task.wanted());
        writeln!(self.out, "{number:4}/{of} {mark} {}: {san} (wanted {wanted})", task.name)?;
        self.go_on(suite)
    }

    /// Searches the next position of a suite, or sums up.
    fn go_on(&mut self, suite: Suite) -> io::Result<()> {
        let Some(task) = suite.tasks.last() else {
            let Suite { solved, of, nodes, .. } = suite;
            self.engine.set_position(Position::start());
            return writeln!(self.out, "{solved} of {of} solved, {nodes} nodes");
        };
        self.engine.force();
        self.engine.set_position(task.position);
        // All moves by name: so the book is not asked.
        let root_moves = task.position.legal_moves().iter().collect();
        let limits = crate::search::Limits::move_time(suite.time);
        self.engine.search(crate::search::Limits { root_moves, ..limits });
        self.suite = Some(suite);
        Ok(())
    }

    /// Keeps the game for later.
    fn keep_game(&mut self) -> io::Result<()> {
        if self.engine.game().moves().is_empty() {
            return Ok(());
        }
        let Some(path) = files::keep_file() else { return Ok(()) };
        let record = files::record(self.engine.game(), self.engine.side(), self.result);
        files::append(&path.to_string_lossy(), &record)?;
        writeln!(self.out, "The game is kept in {}", path.display())
    }
}

fn color_name(color: Color) -> &'static str {
    if color == Color::White { "White" } else { "Black" }
}

/// How a game ended, in words.
fn ending(outcome: Outcome) -> String {
    format!("{} {{{}}}", outcome.result(), crate::cecp::ending(outcome))
}

impl Face for Console {
    fn input(&mut self, input: Input) -> io::Result<Flow> {
        let flow = match input {
            Input::Line(line) => self.line(&line)?,
            Input::TooLong(_) => Flow::Continue,
            Input::End => Flow::Quit,
        };
        match flow {
            Flow::Continue => self.settle(true)?,
            Flow::Quit => self.keep_game()?,
        }
        Ok(flow)
    }

    fn news(&mut self, news: News) -> io::Result<()> {
        self.engine.receive(news);
        self.settle(false)
    }

    fn source(&self) -> Receiver<News> {
        self.engine.news().clone()
    }
}

/// Reads lines with editing and history, one for each prompt.
pub(super) fn read_lines(prompts: Receiver<String>, lines: Sender<Input>) -> anyhow::Result<()> {
    let mut editor = DefaultEditor::new()?;
    std::thread::spawn(move || {
        for prompt in prompts {
            let input = match editor.readline(&prompt) {
                Ok(line) => {
                    let _ = editor.add_history_entry(line.as_str());
                    Input::Line(line)
                }
                Err(ReadlineError::Interrupted) => Input::Line(String::new()),
                Err(_) => Input::End,
            };
            if lines.send(input).is_err() {
                return;
            }
        }
    });
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Seek};

    use crossbeam::channel::unbounded;

    use super::*;
    use crate::book::Book;
    use crate::engine::{Settings, searcher};

    /// Types lines and returns what the console has written.
    fn type_in(lines: &[&str]) -> String {
        let mut screen = tempfile::tempfile().expect("a file");
        let out = Box::new(screen.try_clone().expect("the same file"));
        let engine = Engine::new(searcher(), Settings::default(), Book::embedded());
        let engine = engine.expect("no files");
        let (prompts, asked) = unbounded();
        let mut console = Console::new(engine, out, prompts, false);
        console.greet().expect("written");
        for line in lines {
            asked.recv().expect("a prompt");
            console.input(Input::Line((*line).to_owned())).expect("written");
            while console.suite.is_some() || console.engine.mode() == Mode::Thinking {
                let news = console.source().recv().expect("news");
                console.news(news).expect("written");
            }
        }
        screen.rewind().expect("a file");
        let mut text = String::new();
        screen.read_to_string(&mut text).expect("UTF-8");
        text
    }

    #[test]
    fn a_game_is_played_saved_and_loaded() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("game.pgn").to_string_lossy().into_owned();
        let save = format!("pgnsave {file}");
        let text = type_in(&["e4", "st 0.01", "Zz9", "show fen", &save, "remove"]);
        assert!(text.contains("My move is: "), "{text}");
        assert!(text.contains("Zz9 is neither a legal move nor a command"), "{text}");
        let replay = format!("pgnreplay {file}");
        let text =
            type_in(&["nographic", &replay, "next", "show game", "last", "next", "show fen"]);
        assert!(text.contains("1. e4 *"), "{text}");
        assert!(text.contains(" w ") && !text.contains("\x1b"), "{text}");
    }

    #[test]
    fn a_suite_is_solved_with_a_summary() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("suite.epd");
        let lines = "6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - bm Ra8#; id \"mate\";\n\
            6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - am Ra8#;\n";
        std::fs::write(&file, lines).expect("written");
        let text = type_in(&[&format!("solve {} 0.1", file.display()), "solve /nowhere"]);
        assert!(text.contains("1/2 solved mate: Ra8# (wanted Ra8#)"), "{text}");
        assert!(text.contains("2/2 FAILED 2: Ra8# (wanted not Ra8#)"), "{text}");
        assert!(text.contains("1 of 2 solved"), "{text}");
        assert!(text.contains("solve: "), "an error is told: {text}");
    }

    #[test]
    fn the_generator_and_the_evaluation_can_be_tried() {
        let fen = "setboard 4k3/8/8/8/8/8/3p4/R3K3 w - - 0 1";
        let text =
            type_in(&["force", fen, "test capture", "test eval", "test movegenspeed", "test"]);
        assert!(text.contains("\nKxd2\n") && text.contains(" nodes\n"), "{text}");
        assert!(text.contains("test: expected movelist, capture"), "{text}");
    }

    #[test]
    fn every_command_survives_nonsense() {
        for row in COMMANDS.iter().filter(|row| row.names[0] != "quit") {
            for argument in ["", "x y z", "999999999999999999999"] {
                // Files by such names would be left behind.
                if !row.names[0].contains("save") {
                    type_in(&[&format!("{} {argument}", row.names[0]), "force"]);
                }
            }
        }
    }
}
