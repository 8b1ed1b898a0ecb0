//! The engine's side of the protocol: executes the GUI's commands, and sends the engine's events as
//! replies.

use std::io::{self, Write};
use std::time::Duration;

use crate::chess::notation;
use crate::chess::position::{Move, Position};
use crate::chess::score::Depth;
use crate::engine::controller::{
    BackgroundEvent, Engine, Event, Expected, Flow, Frontend, Input, Mode, Queue, SearchStatus,
    SettingError,
};
use crate::games::book::book_lines;
use crate::games::pgn::GameResult;

use super::command::{Command, MoveSet};
use super::reply::{Audience, Reply, Status, Thinking};
use super::syntax::looks_like_move;
use super::{features, messages};

pub(crate) struct Session<W> {
    engine: Engine,
    out: W,
    post: bool,
    /// Whether the GUI accepted the `debug` feature, which means that it ignores lines starting
    /// with `#`.
    debug: bool,
    startup_warnings: Option<String>,
}

impl<W: Write> Session<W> {
    pub(crate) fn new(engine: Engine, out: W) -> Self {
        Session { engine, out, post: false, debug: false, startup_warnings: None }
    }

    /// Sets the startup warnings, which the GUI shows in a window. They are sent after the
    /// features, because the GUI processes no other replies until it has received all features.
    pub(crate) fn with_startup_warnings(self, startup_warnings: Option<String>) -> Self {
        Session { startup_warnings, ..self }
    }

    fn send_startup_warnings(&mut self) -> io::Result<()> {
        self.startup_warnings.take().map_or(Ok(()), |startup_warnings| {
            self.send_message(Audience::UserError, startup_warnings)
        })
    }

    fn line(&mut self, line: &str) -> io::Result<Flow> {
        log::debug!("< {line}");
        if line.trim().is_empty() {
            return Ok(Flow::Continue);
        }
        let command = line.parse::<Command>();
        if !matches!(command, Ok(Command::Xboard | Command::Protover(_))) {
            // Warnings are normally sent after the features. A GUI that does not request features
            // gets them now.
            self.send_startup_warnings()?;
        }
        match command {
            Ok(Command::Quit) => return Ok(Flow::Quit),
            Ok(command) => self.execute(command, line)?,
            Err(error) => self.send_error(&error.to_string(), line)?,
        }
        self.flush()?;
        Ok(Flow::Continue)
    }

    /// Moves at once if the engine is thinking, and answers all pings. Called after the input has
    /// ended: a GUI has exited, but a script may still read the replies.
    fn finish(&mut self) -> io::Result<()> {
        while self.engine.mode() == Mode::Thinking || self.engine.has_pings() {
            self.engine.move_now();
            let Ok(background_event) = self.engine.background_events().messages.recv() else {
                break;
            };
            self.engine.receive(background_event);
            self.flush()?;
        }
        self.flush()
    }

    fn send(&mut self, reply: &Reply) -> io::Result<()> {
        log::debug!("> {reply}");
        writeln!(self.out, "{reply}")
    }

    fn send_error(&mut self, kind: &str, command: &str) -> io::Result<()> {
        self.send(&Reply::Error { kind: kind.to_owned(), command: command.to_owned() })
    }

    fn send_message(&mut self, audience: Audience, text: String) -> io::Result<()> {
        self.send(&Reply::Tell { audience, text })
    }

    /// Sends a comment for the GUI's debug file, if the GUI accepts comments.
    fn comment(&mut self, text: &str) -> io::Result<()> {
        if self.debug { self.send(&Reply::Comment(text.to_owned())) } else { Ok(()) }
    }

    fn execute(&mut self, command: Command, line: &str) -> io::Result<()> {
        let engine = &mut self.engine;
        match command {
            Command::Protover(_) => return self.send_introduction(),
            Command::Accepted(feature) => self.debug |= feature == "debug",
            Command::Rejected(feature) => self.debug &= feature != "debug",
            Command::New => engine.new_game(),
            Command::Force => engine.force(),
            Command::Go => engine.go(),
            Command::PlayOther => engine.play_other(),
            Command::Level(level) => engine.set_level(level),
            Command::MoveTime(time) => engine.set_move_time(time),
            Command::Depth(plies) => engine.set_depth(Some(plies.min(1000) as Depth)),
            Command::NodeRate(nodes) => engine.set_node_rate(nodes),
            Command::Time(left) => engine.set_own_time(centiseconds(left)),
            Command::OtherTime(left) => engine.set_opponent_time(centiseconds(left)),
            Command::MoveNow => engine.move_now(),
            Command::Draw => engine.offer_draw(),
            Command::Result { result, .. } => {
                let result = GameResult::from_token(result.as_bytes());
                engine.end_game(result.unwrap_or_default());
            }
            Command::Hard => engine.set_ponder(true),
            Command::Easy => engine.set_ponder(false),
            Command::Post => self.post = true,
            Command::NoPost => self.post = false,
            Command::Analyze => engine.analyse(),
            Command::Exit => engine.stop_analysis(),
            Command::Pause => engine.pause(),
            Command::Resume => engine.resume(),
            Command::Memory(megabytes) => engine.set_memory(megabytes),
            Command::Cores(count) => engine.set_threads(count),
            Command::Ping(number) => engine.ping(number),
            other => return self.execute_query(other, line),
        }
        Ok(())
    }

