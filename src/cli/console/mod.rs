//! The console: a command prompt in the terminal with a board for playing moves, as in GNU Chess.
//!
//! `Record` contains the whole game, whereas the engine has only the moves up to the position on
//! the board.

mod annotate;
mod board;
mod commands;
mod count;
mod files;
mod game;
mod help;
mod input;
mod record;
mod settings;
mod show;
mod solve;
mod text;
#[cfg(fuzzing)]
mod unattended;

#[cfg(test)]
mod tests;

use std::io::{self, Write};
use std::path::PathBuf;

use crossbeam::channel::Sender;

use super::date::today;
use super::suggestion::did_you_mean;
use crate::chess::notation;
use crate::chess::position::{Move, Outcome, Position};
use crate::engine::controller::{
    BackgroundEvent, Engine, Event, Flow, Frontend, Input, Mode, Moved, PerftCount, Queue,
    SearchProgress,
};
use crate::support::words;
use annotate::Annotating;
pub(super) use board::{BoardStyle, draw};
use game::Offer;
pub(super) use input::read_lines;
use record::{Players, Record};
use solve::Solving;
#[cfg(fuzzing)]
pub(crate) use unattended::type_in;

/// The console. It requests each line of input by sending a prompt. While it waits for this line,
/// it prints nothing except analysis.
pub(super) struct Console {
    engine: Engine,
    out: Box<dyn Write + Send>,
    prompts: Sender<String>,
    style: BoardStyle,
    /// Whether the output is a terminal. If it is, lines are wrapped at its width.
    is_terminal: bool,
    flipped: bool,
    opening: String,
    boards: bool,
    post: bool,
    record: Record,
    players: Players,
    offer: Option<Offer>,
    /// The engine's depth limit for the current game, in plies.
    depth: Option<u32>,
    solving: Option<Solving>,
    count: Option<PerftCount>,
    annotating: Option<Annotating>,
    /// Whether another book is being opened. The next prompt is sent only afterwards.
    opening_book: bool,
    /// The file to which the console appends games that are not saved in any other file.
    keep_file: Option<PathBuf>,
}

impl Console {
    /// Creates a console. It does not send a prompt yet.
    pub(super) fn new(
        mut engine: Engine,
        out: Box<dyn Write + Send>,
        prompts: Sender<String>,
        is_terminal: bool,
    ) -> Self {
        engine.force();
        engine.play_other();
        Console {
            record: Record::new(*engine.position(), today()),
            engine,
            out,
            prompts,
            style: BoardStyle::of_output(is_terminal),
            is_terminal,
            flipped: false,
            opening: String::new(),
            boards: true,
            post: false,
            players: Players::default(),
            offer: None,
            depth: None,
            solving: None,
            count: None,
            annotating: None,
            opening_book: false,
            keep_file: files::keep_file(),
        }
    }

    pub(super) fn print_greeting(&mut self) -> io::Result<()> {
        writeln!(self.out, "Tabia {}. Type a move or `help`.", env!("CARGO_PKG_VERSION"))?;
        self.print_opponent_book()?;
        self.show_board()?;
        self.ask();
        Ok(())
    }

    fn position(&self) -> &Position {
        self.engine.position()
    }

    fn ask(&mut self) {
        let _ = self.prompts.send(self.prompt());
    }

    fn line(&mut self, line: &str) -> io::Result<Flow> {
        let line = line.trim_matches(words::is_space);
        let (name, arguments) = line.split_once(words::is_space).unwrap_or((line, ""));
        if let Some(row) = commands::find(name) {
            return match row.run(self, arguments.trim_matches(words::is_space)) {
                Err(error) if error.kind() == io::ErrorKind::Other => {
                    self.print_text(&format!("{name}: {error}"))
                }
                done => done,
            };
        }
        if !line.is_empty() {
            self.user_move(line)?;
        }
        Ok(Flow::Continue)
    }

    fn user_move(&mut self, text: &str) -> io::Result<Flow> {
        let Ok(mv) = self.position().parse_move(text) else {
            if let Err(over) = self.must_have_moves() {
                return self.print_text(&format!(
                    "{text}: {over}; `new` begins another, `undo` goes back"
                ));
            }
            let hint = self.suggestion(text);
            let what = "is neither a legal move nor a command";
            return self.print_text(&format!("{text} {what}{hint}"));
        };
        let after = self.position().play(mv);
        if self.engine.play(mv).is_err() {
            return self.print_text("It is not your turn.");
        }
        self.offer = None;
        // The engine may already have replied from the book, so show the position before its reply.
        // The reply is printed when its event is handled.
        self.show_board_of(&after, Some(mv))?;
        // If the engine plays one side, it reports the end of the game itself.
        match self.engine.game().outcome().filter(|_| self.engine.side().is_none()) {
            Some(outcome) => self.print_text(&ending(outcome)),
            None => Ok(Flow::Continue),
        }
    }

    fn suggestion(&self, text: &str) -> String {
        let word = text.split_whitespace().next().unwrap_or_default();
        let position = self.position();
        let moves = position.legal_moves();
        let moves = moves.iter().map(|mv| position.san(mv));
        let names = commands::all().flat_map(|row| row.names).map(|&name| name.to_owned());
        match did_you_mean(word, names.chain(moves)) {
            none if none.is_empty() => "; see `help`.".to_owned(),
            hint => hint,
        }
    }