    fn execute_query(&mut self, command: Command, line: &str) -> io::Result<()> {
        match command {
            Command::UserMove(text) | Command::Move(text) => self.user_move(&text),
            Command::SetBoard(fen) => self.set_board(&fen),
            Command::Undo => self.undo(1, line),
            Command::Remove => self.undo(2, line),
            Command::Exclude(moves) => self.choose_moves(&moves, line, Engine::exclude),
            Command::Include(moves) => self.choose_moves(&moves, line, Engine::include),
            Command::Option { name, value } => {
                self.set_option(&name, value.as_deref().unwrap_or_default(), line)
            }
            Command::EgtPath { kind, path } if kind == "syzygy" => self.set_endgames(&path),
            Command::Variant(name) if name != "normal" => {
                self.send_error("unsupported variant", line)?;
                let text = format!("cannot play {name}: Tabia supports only orthodox chess");
                self.send_message(Audience::UserError, text)
            }
            Command::Hint => self.hint(),
            Command::Book => self.show_book(),
            Command::Status => self.show_status(),
            _ => Ok(()),
        }
    }

    fn send_introduction(&mut self) -> io::Result<()> {
        for features in features::all(self.engine.settings()) {
            self.send(&Reply::Features(features))?;
        }
        self.send_startup_warnings()
    }

    fn user_move(&mut self, text: &str) -> io::Result<()> {
        let reason = if self.engine.is_broken() {
            Some("illegal position")
        } else if self.engine.mode() == Mode::Thinking {
            Some("not your turn")
        } else {
            let mv = self.engine.position().parse_move(text);
            if mv.is_ok_and(|mv| self.engine.play(mv).is_ok()) {
                return Ok(());
            }
            None
        };
        if !looks_like_move(text) {
            return self.send_error("no move", text);
        }
        let reason = reason.map(str::to_owned);
        self.send(&Reply::IllegalMove { reason, text: text.to_owned() })
    }

    fn set_board(&mut self, fen: &str) -> io::Result<()> {
        match Position::from_orthodox_fen(fen) {
            Ok(position) => {
                self.engine.set_position(position);
                Ok(())
            }
            Err(error) => {
                self.engine.set_illegal_position();
                self.send_message(Audience::UserError, format!("Illegal position: {error}"))
            }
        }
    }

    fn undo(&mut self, plies: usize, line: &str) -> io::Result<()> {
        if self.engine.undo(plies) {
            Ok(())
        } else {
            self.send_error("command not legal now", line)
        }
    }

    fn choose_moves(
        &mut self,
        moves: &MoveSet,
        line: &str,
        choose: fn(&mut Engine, &[Move]),
    ) -> io::Result<()> {
        let position = *self.engine.position();
        let chosen: Vec<Move> = match moves {
            MoveSet::All => position.legal_moves().iter().collect(),
            MoveSet::One(text) => position.parse_move(text).into_iter().collect(),
        };
        if chosen.is_empty() || self.engine.is_broken() {
            return self.send_error("not a legal move", line);
        }
        choose(&mut self.engine, &chosen);
        Ok(())
    }

    fn set_option(&mut self, name: &str, value: &str, line: &str) -> io::Result<()> {
        match self.engine.set_option(name, value) {
            Ok(()) => Ok(()),
            Err(SettingError::Unknown) => self.send_error("unknown option", line),
            Err(error @ SettingError::Value(_)) => self.send_error(&error.to_string(), line),
            // These errors concern a file name that the user has just entered. They are shown as
            // messages, because xboard does not display `Error` replies.
            Err(error) => self.send_message(Audience::UserError, error.to_string()),
        }
    }

    /// Sets the folder of the endgame tables. xboard sends the folder from its settings at every
    /// engine start, even if the folder does not exist. A failure is reported only as a comment,
    /// because GUIs would abandon the engine after an error.
    fn set_endgames(&mut self, folder: &str) -> io::Result<()> {
        match self.engine.set_option("SyzygyPath", folder) {
            Ok(()) => Ok(()),
            Err(error) => {
                log::warn!("{error}");
                self.comment(&error.to_string())
            }
        }
    }

    fn hint(&mut self) -> io::Result<()> {
        let hint = self.engine.hint().map(|mv| self.engine.position().san(mv));
        hint.map_or(Ok(()), |san| self.send(&Reply::Hint(san)))
    }

    fn show_book(&mut self) -> io::Result<()> {
        let lines = book_lines(self.engine.book(), self.engine.game());
        lines.into_iter().try_for_each(|line| self.send(&Reply::BookLine(line)))?;
        self.send(&Reply::BookEnd)
    }

    fn show_status(&mut self) -> io::Result<()> {
        let Some(status) = self.engine.status() else { return Ok(()) };
        let SearchStatus { elapsed, nodes, depth, number, of, current } = status;
        let current = current
            .filter(|&mv| self.engine.position().is_legal(mv))
            .map(|mv| self.engine.position().san(mv));
        let moves_left = of.saturating_sub(number);
        self.send(&Reply::Status(Status { elapsed, nodes, depth, moves_left, moves: of, current }))
    }

    fn flush(&mut self) -> io::Result<()> {
        for event in self.engine.take_events() {
            self.event(event)?;
        }
        self.out.flush()
    }

    fn event(&mut self, event: Event) -> io::Result<()> {
        match event {
            Event::Report(progress) if self.post => {
                self.send(&Reply::Thinking(messages::thinking(&progress)))
            }
            Event::Transposed(found) if self.post => {
                self.send(&Reply::Thinking(messages::transposed(&found)))
            }
            Event::Vetoed(line) if self.post => {
                self.send(&Reply::Thinking(Thinking { line, ..Thinking::default() }))
            }
            // Thinking output is off, or the event is the result of a search with explicit limits,
            // which only UCI requests.
            Event::Report(_)
            | Event::Transposed(_)
            | Event::Vetoed(_)
            | Event::OrderedResult(_) => Ok(()),
            Event::Note(note) => self.send_message(Audience::Others, note.to_owned()),
            Event::Moved(moved) => {
                if let Some(thinking) = messages::book_thinking(&moved).filter(|_| self.post) {
                    self.send(&Reply::Thinking(thinking))?;
                }
                if let Some(text) = messages::move_reason(&moved) {
                    self.send_message(Audience::Others, text)?;
                }
                self.send(&Reply::Move(moved.mv.to_string()))
            }
            // Send the move to ponder on as a hint before the pondering output, because programs
            // such as python-chess cannot derive it from that output.
            Event::Pondering(Expected { position, mv }) => {
                self.send(&Reply::Hint(position.san(mv)))
            }
            Event::Over(outcome) => self.send(&Reply::Result {
                result: outcome.result().to_owned(),
                comment: notation::outcome(outcome).to_owned(),
            }),
            Event::OfferDraw => self.send(&Reply::OfferDraw),
            Event::Resigned => self.send(&Reply::Resign),
            Event::Pong(number) => self.send(&Reply::Pong(number)),
            Event::BookFailed(why) | Event::Fault(why) => {
                self.comment(&why)?;
                self.send_message(Audience::UserError, why)
            }
        }
    }
}

fn centiseconds(left: i64) -> Duration {
    Duration::from_millis(u64::try_from(left).unwrap_or(0).saturating_mul(10))
}

impl<W: Write + Send> Frontend for Session<W> {
    fn input(&mut self, input: Input) -> io::Result<Flow> {
        match input {
            Input::Line(line) => self.line(&line),
            Input::TooLong(beginning) => {
                self.send_error("line too long", &beginning)?;
                self.out.flush()?;
                Ok(Flow::Continue)
            }
            Input::End => {
                self.send_startup_warnings()?;
                self.finish()?;
                Ok(Flow::Quit)
            }
            Input::Leave => {
                self.send_startup_warnings()?;
                self.out.flush()?;
                Ok(Flow::Quit)
            }
        }
    }

    fn handle_background_event(&mut self, background_event: BackgroundEvent) -> io::Result<()> {
        self.engine.receive(background_event);
        self.flush()
    }

    fn background_events(&self) -> Queue<BackgroundEvent> {
        self.engine.background_events().clone()
    }
}