    /// Prints pending output, and sends a prompt if it is the user's turn.
    fn settle(&mut self, line_done: bool) -> io::Result<()> {
        self.follow()?;
        let mut done = self.print_count()? || line_done;
        done |= self.print_annotation_progress()?;
        for event in self.engine.take_events() {
            done |= match event {
                Event::Moved(_) | Event::OrderedResult(_) | Event::Resigned => true,
                Event::BookFailed(_) => self.opening_book,
                _ => false,
            };
            self.event(event)?;
        }
        if self.opening_book && self.engine.is_settled() {
            self.book_opened()?;
            done = true;
        }
        let thinks = self.engine.mode() == Mode::Thinking;
        if self.offer == Some(Offer::User) && !thinks {
            self.offer = None;
            self.print_text("I do not take the draw.")?;
        }
        if done && !self.is_busy() {
            self.ask();
        }
        self.out.flush()
    }

    fn is_busy(&self) -> bool {
        self.solving.is_some()
            || self.count.is_some()
            || self.annotating.is_some()
            || self.opening_book
            || self.engine.mode() == Mode::Thinking
    }

    fn event(&mut self, event: Event) -> io::Result<()> {
        match event {
            Event::Report(progress) if self.post || self.engine.mode() == Mode::Analysing => {
                self.report(&progress)
            }
            Event::Transposed(found) if self.post || self.engine.mode() == Mode::Analysing => {
                writeln!(self.out, "{}", found.describe())
            }
            // Only GUIs send pings.
            Event::Report(_) | Event::Transposed(_) | Event::Pong(_) | Event::Pondering(_) => {
                Ok(())
            }
            Event::Moved(moved) => self.moved(&moved),
            Event::OrderedResult(found) => self.found(&found),
            Event::Vetoed(why) => self.print_text(&why).map(drop),
            Event::Note(note) => self.print_text(note).map(drop),
            Event::Over(outcome) => writeln!(self.out, "{}", ending(outcome)),
            Event::OfferDraw => self.draw_offered(),
            Event::Resigned => self.resigned(),
            Event::Fault(fault) => self.print_text(&fault).map(drop),
            Event::BookFailed(why) => {
                self.opening_book = false;
                self.print_text(&format!("{why}; the book before stays.")).map(drop)
            }
        }
    }

    fn moved(&mut self, moved: &Moved) -> io::Result<()> {
        self.record.played_by_engine(moved.position.side_to_move());
        writeln!(self.out, "My move is: {}", moved.position.san(moved.mv))?;
        self.show_board().map(drop)
    }

    fn report(&mut self, progress: &SearchProgress) -> io::Result<()> {
        let report = &progress.report;
        let value = notation::score(report.score);
        let moves: Vec<Move> = progress.expected.iter().chain(&report.pv).copied().collect();
        let line = notation::line(&progress.position, &moves);
        let seconds = report.elapsed.as_secs_f64();
        let (depth, nodes) = (report.depth, report.nodes);
        self.print_text(&format!("{depth:3} {value:>8} {seconds:7.2}s {nodes:>11} {line}"))
            .map(drop)
    }

    /// Appends the game to the file of saved games, unless it is already in a file. If this fails,
    /// prints the game and the error, and returns `false`.
    fn keep_game(&mut self) -> io::Result<bool> {
        if !self.record.is_unsaved() {
            return Ok(true);
        }
        let game = self.pgn();
        match files::keep(self.keep_file.as_deref(), &game) {
            Ok(file) => {
                self.record.saved();
                self.print_text(&format!("The game is kept in {file}"))?;
                Ok(true)
            }
            Err(why) => {
                self.print_text(&format!("The game cannot be kept: {why}. This is it:\n\n{game}"))?;
                Ok(false)
            }
        }
    }

    fn leave(&mut self) -> io::Result<()> {
        match self.keep_game()? {
            true => Ok(()),
            false => Err(io::Error::other("the game could not be kept")),
        }
    }
}

fn ending(outcome: Outcome) -> String {
    format!("{} {{{}}}", outcome.result(), notation::outcome(outcome))
}

impl Console {
    fn act(&mut self, input: Input) -> io::Result<Flow> {
        let flow = match input {
            // Ctrl-C arrives as the line `?`. If there is work in the background, it stops that
            // work.
            Input::Line(line) if line == "?" && self.stop_work()? => Flow::Continue,
            Input::Line(line) => self.line(&line)?,
            Input::TooLong(_) => Flow::Continue,
            Input::End | Input::Leave => Flow::Quit,
        };
        if flow == Flow::Quit {
            self.stop_work()?;
        } else {
            self.settle(true)?;
        }
        Ok(flow)
    }

    fn stop_work(&mut self) -> io::Result<bool> {
        Ok(self.stop_count() | self.stop_annotation() | self.stop_suite()?)
    }

    /// If `done` is an error, saves the game, so that it is not lost even if the terminal has been
    /// closed. Returns `done` unchanged.
    fn keep_after<T>(&mut self, done: io::Result<T>) -> io::Result<T> {
        if done.is_err() {
            let _ = self.keep_game();
        }
        done
    }
}

impl Frontend for Console {
    fn input(&mut self, input: Input) -> io::Result<Flow> {
        let done = self.act(input);
        let flow = self.keep_after(done)?;
        if flow == Flow::Quit {
            self.leave()?;
        }
        Ok(flow)
    }

    fn handle_background_event(&mut self, background_event: BackgroundEvent) -> io::Result<()> {
        self.engine.receive(background_event);
        let done = self.settle(false);
        self.keep_after(done)
    }

    fn background_events(&self) -> Queue<BackgroundEvent> {
        self.engine.background_events().clone()
    }
}
